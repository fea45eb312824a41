"""What a document's bytes say: its text, its outline and its title, by the kind of file that its name tells.

Markdown, plain text, reStructuredText, Org and notebooks are read as they are; source code and PDF need packages that
only those install who want them (the extras ``code`` and ``pdf``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec

import msgspec

from prima_tui.documents.markdown import Outline, front_matter_title, markdown_outline
from prima_tui.documents.readable import Readable, Unreadable
from prima_tui.documents.reading import decode

NO_TEXT = "it is no text"
CONVERTED = frozenset(("ipynb", "pdf"))
"""Files whose text is made out of them: its lines are not theirs."""
_MARKDOWN = frozenset(("md", "markdown", "mdown", "mkd", "mdx", "qmd", "rmd"))


class _Code(msgspec.Struct, frozen=True):
    """A programming language whose structure is known."""

    language: str
    module: str


_CODE: Mapping[str, _Code] = {
    **dict.fromkeys(("py", "pyi"), _Code("python", "tree_sitter_python")),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), _Code("javascript", "tree_sitter_javascript")),
    **dict.fromkeys(("ts", "mts", "cts"), _Code("typescript", "tree_sitter_typescript")),
    "tsx": _Code("tsx", "tree_sitter_typescript"),
    "go": _Code("go", "tree_sitter_go"),
    "rs": _Code("rust", "tree_sitter_rust"),
    "java": _Code("java", "tree_sitter_java"),
    "c": _Code("c", "tree_sitter_c"),
    **dict.fromkeys(("h", "cc", "cpp", "cxx", "hh", "hpp", "hxx"), _Code("cpp", "tree_sitter_cpp")),
    "rb": _Code("ruby", "tree_sitter_ruby"),
    **dict.fromkeys(("sh", "bash"), _Code("bash", "tree_sitter_bash")),
}


def read(path: str, data: bytes, deadline: float | None = None) -> Readable:
    """Return the text of a document with its outline. Raises Unreadable; and what a parser raises that has a fault.

    A PDF is read until ``deadline`` (monotonic), and what there is of it comes back.
    """
    kind = extension(path)
    if kind == "pdf":
        from prima_tui.documents.pdf import read_pdf

        return read_pdf(data, deadline)
    decoded = decode(data)
    if decoded is None:
        raise Unreadable(NO_TEXT)
    if kind == "ipynb":
        from prima_tui.documents.notebook import read_notebook

        return read_notebook(decoded.text)
    if kind in _CODE:
        from prima_tui.documents.code import code_outline

        code = _CODE[kind]
        outline = code_outline(decoded.text, code.language, code.module)
        return Readable(decoded.text, outline, warning=decoded.warning, language=code.language)
    outlined = _OUTLINES.get("md" if kind in _MARKDOWN else kind)
    if outlined is None:
        return Readable(decoded.text, warning=decoded.warning)
    outline, title = outlined(decoded.text)
    return Readable(decoded.text, outline, title, decoded.warning)


def extension(path: str) -> str:
    """Return what stands behind the last dot of a file's name, in lower case; "" for no dot."""
    name = path.rsplit("/", 1)[-1]
    return name.rsplit(".", 1)[1].lower() if "." in name else ""


def has_own_parser(path: str) -> bool:
    """Tell whether a kind of document is read by parsers of this program and its own requirements alone."""
    kind = extension(path)
    return kind != "pdf" and kind not in _CODE


def missing_extra(path: str) -> str:
    """Return the extra without which a document can't be read here; "" when nothing is missing."""
    kind = extension(path)
    if kind == "pdf":
        return "" if _installed("pypdf") else "pdf"
    code = _CODE.get(kind)
    return "" if code is None or (_installed("tree_sitter") and _installed(code.module)) else "code"


@cache
def _installed(module: str) -> bool:
    return find_spec(module) is not None


def _markdown(text: str) -> tuple[Outline, str]:
    return markdown_outline(text), front_matter_title(text)


def _restructured(text: str) -> tuple[Outline, str]:
    from prima_tui.documents.restructured_text import restructured_outline

    return restructured_outline(text), ""


def _org(text: str) -> tuple[Outline, str]:
    from prima_tui.documents.org import org_outline, org_title

    return org_outline(text), org_title(text)


_OUTLINES: Mapping[str, Callable[[str], tuple[Outline, str]]] = {
    "md": _markdown,
    "rst": _restructured,
    "rest": _restructured,
    "org": _org,
}
