"""Documents that are no Markdown: each kind split along its own structure, every word of it in some chunk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prima_tui.documents import formats
from prima_tui.documents.chunks import split_outlined
from prima_tui.documents.code import code_outline
from prima_tui.documents.document import document_text, read_document
from prima_tui.documents.org import org_outline, org_title
from prima_tui.documents.restructured_text import restructured_outline
from prima_tui.documents.walk import DocumentFile
from prima_tui.model.documents import Document

WORDS = " ".join(f"w{number}" for number in range(60))


def read(path: str, text: str | bytes) -> Document:
    data = text.encode() if isinstance(text, str) else text
    return read_document(DocumentFile(path, len(data), 0), data)


def places(document: Document) -> list[tuple[str, int, int]]:
    return [(chunk.heading, chunk.first_line, chunk.last_line) for chunk in document.chunks]


# -- reStructuredText -------------------------------------------------------------------------------------------

RST = f"""\
=====
Guide
=====

{WORDS}

Install
=======

{WORDS}

Linux
-----

{WORDS}::

    Not a title
    -----------

Windows
-------

{WORDS}

+-----+
| a   |
+-----+

Usage
=====

{WORDS}
"""


def test_titles_of_restructured_text_have_their_level_by_the_order_of_their_styles() -> None:
    found = [(one.level, one.path, one.first_line) for one in restructured_outline(RST).headings]
    assert found == [
        (1, ("Guide",), 0),
        (2, ("Guide", "Install"), 6),
        (3, ("Guide", "Install", "Linux"), 11),
        (3, ("Guide", "Install", "Windows"), 19),
        (2, ("Guide", "Usage"), 28),
    ]


def test_restructured_text_is_split_at_its_titles() -> None:
    document = read("docs/guide.rst", RST)
    assert document.title == "Guide"
    assert [heading for heading, _first, _last in places(document)] == [
        "Guide",
        "Guide > Install",
        "Guide > Install > Linux",
        "Guide > Install > Windows",
        "Guide > Usage",
    ]
    assert document.chunks[1].text.startswith("Install\n=======")


def test_a_rule_a_short_line_and_a_paragraph_are_no_titles() -> None:
    assert restructured_outline("text\n\n-----\n\ntext\n").headings == ()
    assert restructured_outline("A longer line\n--\n").headings == ()
    assert restructured_outline("first line\nsecond line\n-----------\n").headings == ()


# -- Org --------------------------------------------------------------------------------------------------------

ORG = f"""\
#+TITLE: The plan
* TODO [#A] Build it :home:now:
{WORDS}
** Parts
{WORDS}
#+BEGIN_SRC org
* not a heading
#+END_SRC
* Done
{WORDS}
"""


def test_org_is_split_at_its_headings_outside_of_blocks() -> None:
    document = read("plan.org", ORG)
    assert document.title == "The plan"
    assert org_title("no title") == ""
    assert [one.path for one in org_outline(ORG).headings] == [("Build it",), ("Build it", "Parts"), ("Done",)]
    assert places(document)[1][0] == "Build it > Parts"


# -- notebooks --------------------------------------------------------------------------------------------------


def notebook(*cells: dict[str, object], **more: object) -> str:
    return json.dumps({"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": cells, **more})


def test_a_notebook_is_its_text_and_its_code_without_outputs() -> None:
    text = notebook(
        {"cell_type": "markdown", "source": ["# Sales\n", "\n", f"about {WORDS}"]},
        {"cell_type": "code", "source": "# no heading\ntotal = 1\n", "outputs": [{"text": "secret output"}]},
        {"cell_type": "markdown", "source": f"## Result\n\n{WORDS}"},
        {"cell_type": "code", "source": ""},
    )
    document = read("a.ipynb", text)
    assert document.title == "Sales"
    whole = "\n".join(chunk.text for chunk in document.chunks)
    assert "```python\n# no heading\ntotal = 1\n```" in whole
    assert "secret output" not in whole
    assert [heading for heading, _first, _last in places(document)] == ["Sales", "Sales > Result"]


def test_an_old_notebook_and_code_with_fences_in_it_are_read() -> None:
    old = json.dumps({"worksheets": [{"cells": [{"cell_type": "code", "input": "x = '''\n```\n'''"}]}]})
    text = document_text("a.ipynb", old.encode()).text
    assert text == "````\nx = '''\n```\n'''\n````\n"


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"cells": 3}', '{"cells": [1, {"source": 5}]}', "{" * 5000])
def test_what_is_no_notebook_is_left_out_or_empty_and_never_an_error(text: str) -> None:
    document = read("a.ipynb", text)
    assert document.chunks == ()
    assert document.left_out == ("left out" in document.warning)


# -- PDF --------------------------------------------------------------------------------------------------------


def pdf(*pages: str) -> bytes:
    """Return a PDF whose pages hold one line each, written by hand."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 20 700 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        content = len(objects)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {content} 0 R"
            " /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    data = "%PDF-1.4\n"
    offsets = []
    for number, one in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{one}\nendobj\n"
    start = len(data)
    rows = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}"
    data += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    return data.encode("latin-1")


def test_the_text_of_a_pdf_is_found_by_its_pages() -> None:
    document = read("a.pdf", pdf(f"apples {WORDS}", f"pears {WORDS}"))
    assert document.title == "a.pdf"
    assert [heading for heading, _first, _last in places(document)] == ["Page 1", "Page 2"]
    assert document.chunks[1].text.startswith("pears w0")


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4 broken", b"no pdf at all", pdf("")])
def test_a_pdf_that_holds_no_text_is_left_out_with_a_reason(data: bytes) -> None:
    document = read("a.pdf", data)
    assert document.left_out
    assert document.warning.startswith("left out: ")
    assert "\n" not in document.warning


# -- source code ------------------------------------------------------------------------------------------------

PYTHON = f'''\
"""A module. {WORDS}"""

import os

LIMIT = 3


class Cart:
    """A cart. {WORDS}"""

    # how much it is
    @property
    def total(self) -> int:
        """{WORDS}"""
        return 1

    def add(self, item: str) -> None:
        """{WORDS}"""


def main() -> None:
    """{WORDS}"""
    def inner() -> None:
        pass


if __name__ == "__main__":
    main()
'''


def outline(path: str, text: str) -> list[tuple[str, int]]:
    code = formats._CODE[formats.extension(path)]
    return [
        (" > ".join(one.path), one.first_line + 1) for one in code_outline(text, code.language, code.module).headings
    ]


def test_python_is_split_at_classes_and_functions_with_what_stands_above_them() -> None:
    assert outline("a.py", PYTHON) == [
        ("Cart", 8),
        ("Cart > total", 11),
        ("Cart", 16),
        ("Cart > add", 17),
        ("", 19),
        ("main", 21),
        ("main > inner", 23),
        ("", 25),
    ]
    document = read("shop/cart.py", PYTHON)
    assert document.title == "cart.py"
    headings = [heading for heading, _first, _last in places(document)]
    assert "Cart > total" in headings
    assert "Cart > add" in headings
    assert document_text("shop/cart.py", PYTHON.encode()).language == "python"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.js", "// one\nfunction a() {}\nclass B {\n  c() {}\n}\n", [("a", 1), ("B", 3), ("B > c", 4), ("B", 5)]),
        ("a.ts", "export interface A {}\nexport class B<T> {\n  c(): void {}\n}\n",
         [("A", 1), ("B", 2), ("B > c", 3), ("B", 4)]),
        ("a.tsx", "export function A() { return <b/>; }\n", [("A", 1)]),
        ("a.go", "package a\n\n// B is it.\ntype B struct{}\n\nfunc (b B) C() {}\n\nfunc D() {}\n",
         [("B", 3), ("C", 6), ("D", 8)]),
        ("a.rs", "/// doc\n#[derive(Debug)]\nstruct A {}\nimpl A {\n    fn b() {}\n}\n",
         [("A", 1), ("A", 4), ("A > b", 5), ("A", 6)]),
        ("A.java", "class A {\n  void b() {}\n}\n", [("A", 1), ("A > b", 2), ("A", 3)]),
        ("a.c", "int a(void) { return 1; }\nstruct b { int c; };\n", [("a", 1), ("b", 2)]),
        ("a.hpp", "namespace n {\nclass A {\n  void b() {}\n};\n}\n",
         [("n", 1), ("n > A", 2), ("n > A > b", 3), ("n > A", 4), ("n", 5)]),
        ("a.rb", "module A\n  class B\n    def c\n    end\n  end\nend\n",
         [("A", 1), ("A > B", 2), ("A > B > c", 3), ("A > B", 5), ("A", 6)]),
        ("a.sh", "a() {\n  echo\n}\n", [("a", 1)]),
    ],
)  # fmt: skip
def test_every_language_has_its_definitions(path: str, text: str, expected: list[tuple[str, int]]) -> None:
    found = outline(path, text)
    assert [one for one in found if one[0]] == expected


def test_every_language_that_is_known_can_be_read_here() -> None:
    assert {formats.missing_extra(f"a.{kind}") for kind in (*formats._CODE, "pdf", "md", "rst", "unknown")} == {""}


def test_damaged_code_is_read_all_the_same() -> None:
    document = read("a.py", "class A:\n    def b(:\n  ((((\n" + WORDS)
    assert "w59" in "".join(chunk.text for chunk in document.chunks)


@settings(max_examples=60, deadline=None)
@given(
    st.text(alphabet="ab \n=-*#:`|\"'(){}\t@", max_size=200),
    st.sampled_from(["a.rst", "a.org", "a.py", "a.ts", "a.adoc"]),
)
def test_every_character_stands_in_some_chunk_in_order(text: str, path: str) -> None:
    document = read(path, text)
    place = 0
    covered = 0
    for chunk in document.chunks:
        found = text.find(chunk.text, max(0, place - 3000))
        assert found >= 0
        assert not text[covered:found].strip() if found > covered else True
        covered = max(covered, found + len(chunk.text))
        place = found
    assert not text[covered:].strip()


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    formats._installed.cache_clear()
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    try:
        assert formats.missing_extra("a.pdf") == "pdf"
        assert formats.missing_extra("src/a.py") == "code"
        assert formats.missing_extra("a.rst") == formats.missing_extra("a.ipynb") == ""
    finally:
        formats._installed.cache_clear()


def test_a_text_without_structure_is_split_by_its_paragraphs() -> None:
    outlined = formats.read("notes.adoc", f"= Title\n\n{WORDS}".encode())
    assert outlined.outline is None
    assert split_outlined("", restructured_outline("")) == []
    assert len(read("notes.adoc", f"{WORDS}\n\n{WORDS}").chunks) == 2


def test_the_own_source_of_this_project_is_split_and_nothing_is_over_the_limits() -> None:
    folder = Path(formats.__file__).parents[1]
    for path in list(folder.rglob("*.py"))[:40]:
        document = read(path.name, path.read_bytes())
        assert all(len(chunk.text) <= 2_000 for chunk in document.chunks)
