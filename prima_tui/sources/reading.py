"""From files to what the catalog keeps: read a batch of files, with their texts folded and packed.

It holds no state, so a batch can be read in this process or in another one (parsing holds the interpreter lock, and
the screen must not wait for it).
"""

from __future__ import annotations

import gc
from collections.abc import Sequence

import msgspec
import zstandard

from prima_tui.model.session import KEY_BYTES, Exchange, Transcript, holds_key, key64
from prima_tui.model.text import fold
from prima_tui.sources.base import KnownFile, Problem, ReadResult, SourceFile
from prima_tui.sources.registry import source_by_id


class FileReading(msgspec.Struct, frozen=True, gc=False):
    """What reading one file gave, without the texts: all that lists and scopes need."""

    file: SourceFile
    transcripts: tuple[Transcript, ...] = ()
    names: dict[str, str] = {}
    folders: dict[str, str] = {}
    problems: tuple[Problem, ...] = ()

    @property
    def known(self) -> KnownFile:
        """The file and what is to be known of it without its transcripts."""
        ids = {one for each in self.transcripts for one in (each.session_id, each.parent_id) if one}
        starts = {one.exchange_keys[:KEY_BYTES] for one in self.transcripts if one.exchange_keys}
        leaves: dict[bool, set[bytes]] = {True: set(), False: set()}
        for one in self.transcripts:
            for leaf in {key64(leaf) for leaf, _text in one.summaries if leaf}:
                leaves[not one.parent_id and holds_key(one.record_keys, leaf)].add(leaf)
        return KnownFile(
            self.file,
            len(self.transcripts),
            self.problems,
            ties=b"".join(sorted({*map(key64, ids), *starts})),
            leaves=b"".join(sorted(leaves[False])),
            own_leaves=b"".join(sorted(leaves[True])),
            tells=bool(self.names or self.folders),
        )


class Messages(msgspec.Struct, frozen=True):
    """The folded messages of one transcript, for keyword search: three lists of equal length."""

    positions: list[int]
    """Place of the message's exchange in the transcript, from 0."""
    by_user: list[bool]
    texts: list[str]


class FileTexts(msgspec.Struct, frozen=True):
    """One file read in full: the reading, and for each of its transcripts the packed exchanges and the messages."""

    reading: FileReading
    exchanges: tuple[bytes, ...] = ()
    messages: tuple[Messages, ...] = ()


def read_files(files: Sequence[SourceFile]) -> list[FileTexts]:
    """Read every file of a batch. Raises nothing: a reader that fails on a file is a problem of that file."""
    # records hold no circles, and looking for some among the many thousands that are alive takes a fifth of the time
    collects = gc.isenabled()
    gc.disable()
    try:
        return [_read(file) for file in files]
    finally:
        if collects:
            gc.enable()


def _read(file: SourceFile) -> FileTexts:
    try:
        result = source_by_id(file.source).read(file)
    except Exception as error:  # a fault of a reader must cost one file, not the history
        result = ReadResult(problems=(Problem(f"can't be read: {type(error).__name__}: {error}"[:200], file.path),))
    return FileTexts(
        reading=FileReading(
            file, tuple(read.transcript for read in result.transcripts), result.names, result.folders, result.problems
        ),
        exchanges=tuple(pack_exchanges(read.exchanges) for read in result.transcripts),
        messages=tuple(_messages(read.exchanges) for read in result.transcripts),
    )


def _messages(exchanges: Sequence[Exchange]) -> Messages:
    messages = Messages([], [], [])
    for position, exchange in enumerate(exchanges):
        for by_user, text in ((True, exchange.user), (False, exchange.assistant)):
            if text:
                messages.positions.append(position)
                messages.by_user.append(by_user)
                messages.texts.append(fold(text))
    return messages


def pack_exchanges(exchanges: Sequence[Exchange]) -> bytes:
    """Return the exchanges as compressed bytes (MessagePack in a zstd frame)."""
    return zstandard.ZstdCompressor(level=1).compress(_ENCODER.encode(exchanges))


def unpack_exchanges(packed: bytes) -> tuple[Exchange, ...]:
    """Return what :func:`pack_exchanges` packed. Raises ValueError (zstandard's or msgspec's error) for other bytes."""
    try:
        return _DECODER.decode(zstandard.ZstdDecompressor().decompress(packed))
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(tuple[Exchange, ...])
