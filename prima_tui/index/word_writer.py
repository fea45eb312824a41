"""Writing a word index (:mod:`prima_tui.index.word_index`): messages go in, a file comes out."""

from __future__ import annotations

import mmap
import os
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO

import msgspec
import numpy as np
from numpy.typing import NDArray

from prima_tui.index.word_index import ALIGNMENT, BLOCK, MAGIC, Header, WordIndex, cut, path_number, state_number
from prima_tui.model.many_texts import utf8

_SORTED_AT_ONCE = 1 << 21
_FREQUENT_PLACES = 300_000
"""From so many places on the messages with a word are worked out beforehand."""
_LONGEST_FREQUENT = 3
_LONGEST_PIECE = 1_000
"""A longer one stands at few places."""
_EMPTY = array("i", [0] * BLOCK)


class _Numbers(dict[bytes, int]):
    """Pieces to numbers, in the order in which they were first met."""

    def __missing__(self, piece: bytes) -> int:
        number = self[piece] = len(self)
        return number


class WordIndexWriter:
    """Takes messages, transcript by transcript, and writes the index of them."""

    def __init__(self, folder: Path | None = None) -> None:
        """With ``folder`` packed exchanges wait in a file there, without a name, else in memory. Raises OSError."""
        self._numbers = _Numbers({b"": 0})
        self._sequence = array("i")
        self._starts = array("i")
        self._positions = array("i")
        self._runs = array("i")
        self._run_files = array("i")
        self._run_numbers = array("i")
        self._packed_starts = array("q", [0])
        self._packed: IO[bytes] = BytesIO() if folder is None else tempfile.TemporaryFile(dir=folder)  # noqa: SIM115

    def add(self, file: int, number: int, messages: Iterable[tuple[int, str]], packed: bytes = b"") -> None:
        """Add the messages (position, folded text) of a transcript of the file at place ``file`` of all files.

        ``packed`` are its exchanges (:func:`prima_tui.sources.reading.pack_exchanges`), b"" when they aren't at hand.
        Raises OSError.
        """
        for position, text in messages:
            self._starts.append(len(self._sequence))
            self._positions.append(position)
            self._runs.append(len(self._run_files))
            pieces = cut(utf8(text))
            self._sequence.extend(map(self._numbers.__getitem__, pieces))
            self._sequence.extend(_EMPTY[: BLOCK - len(pieces) % BLOCK])
        self._run_files.append(file)
        self._run_numbers.append(number)
        self._packed.write(packed)
        self._packed_starts.append(self._packed_starts[-1] + len(packed))

    def write(self, path: Path, files: Sequence[tuple[str, bytes]]) -> None:
        """Write the index of what was added. Raises OSError."""
        arrays, frequent = self._made(files)
        _write(path, Header(0, {}, msgspec.msgpack.encode(files), [utf8(word) for word in frequent]), arrays)

    def index(self, files: Sequence[tuple[str, bytes]]) -> WordIndex:
        """Return the index of what was added, in memory. Raises OSError."""
        arrays, frequent = self._made(files)
        return WordIndex(arrays, lambda: files, [utf8(word) for word in frequent])

    def _made(self, files: Sequence[tuple[str, bytes]]) -> tuple[dict[str, NDArray[np.generic]], list[str]]:
        """Return the index's arrays, and its frequent words."""
        pieces, sequence = self._in_order()
        counts = np.bincount(sequence, minlength=len(pieces))
        counts[0] = 0
        place_starts = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum(counts, out=place_starts[1:])
        piece_starts = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum([len(piece) for piece in pieces], out=piece_starts[1:])
        starts = np.array(self._starts, np.int64)
        lengths = np.diff(np.append(starts, len(sequence)))
        arrays: dict[str, NDArray[np.generic]] = {
            "piece_data": np.frombuffer(b"".join(pieces), np.uint8),
            "piece_starts": piece_starts,
            "sequence": sequence,
            "places": _places(sequence, place_starts),
            "place_starts": place_starts,
            "message_of_block": np.repeat(np.arange(len(starts), dtype=np.int32), lengths // BLOCK),
            "positions": np.array(self._positions, np.int32),
            "runs": np.array(self._runs, np.int32),
            "run_files": np.array(self._run_files, np.int32),
            "run_numbers": np.array(self._run_numbers, np.int32),
            "file_keys": np.array([path_number(path) for path, _state in files], np.uint64),
            "state_keys": np.array([state_number(*file) for file in files], np.uint64),
            "packed": self._packed_bytes(),
            "packed_starts": np.array(self._packed_starts, np.int64),
        }
        frequent = [*_frequent_inside(pieces, counts), *_frequent_between(pieces, sequence)]
        arrays["frequent_sets"] = np.zeros(0, np.uint8)
        if frequent:
            index = WordIndex(arrays, lambda: files)
            arrays["frequent_sets"] = np.concatenate([np.packbits(index.holding(word)) for word in frequent])
        return arrays, frequent

    def _packed_bytes(self) -> NDArray[np.uint8]:
        self._packed.flush()
        if not self._packed_starts[-1]:
            return np.zeros(0, np.uint8)
        if isinstance(self._packed, BytesIO):
            return np.frombuffer(self._packed.getvalue(), np.uint8)
        return np.frombuffer(mmap.mmap(self._packed.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)

    def _in_order(self) -> tuple[list[bytes], NDArray[np.int32]]:
        """Return the pieces in the order of their bytes, the empty one first, and the sequence of their numbers."""
        pieces = sorted(self._numbers)
        numbers = np.zeros(len(pieces), np.int32)
        numbers[[self._numbers[piece] for piece in pieces]] = np.arange(len(pieces), dtype=np.int32)
        sequence = np.frombuffer(self._sequence, np.int32) if self._sequence else np.zeros(0, np.int32)
        # in its place: it is most of what the writer holds
        for first in range(0, len(sequence), _SORTED_AT_ONCE):
            some = sequence[first : first + _SORTED_AT_ONCE]
            some[:] = numbers[some]
        self._numbers = _Numbers((piece, number) for number, piece in enumerate(pieces))
        return pieces, sequence


def _places(sequence: NDArray[np.int32], place_starts: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the places of each piece but the empty one, those of the first piece first.

    The places of one piece are in the order of the piece that follows there, ascending where it is the same.
    """
    places = np.empty(int(place_starts[-1]), np.int32)
    filled = place_starts[:-1].copy()
    for first in range(0, len(sequence), _SORTED_AT_ONCE):
        some = sequence[first : first + _SORTED_AT_ONCE]
        order = np.argsort(some, kind="stable")
        order = order[int(np.count_nonzero(some == 0)) :]
        pieces = some[order]
        begins = np.flatnonzero(np.concatenate(([True], pieces[1:] != pieces[:-1]))) if len(pieces) else order
        lengths = np.diff(np.append(begins, len(pieces)))
        within = np.arange(len(pieces)) - np.repeat(begins, lengths)
        places[filled[pieces] + within] = order + first
        filled[pieces[begins]] += lengths
    _sort_by_follower(places, sequence, place_starts)
    return places


def _sort_by_follower(places: NDArray[np.int32], sequence: NDArray[np.int32], place_starts: NDArray[np.int64]) -> None:
    """Put the places of each piece in the order of what follows: as many pieces at a time as have not too many."""
    piece = 0
    while piece < len(place_starts) - 1:
        start = place_starts[piece]
        end_piece = max(piece + 1, int(np.searchsorted(place_starts, start + _SORTED_AT_ONCE, side="right")) - 1)
        some = places[start : place_starts[end_piece]]
        followers = sequence[some].astype(np.int64) << 32 | sequence[some + 1]
        some[:] = some[np.argsort(followers, kind="stable")]
        piece = end_piece


def _frequent_inside(pieces: Sequence[bytes], counts: NDArray[np.int64]) -> list[str]:
    """Return the words that stand inside pieces with very many places: short ones, and beginnings of such pieces."""
    weights: Counter[str] = Counter()
    for piece, count in zip(pieces, counts.tolist(), strict=True):
        text = piece.decode("utf-8", "surrogatepass")
        words = {
            text[start:end]
            for start in range(len(text))
            for end in range(start + 1, min(start + _LONGEST_FREQUENT, len(text)) + 1)
        }
        if count >= _FREQUENT_PLACES:
            # all that is typed on the way to it
            words |= {text[:end] for end in range(1, len(text) + 1)}
        for word in words if len(text) <= _LONGEST_PIECE else ():
            weights[word] += count
    # one that is cut itself is looked for between pieces
    return sorted(word for word, weight in weights.items() if weight >= _FREQUENT_PLACES and len(cut(utf8(word))) == 1)


def _frequent_between(pieces: Sequence[bytes], sequence: NDArray[np.int32]) -> list[str]:
    """Return the pairs of ASCII characters between which two pieces are cut at very many places."""
    ends = np.array([piece[-1] if piece else 0xFF for piece in pieces], np.int64)
    begins = np.array([piece[0] if piece else 0xFF for piece in pieces], np.int64)
    weights = np.bincount(ends[sequence[:-1]] << 8 | begins[sequence[1:]], minlength=1 << 16)
    pairs = [divmod(pair, 1 << 8) for pair in np.flatnonzero(weights >= _FREQUENT_PLACES).tolist()]
    return [chr(end) + chr(begin) for end, begin in pairs if max(end, begin) < 0x80]


def _write(path: Path, header: Header, arrays: dict[str, NDArray[np.generic]]) -> None:
    # the header's own length depends on the numbers in it, so they are written with the largest first
    reserved = len(msgspec.msgpack.encode(header)) + len(arrays) * 64 + 64
    offset = len(MAGIC) + 8 + reserved
    for name, values in arrays.items():
        offset += -offset % ALIGNMENT
        header.arrays[name] = (values.dtype.str, offset, len(values))
        offset += values.nbytes
    header.size = offset
    head = msgspec.msgpack.encode(header)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(MAGIC + len(head).to_bytes(8, "little") + head)
        for name, values in arrays.items():
            file.seek(header.arrays[name][1])
            file.write(values.data)
        file.truncate(header.size)
