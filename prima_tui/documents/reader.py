"""Reading documents within a time limit: a file whose reading would never end costs that time and no other file.

Small texts are read here. All that is large, or that a parser of a foreign format reads, is read in a process of its
own, which can be ended in the middle of anything; it may take so much memory and no more.
"""

from __future__ import annotations

import contextlib

import msgspec

from prima_tui.documents.document import digest, document_text, read_document, unread_document
from prima_tui.documents.formats import has_own_parser
from prima_tui.documents.walk import DocumentFile
from prima_tui.model.documents import Document, DocumentText
from prima_tui.model.hits import Cancel
from prima_tui.worker_process import WorkerProcess, WorkerTooSlow, answer_requests

SECONDS_IN_PASSING = 5.0
"""How long one document may take while somebody waits for something else, a search or a preview."""
SECONDS_ON_REQUEST = 60.0
"""How long it may take when the documents are what is being indexed."""
_SMALL = 200_000
"""Bytes of text whose reading can't take long, whatever stands in them."""
_MOST_MEMORY = 3_000_000_000
"""Bytes of address space."""
_COMMAND = "from prima_tui.documents.reader import serve; serve()"


class _Request(msgspec.Struct):
    """What a process is asked to read; ``for_people``: the text for reading, else the chunks."""

    file: DocumentFile
    data: bytes
    seconds: float
    for_people: bool = False


class DocumentReader:
    """Reads documents, each for at most ``seconds``, until ``cancel`` says no. ``with`` ends what it started.

    For one thread.
    """

    def __init__(self, seconds: float, cancel: Cancel | None = None) -> None:
        self.seconds = seconds
        self._cancel = cancel or Cancel()
        self._process: WorkerProcess | None = None

    def __enter__(self) -> DocumentReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def read(self, file: DocumentFile, data: bytes) -> Document:
        """Return the document that the bytes of a file are; its ``warning`` says what could not be read, and why.

        Raises Cancelled, and nothing else.
        """
        if is_quickly_read(file.path, len(data)):
            return read_document(file, data)
        given_up = 0.0
        try:
            return _DOCUMENT.decode(self._asked(_Request(file, data, self.seconds)))
        except WorkerTooSlow:
            reason, given_up = f"reading it takes longer than {self.seconds:g} s", self.seconds
            if self.seconds < SECONDS_ON_REQUEST:
                reason += f" (`prima-tui docs index` gives it {SECONDS_ON_REQUEST:g} s)"
        except (EOFError, OSError, msgspec.MsgspecError) as error:
            reason = _broke(error)
        return unread_document(file, digest(data), reason, given_up)

    def text(self, path: str, data: bytes) -> DocumentText:
        """Return the text of a document with its headings, as a reader sees it. Raises Cancelled."""
        if is_quickly_read(path, len(data)):
            return document_text(path, data)
        try:
            request = _Request(DocumentFile(path, len(data), 0), data, self.seconds, for_people=True)
            return _TEXT.decode(self._asked(request))
        except WorkerTooSlow:
            reason = f"reading it takes longer than {self.seconds:g} s"
        except (EOFError, OSError, msgspec.MsgspecError) as error:
            reason = _broke(error)
        return DocumentText(path, "", problem=f"{path} can't be shown: {reason}")

    def _asked(self, request: _Request) -> bytes:
        """Return a process's answer. Raises Cancelled, WorkerTooSlow, EOFError, OSError."""
        self._cancel.check()
        if self._process is None:
            self._process = WorkerProcess(_COMMAND)
            self._cancel.on_cancel(self._process.kill)
        try:
            return self._process.ask(_ENCODER.encode(request), request.seconds)
        except (WorkerTooSlow, EOFError, OSError):
            self._end()
            self._cancel.check()
            raise

    def _end(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


def is_quickly_read(path: str, size: int) -> bool:
    """Tell whether a document is read at once, whatever stands in it."""
    return size <= _SMALL and has_own_parser(path)


def serve() -> None:
    """Be a process that reads documents until its input ends."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system can limit that
        import resource

        _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = _MOST_MEMORY if hard == resource.RLIM_INFINITY else min(_MOST_MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    answer_requests(_answer)


def _answer(data: bytes) -> bytes:
    request = _REQUEST.decode(data)
    if request.for_people:
        return _ENCODER.encode(document_text(request.file.path, request.data))
    return _ENCODER.encode(read_document(request.file, request.data, request.seconds))


def _broke(error: Exception) -> str:
    return "the process that read it ended" if isinstance(error, EOFError) else f"it can't be read: {error}"


_ENCODER = msgspec.msgpack.Encoder()
_REQUEST = msgspec.msgpack.Decoder(_Request)
_DOCUMENT = msgspec.msgpack.Decoder(Document)
_TEXT = msgspec.msgpack.Decoder(DocumentText)
