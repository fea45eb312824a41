from __future__ import annotations

import threading
import zlib

import pytest

from prima_tui.documents.document import digest, document_text, read_document
from prima_tui.documents.reader import SECONDS_ON_REQUEST, DocumentReader, is_quickly_read
from prima_tui.documents.walk import DocumentFile
from prima_tui.model.hits import Cancel, Cancelled


def endless_pdf(pages: int = 1) -> bytes:
    """Return a small PDF, each page of which takes minutes to read."""
    stream = zlib.compress(b"BT /F1 12 Tf (a) Tj ET\n" * 3_000_000, 9)
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = b" ".join(b"4 0 R" for _ in range(pages))
    objects.append(b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids))
    objects.append(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream))
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    objects.append(
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 3 0 R /Resources << /Font << /F1 %s >> >> >>"
        % font
    )
    data = b"%PDF-1.4\n"
    offsets = []
    for number, one in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    rows = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, rows)
    return data + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


def file(path: str, data: bytes) -> DocumentFile:
    return DocumentFile(path, len(data), 10**18)


@pytest.mark.parametrize("path", ["a.py", "a.md", "a.ipynb"])
def test_what_is_read_in_another_process_is_the_same(path: str) -> None:
    if path.endswith("py"):
        pytest.importorskip("tree_sitter_python")
    text = '{"cells": []}' if path.endswith("ipynb") else "# One\n\n" + "def f():\n    return 1\n\n" * 9_000
    data = text.encode()
    with DocumentReader(60) as reader:
        assert is_quickly_read(path, len(data)) is (path == "a.ipynb")
        assert reader.read(file(path, data), data) == read_document(file(path, data), data)
        assert reader.text(path, data) == document_text(path, data)


def test_a_document_that_takes_too_long_is_given_up_with_one_line_and_the_next_one_is_read() -> None:
    pytest.importorskip("pypdf")
    pytest.importorskip("tree_sitter_python")
    endless = endless_pdf()
    with DocumentReader(1.0) as reader:
        found = reader.read(file("evil.pdf", endless), endless)
        assert (found.left_out, found.given_up_after, found.chunks) == (True, 1.0, ())
        assert found.sha256 == digest(endless)
        assert found.warning == (
            f"left out: reading it takes longer than 1 s (`prima-tui docs index` gives it {SECONDS_ON_REQUEST:g} s)"
        )
        assert "takes longer than 1 s" in reader.text("evil.pdf", endless).problem
    with DocumentReader(60) as reader:
        assert not reader.read(file("fine.py", b"x = 1"), b"x = 1").left_out


def test_a_few_kilobytes_on_which_a_parser_never_ends_are_given_up_too() -> None:
    pytest.importorskip("tree_sitter_javascript")
    endless = b"->" * 8_000
    with DocumentReader(1.0) as reader:
        assert reader.read(file("evil.js", endless), endless).given_up_after == 1.0


def test_reading_ends_at_once_when_it_is_cancelled() -> None:
    pytest.importorskip("pypdf")
    cancel = Cancel()
    endless = endless_pdf()
    threading.Timer(0.5, cancel.cancel).start()
    with DocumentReader(500, cancel) as reader, pytest.raises(Cancelled):
        reader.read(file("evil.pdf", endless), endless)


def test_a_parser_with_a_fault_costs_its_own_file_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RecursionError("too\ndeep")

    monkeypatch.setattr("prima_tui.documents.document.read", broken)
    found = read_document(file("a.md", b"# A"), b"# A")
    assert (found.left_out, found.warning) == (True, "left out: reading it failed: RecursionError: too deep")
    assert document_text("a.md", b"# A").problem == ("a.md can't be shown: reading it failed: RecursionError: too deep")


def test_of_a_pdf_without_time_for_all_pages_the_first_ones_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pypdf")
    from prima_tui.documents import pdf as module
    from prima_tui.documents.pdf import read_pdf
    from tests.documents.test_formats import pdf

    clock = iter(range(100))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    found = read_pdf(pdf("apples", "pears", "plums"), deadline=1.5)
    assert found.unfinished
    assert found.text == "apples\n\npears\n"
    assert found.warning == "only the first 2 of 3 pages are read: the others take too long"


def test_of_a_very_long_pdf_it_is_said_how_much_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pypdf")
    from prima_tui.documents import pdf as module
    from tests.documents.test_formats import pdf

    monkeypatch.setattr(module, "_MOST_PAGES", 2)
    found = module.read_pdf(pdf("apples", "pears", "plums"))
    assert not found.unfinished
    assert found.warning == "only the first 2 of 3 pages are read: that is as much as is taken of one document"


def test_a_heading_of_white_space_takes_no_time() -> None:
    data = b"* a" + b" " * 190_000 + b"x\n"
    assert is_quickly_read("a.org", len(data))
    assert read_document(file("a.org", data), data).chunks
