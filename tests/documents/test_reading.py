"""Bytes as text: encodings, and what is no text whatever its name says."""

from __future__ import annotations

import codecs
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prima_tui.documents.document import digest, read_document
from prima_tui.documents.reading import decode
from prima_tui.documents.walk import DocumentFile

TEXT = "Grüße, 漢字 und Ω\nzweite Zeile\n"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_utf_8_and_byte_order_marks_are_read_without_a_word(mark: bytes, encoding: str) -> None:
    found = decode(mark + TEXT.encode(encoding))
    assert found is not None
    assert (found.text, found.warning) == (TEXT, "")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_a_guess(encoding: str) -> None:
    text = "A plain page of notes.\n" * 20
    found = decode(text.encode(encoding))
    assert found is not None
    assert found.text == text
    assert "guess" in found.warning


def test_latin_1_is_read_with_a_warning() -> None:
    found = decode("Gr\u00fc\u00dfe aus K\u00f6ln\n".encode("latin-1"))
    assert found is not None
    assert found.text == "Gr\u00fc\u00dfe aus K\u00f6ln\n"
    assert "Latin-1" in found.warning


def test_one_broken_place_does_not_spoil_the_rest() -> None:
    found = decode(TEXT.encode() + b"\xc3(\n" + TEXT.encode())
    assert found is not None
    assert found.text == TEXT + "\ufffd(\n" + TEXT
    assert "damaged" in found.warning


def test_line_ends_become_line_feeds() -> None:
    found = decode(b"a\r\nb\rc\n")
    assert found is not None
    assert found.text == "a\nb\nc\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        b"%PDF-1.7 text",
        b"PK\x03\x04abc",
        b"abc\x00def",
        zlib.compress(b"x" * 99),
    ],
)
def test_what_is_no_text_is_told(data: bytes) -> None:
    assert decode(data * 3) is None


@given(st.binary(max_size=2000))
def test_any_bytes_are_text_that_can_be_stored_or_none(data: bytes) -> None:
    found = decode(data)
    if found is not None:
        assert "\r" not in found.text
        assert "\x00" not in found.text
        found.text.encode()


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=200))
def test_any_text_in_utf_8_comes_back(text: str) -> None:
    found = decode(text.encode())
    if found is not None and not text.startswith(("\ufeff", "%PDF-", "GIF8")):
        assert (found.text, found.warning) == (text, "")


def document(path: str, text: str) -> object:
    return read_document(DocumentFile(path, len(text), 10**18), text.encode())


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("docs/a.md", "---\ntitle: Front\n---\n# Head\n", "Front"),
        ("docs/a.md", "# Head of `it`\n\ntext\n", "Head of it"),
        ("docs/a.md", "text only\n", "a.md"),
        ("b.txt", "# no heading\n", "b.txt"),
    ],
)
def test_the_title_is_of_front_matter_else_a_heading_else_the_name(path: str, text: str, title: str) -> None:
    assert document(path, text).title == title  # type: ignore[attr-defined]


def test_an_empty_file_is_a_document_of_no_chunks_and_a_binary_one_is_left_out() -> None:
    empty = read_document(DocumentFile("a.md", 0, 0), b"")
    assert (empty.chunks, empty.left_out, empty.sha256) == ((), False, digest(b""))
    binary = read_document(DocumentFile("a.md", 4, 0), b"\x00\x01\x02\x03")
    assert binary.left_out
    assert "no text" in binary.warning
