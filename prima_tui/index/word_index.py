"""An index of folded messages on the disk: which messages contain a word, or a phrase, without reading any text.

A message is kept as the numbers of the pieces it is made of (:func:`cut`), one after the other. Where a text is cut
depends on nothing but the two bytes beside the cut. So what is looked for is cut at the same places wherever it stands:
its first piece is the end of a piece of the text, its last one the beginning of one, those between are whole pieces. If
it is a single piece it stands inside one. Comparing it with the few hundred thousand different pieces, and following
where those stand, therefore finds exactly what looking through all of the text would find.

Pieces are numbered in the order of their bytes, and the places of each are in the order of the piece that follows
there. So pieces with one beginning are a range of numbers, and the places where one of them follows a certain piece are
a range of that piece's places: however often "the " stands somewhere, those before an "r" are found by halving.

The file is mapped, never read as a whole: a search touches what it needs of it. It never changes; a newer one takes its
place.
"""

from __future__ import annotations

import contextlib
import mmap
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from prima_tui.errors import StoreUnusable
from prima_tui.model.many_texts import SortedTexts, utf8
from prima_tui.model.session import key64

Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]

BLOCK = 16
"""Every message begins at a multiple of so many pieces, and at least one empty piece follows it."""
MAGIC = b"prima-tui words 4\n"
ALIGNMENT = 64
# A piece begins with a letter, digit or sign beyond ASCII after something else, and with each Chinese or Japanese
# character (UTF-8: three bytes, the first of them E3 to E9), since no spaces stand between those.
_PIECE = re.compile(rb"[0-9A-Za-z\x80-\xff][0-9A-Za-z\x80-\xe2\xea-\xff]*[^0-9A-Za-z\x80-\xff]*|[^0-9A-Za-z\x80-\xff]+")
_WORDS_KEPT = 32
_SLICED = 64
"""From so many places on a piece's places are copied as one slice."""
_TOUCHED_MOST = 16 * 1024 * 1024
"""Bytes of the map that may have been read before they are given back to the system, which keeps them cached."""
_AROUND = 16 * mmap.PAGESIZE
"""So much of a file becomes part of a process's memory when it touches one place of it (Linux's usual number)."""

cut = _PIECE.findall
"""Returns the pieces of a text's bytes; joined they are the text."""


class Header(msgspec.Struct):
    """What the file holds, and where in it."""

    size: int
    """Bytes of the whole file, so that one that was cut short is told."""
    arrays: dict[str, tuple[str, int, int]]
    """Name to type, offset, count."""
    files: bytes
    """Path and state of each file whose messages are here, packed: a search needs none of them."""
    frequent: list[bytes]
    """Words that stand at so many places that their messages were worked out beforehand."""


Arrays = Mapping[str, NDArray[Any]]


class WordIndex:
    """One index, open. Safe to use from several threads."""

    def __init__(
        self,
        arrays: Arrays,
        files: Callable[[], Sequence[tuple[str, bytes]]],
        frequent: Sequence[bytes] = (),
        mapped: mmap.mmap | None = None,
        path: Path | None = None,
    ) -> None:
        """Take the arrays as a file names them; ``files`` is asked for path and state of each file when that is needed.

        Raises KeyError when an array is missing.
        """
        self._pieces = SortedTexts(arrays["piece_data"], arrays["piece_starts"])
        self._sequence = arrays["sequence"]
        self._places = arrays["places"]
        self._place_starts = arrays["place_starts"]
        self._message_of_block = arrays["message_of_block"]
        self.positions: NDArray[np.int32] = arrays["positions"]
        """For each message the position of its exchange."""
        self.runs: NDArray[np.int32] = arrays["runs"]
        """For each message its run: the messages of one transcript stand together, and are one."""
        self.run_files: NDArray[np.int32] = arrays["run_files"]
        """For each run the place of its file among ``files``."""
        self.run_numbers: NDArray[np.int32] = arrays["run_numbers"]
        """For each run which of the file's transcripts it is."""
        self.file_keys: NDArray[np.uint64] = arrays["file_keys"]
        """For each file a number that stands for its path (:func:`path_number`)."""
        self.state_keys: NDArray[np.uint64] = arrays["state_keys"]
        """For each file a number that stands for its path and the state it was in (:func:`state_number`)."""
        self._packed: NDArray[np.uint8] = arrays["packed"]
        self._packed_starts: Rows = arrays["packed_starts"]
        self._frequent = {word: number for number, word in enumerate(frequent)}
        self._frequent_sets = arrays["frequent_sets"].reshape(len(frequent), -1) if frequent else np.zeros((0, 0))
        self._files = files
        self._mapped = mapped
        self.path = path
        """Where it is; None for one that is only in memory."""
        self._touched = 0
        self._kept = lru_cache(_WORDS_KEPT)(self._messages_holding)

    @classmethod
    def open(cls, path: Path) -> WordIndex:
        """Open a file. Raises StoreUnusable for one that isn't whole, or of another version."""
        try:
            with path.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            start = len(MAGIC) + 8
            if mapped[: len(MAGIC)] != MAGIC:
                raise ValueError("it is of another version")
            length = int.from_bytes(mapped[len(MAGIC) : start], "little")
            header = msgspec.msgpack.decode(mapped[start : start + length], type=Header)
            if header.size != len(mapped):
                raise ValueError("it was cut short")
            arrays = {
                name: np.frombuffer(mapped, kind, count, offset) if count else np.zeros(0, kind)
                for name, (kind, offset, count) in header.arrays.items()
            }
            return cls(arrays, lambda: _FILES.decode(header.files), header.frequent, mapped, path)
        except (OSError, ValueError, KeyError, msgspec.MsgspecError) as error:
            raise StoreUnusable(f"{path} can't be used: {error}") from error

    @cached_property
    def files(self) -> dict[str, tuple[int, bytes]]:
        """Path of each file whose messages are here to its place among them, and its state."""
        return {path: (place, state) for place, (path, state) in enumerate(self._files())}

    def place_of(self, path: str) -> int:
        """Return the place of a file among those whose messages are here, -1 for none of them."""
        return next(iter(np.flatnonzero(self.file_keys == path_number(path)).tolist()), -1)

    def exchanges(self, path: str, number: int) -> bytes:
        """Return the packed exchanges of a file's transcript; b"" when they aren't here."""
        place = self.place_of(path)
        for run in np.flatnonzero((self.run_files == place) & (self.run_numbers == number)).tolist():
            self._touch(1, self._packed)
            return self._packed[self._packed_starts[run] : self._packed_starts[run + 1]].tobytes()
        return b""

    def messages(self, path: str) -> Iterator[tuple[int, list[tuple[int, str]], bytes]]:
        """Yield each transcript of a file as it was added: number, messages, packed exchanges."""
        place = self.place_of(path)
        for run in np.flatnonzero(self.run_files == place).tolist():
            number = int(self.run_numbers[run])
            first, end = np.searchsorted(self.runs, (run, run + 1)).tolist()
            texts = [(int(self.positions[one]), self._text(one)) for one in range(first, end)]
            yield number, texts, self.exchanges(path, number)

    def _text(self, message: int) -> str:
        """Return a message put together again from its pieces."""
        first, end = np.searchsorted(self._message_of_block, (message, message + 1)).tolist()
        pieces = self._sequence[first * BLOCK : end * BLOCK].tolist()
        return self._pieces.joined(pieces).decode("utf-8", "surrogatepass")

    def holding(self, text: str) -> Flags:
        """Return for each message whether it contains the folded word or phrase; not to be changed."""
        return self._kept(text)

    def _messages_holding(self, text: str) -> Flags:
        wanted = utf8(text)
        if wanted in self._frequent:
            return np.unpackbits(self._frequent_sets[self._frequent[wanted]], count=len(self.runs)).view(np.bool_)
        messages = self._message_of_block[self._beginnings(cut(wanted)) // BLOCK]
        found = np.zeros(len(self.runs), np.bool_)
        found[messages] = True
        self._give_back()
        return found

    def _beginnings(self, pieces: list[bytes]) -> NDArray[np.int32]:
        """Return the places in the sequence where these pieces begin to follow one another."""
        if len(pieces) == 1:
            return self._places_of(self._pieces.containing(pieces[0]))
        first = self._pieces.ending(pieces[0])
        ranges = [*map(self._pieces.equal, pieces[1:-1]), self._pieces.starting(pieces[-1])]
        befores = [first, *(np.arange(*one) for one in ranges[:-1])]
        pairs = [self._followed(before, *after) for before, after in zip(befores, ranges, strict=True)]
        rarest = min(range(len(pairs)), key=lambda pair: int((pairs[pair][1] - pairs[pair][0]).sum()))
        places = self._slices(*pairs[rarest])
        for offset, (lowest, end) in enumerate(ranges, 1):
            if offset not in (rarest, rarest + 1):
                beside = self._sequence_at(places + (offset - rarest))
                places = places[(beside >= lowest) & (beside < end)]
        if rarest > 0:
            wanted = np.zeros(len(self._pieces), np.bool_)
            wanted[first] = True
            places = places[wanted[self._sequence_at(places - rarest)]]
        return places - rarest

    def _followed(self, numbers: Rows, lowest: int, end: int) -> tuple[Rows, Rows]:
        """Return for each of these pieces the range of its places where a piece from ``lowest`` to ``end`` follows."""
        starts, ends = self._place_starts[numbers], self._place_starts[numbers + 1]
        return self._halved(starts, ends, lowest), self._halved(starts, ends, end)

    def _halved(self, low: Rows, high: Rows, following: int) -> Rows:
        """Return for each range of places of one piece the first place where no piece before ``following`` follows."""
        low, high = low.copy(), high.copy()
        open_ones = np.flatnonzero(low < high)
        while len(open_ones):
            middle = (low[open_ones] + high[open_ones]) // 2
            self._touch(len(middle), self._places)
            before = self._sequence_at(self._places[middle] + 1) < following
            low[open_ones[before]] = middle[before] + 1
            high[open_ones[~before]] = middle[~before]
            open_ones = open_ones[low[open_ones] < high[open_ones]]
        return low

    def _sequence_at(self, places: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the pieces at these places, the empty one for what is no place."""
        self._touch(len(places), self._sequence)
        pieces: NDArray[np.int32] = self._sequence.take(places, mode="clip")
        pieces[(places < 0) | (places >= len(self._sequence))] = 0
        return pieces

    def _places_of(self, numbers: Rows) -> NDArray[np.int32]:
        """Return where in the sequence these pieces stand."""
        return self._slices(self._place_starts[numbers], self._place_starts[numbers + 1])

    def _slices(self, starts: Rows, ends: Rows) -> NDArray[np.int32]:
        """Return the places in these ranges of all places, one range after the other."""
        counts = ends - starts
        long = counts >= _SLICED
        parts = [self._places[start:end] for start, end in zip(starts[long].tolist(), ends[long].tolist(), strict=True)]
        starts, counts = starts[~long], counts[~long]
        first = np.cumsum(counts) - counts
        within = np.arange(int(counts.sum())) + np.repeat(starts - first, counts)
        places = np.concatenate([*parts, self._places[within]])
        self._touched += places.nbytes
        self._touch(len(starts), self._places)
        return places

    def _touch(self, places: int, of: NDArray[Any]) -> None:
        """Count what so many single places of an array bring into memory, at most."""
        self._touched += min(places * _AROUND, of.nbytes)

    def _give_back(self) -> None:
        """Let the system take what was read of the map out of this process's memory."""
        if self._mapped is not None and self._touched > _TOUCHED_MOST and hasattr(mmap, "MADV_DONTNEED"):
            self._touched = 0
            with contextlib.suppress(OSError):
                self._mapped.madvise(mmap.MADV_DONTNEED)


def path_number(path: str) -> np.uint64:
    """Return the number that stands for a file (collisions are as unlikely as for any 64-bit hash)."""
    return np.uint64(int.from_bytes(key64(path), "little"))


def state_number(path: str, state: bytes) -> np.uint64:
    """Return the number that stands for a file in one state."""
    return path_number(f"{path}\0{state.decode('latin-1')}")


_FILES = msgspec.msgpack.Decoder(list[tuple[str, bytes]])
