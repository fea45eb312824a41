"""The outline of source code: its classes and functions. Needs the packages of the extra ``code`` (tree-sitter)."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from prima_tui.documents.markdown import Heading, Outline
from prima_tui.documents.readable import Unreadable

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_NAMED = frozenset((
    "function_definition", "class_definition", "function_declaration", "generator_function_declaration",
    "class_declaration", "abstract_class_declaration", "method_definition", "method_declaration",
    "constructor_declaration", "interface_declaration", "enum_declaration", "record_declaration",
    "type_alias_declaration", "type_spec", "function_item", "impl_item", "struct_item", "enum_item", "trait_item",
    "mod_item", "macro_definition", "class_specifier", "struct_specifier", "enum_specifier", "namespace_definition",
    "internal_module", "class", "module", "method", "singleton_method",
))  # fmt: skip
"""Kinds of nodes that define something with a name, in all languages together."""
_WRAPPERS = frozenset(("decorated_definition", "export_statement", "template_declaration", "type_declaration"))
"""Kinds of nodes that stand around a definition and belong to it."""
_ABOVE = frozenset(("comment", "line_comment", "block_comment", "attribute_item"))
"""Kinds of nodes that belong to the definition directly below them."""
_DEEPEST = 6


def code_outline(text: str, language: str, module: str) -> Outline:
    """Return the definitions in a source text as headings: a method's path is its class and its name.

    What stands between definitions is under what is around it. Raises Unreadable when the parser isn't installed.
    """
    tree = _parser(language, module).parse(text.encode("utf-8", "replace"))
    found: list[tuple[int, int, tuple[str, ...]]] = []
    _collect(tree.root_node, (), found)
    ends: dict[int, tuple[str, ...]] = {}
    starts: dict[int, tuple[str, ...]] = {}
    for first, end, path in found:
        ends[end] = min(ends.get(end, path), path[:-1], key=len)  # where several end, the outermost counts
        starts[first] = min(starts.get(first, path), path, key=len)
    edges = {**ends, **starts}
    last = text.count("\n", 0, len(text.rstrip())) if text.strip() else -1
    """The last line that is not blank."""
    headings = [Heading(path, max(1, len(path)), line, line) for line, path in sorted(edges.items()) if line <= last]
    return Outline(tuple(headings))


def _collect(node: Node, above: tuple[str, ...], found: list[tuple[int, int, tuple[str, ...]]]) -> None:
    """Add (first line, line after the last, path) of each definition below a node, outer ones before inner ones."""
    waiting = [(node, above)]
    while waiting:
        node, above = waiting.pop()
        inner: list[tuple[Node, tuple[str, ...]]] = []
        first: int | None = None
        """The line of the comments directly above the next definition."""
        end_of_comment = -1
        for child in node.children:
            if child.type in _ABOVE:
                first = child.start_point[0] if first is None or child.start_point[0] > end_of_comment + 1 else first
                end_of_comment = child.end_point[0] - (child.end_point[1] == 0)
                continue
            definition = _definition(child)
            name = _name(definition) if definition is not None else ""
            if definition is not None and name and len(above) < _DEEPEST:
                near = first is not None and child.start_point[0] <= end_of_comment + 1
                begin = first if near and first is not None else child.start_point[0]
                path = (*above, name)
                found.append((begin, child.end_point[0] + 1, path))
                inner.append((definition, path))
            else:
                inner.append((child, above))
            first = None
        waiting += reversed([one for one in inner if one[0].child_count])


def _definition(node: Node) -> Node | None:
    """Return the definition that a node is, or that it stands around; None when it is neither."""
    for _ in range(3):
        if node.type in _NAMED:
            return node
        if node.type not in _WRAPPERS:
            return None
        inside = next((child for child in node.named_children if child.type in _NAMED | _WRAPPERS), None)
        if inside is None:
            return None
        node = inside
    return None


def _name(node: Node) -> str:
    """Return the name of what a node defines; "" when it has none, or only declares something."""
    if node.type.endswith("_specifier") and node.child_by_field_name("body") is None:
        return ""
    for field in ("name", "declarator", "type"):
        named = node.child_by_field_name(field)
        while named is not None and (deeper := named.child_by_field_name("declarator")) is not None:
            named = deeper
        if named is not None and named.text:
            return " ".join(named.text.decode("utf-8", "replace").split())[:100]
    return ""


@cache
def _parser(language: str, module: str) -> Parser:
    try:
        from tree_sitter import Language, Parser

        grammar = import_module(module)
    except ImportError as error:
        raise Unreadable("source code needs an extra: pip install 'prima-tui[code]'") from error
    # the package for TypeScript holds two languages
    make = getattr(grammar, f"language_{language}", None) or grammar.language
    return Parser(Language(make()))
