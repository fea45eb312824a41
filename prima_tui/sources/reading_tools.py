"""From files to what is kept of tools: the uses packed for showing, and their folded texts packed for searching.

Texts come in blocks of about a megabyte, compressed one by one, so that a search holds one block at a time. As in
:mod:`prima_tui.sources.reading` no state is held, and a batch can be read in another process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import zstandard

from prima_tui.model.session import ToolUse
from prima_tui.model.text import fold
from prima_tui.sources.base import ReadsTools, ReadTranscript, SourceFile
from prima_tui.sources.registry import source_by_id

SEPARATOR = b"\xff"
"""Stands between two texts of a block; no text holds this byte, since all are UTF-8."""
_BLOCK_BYTES = 1024 * 1024
_CHUNK_CHARACTERS = 1024 * 1024


class ToolBlock(msgspec.Struct, frozen=True):
    """Some folded texts of one transcript's tools: what one was given or gave back is a text each."""

    positions: list[int]
    """For each text the place of its exchange in the transcript, from 0."""
    ends: list[int]
    """For each text where it ends, in bytes of the expanded block; the next begins after the separator."""
    packed: bytes
    """The texts in UTF-8, joined by the separator, in a zstd frame."""


class TranscriptTools(msgspec.Struct, frozen=True):
    """The tools of one transcript."""

    session_id: str = ""
    agent: str = ""
    uses: tuple[bytes, ...] = ()
    """The uses in order, packed in chunks (:func:`unpack_uses`)."""
    blocks: tuple[ToolBlock, ...] = ()


class FileTools(msgspec.Struct, frozen=True):
    """The tools of one file in one state, for each of its transcripts."""

    file: SourceFile
    transcripts: tuple[TranscriptTools, ...] = ()


def read_tools(files: Sequence[SourceFile]) -> list[FileTools]:
    """Read the tools of every file of a batch. Raises nothing: a file that can't be read has none."""
    return [_read(file) for file in files]


def _read(file: SourceFile) -> FileTools:
    try:
        source = source_by_id(file.source)
        result = source.read_tools(file) if isinstance(source, ReadsTools) else source.read(file)
        return FileTools(file, tuple(map(_of_transcript, result.transcripts)))
    except Exception:  # the reading of the conversation tells of the same fault
        return FileTools(file)


def _of_transcript(read: ReadTranscript) -> TranscriptTools:
    compressor = zstandard.ZstdCompressor(level=1)
    chunks: list[bytes] = []
    blocks: list[ToolBlock] = []
    uses: list[ToolUse] = []
    characters = 0
    texts: list[bytes] = []
    positions: list[int] = []
    size = 0
    # one by one: the uses of a large file are never all expanded together
    for use in read.tools:
        uses.append(use)
        characters += len(use.given) + len(use.gave)
        if characters >= _CHUNK_CHARACTERS:
            chunks.append(_compressed(_ENCODER.encode(uses), compressor))
            uses, characters = [], 0
        for text in () if use.thinking else (use.given, use.gave):
            if text:
                folded = fold(text).encode("utf-8", "replace")
                texts.append(folded)
                positions.append(use.position)
                size += len(folded)
        if size >= _BLOCK_BYTES:
            blocks.append(_block(texts, positions, compressor))
            texts, positions, size = [], [], 0
    if uses:
        chunks.append(_compressed(_ENCODER.encode(uses), compressor))
    if texts:
        blocks.append(_block(texts, positions, compressor))
    return TranscriptTools(read.transcript.session_id, read.transcript.agent, tuple(chunks), tuple(blocks))


def _block(texts: Sequence[bytes], positions: list[int], compressor: zstandard.ZstdCompressor) -> ToolBlock:
    ends: list[int] = []
    end = -len(SEPARATOR)
    for text in texts:
        end += len(SEPARATOR) + len(text)
        ends.append(end)
    return ToolBlock(positions, ends, _compressed(SEPARATOR.join(texts), compressor))


def _compressed(data: bytes, compressor: zstandard.ZstdCompressor) -> bytes:
    # copied, since what the compressor returns keeps the room of the data that it was made from
    return memoryview(compressor.compress(data)).tobytes()


def unpack_uses(chunks: Iterable[bytes]) -> tuple[ToolUse, ...]:
    """Return the uses that were packed. Raises ValueError for other bytes."""
    try:
        expanded = (_DECODER.decode(zstandard.ZstdDecompressor().decompress(chunk)) for chunk in chunks)
        return tuple(use for uses in expanded for use in uses)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(tuple[ToolUse, ...])
