"""A conversation as one HTML page that needs nothing else: no script, no picture, nothing fetched; light and dark.

Whatever was said is text: HTML in it is escaped, links keep only harmless addresses, and the page itself forbids
scripts and every request. Tools and thoughts are folded in ``details``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from prima_tui.extracts import duration, local_time
from prima_tui.model.citation import citation
from prima_tui.model.hits import Conversation
from prima_tui.model.session import Exchange, Session, TextEdit, ToolUse, shown_path
from prima_tui.model.text import count_text, shown
from prima_tui.model.titles import UNTITLED
from prima_tui.output import tool_head

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# A lexer takes a second for some megabytes: code beyond this stays plain.
_LARGEST_COLOURED = 60_000
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root { color-scheme: light dark; --text: #1d2433; --soft: #5b6579; --page: #fbfbfd; --user: #e8f0fe; --code: #f0f2f6;
  --line: #d9dee8; --accent: #2457c5; --string: #1a7f37; --comment: #6a737d; --keyword: #a626a4; --number: #b25000;
  --name: #2457c5; --added: #dcf5e3; --removed: #fde4e4; }
@media (prefers-color-scheme: dark) { :root { --text: #dfe4ee; --soft: #98a2b6; --page: #14171f; --user: #1d2a44;
  --code: #1d212c; --line: #343b4b; --accent: #86aefc; --string: #8fd19e; --comment: #8b949e; --keyword: #d7a6f5;
  --number: #f0b27a; --name: #86aefc; --added: #173524; --removed: #43201f; } }
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 54rem; background: var(--page); color: var(--text);
  font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { line-height: 1.25; } h2 { margin-top: 2.5rem; }
a { color: var(--accent); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; } dt { color: var(--soft); }
dd { margin: 0; }
pre, code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9em; background: var(--code); }
code { padding: .1em .3em; border-radius: .3em; }
pre { padding: .8rem 1rem; border-radius: .5rem; overflow-x: auto; white-space: pre-wrap; }
pre code { padding: 0; background: none; font-size: 1em; }
table { border-collapse: collapse; display: block; overflow-x: auto; } th, td { border: 1px solid var(--line);
  padding: .3rem .6rem; text-align: left; vertical-align: top; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft); }
.message { margin: 1rem 0; padding: .4rem 1rem; border-left: 3px solid var(--line); }
.user { background: var(--user); border-left-color: var(--accent); border-radius: 0 .5rem .5rem 0; }
.nested { margin-left: 2rem; } .left { opacity: .65; }
.who { display: flex; gap: .8rem; font-weight: 600; } .who a { margin-left: auto; color: var(--soft); font-weight: 400;
  text-decoration: none; }
.mark { display: flex; align-items: center; gap: 1rem; color: var(--soft); margin: 2rem 0; }
.mark::before, .mark::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
details { margin: .3rem 0 .3rem 1rem; color: var(--soft); } summary { cursor: pointer; }
details pre { color: var(--text); max-height: 32rem; overflow: auto; }
.k, .ow { color: var(--keyword); } .s { color: var(--string); } .c { color: var(--comment); font-style: italic; }
.m { color: var(--number); } .n { color: var(--name); }
.added { background: var(--added); display: block; } .removed { background: var(--removed); display: block; }
@media print { details { display: none; } body { max-width: none; } }
"""
_FAMILIES = (
    ("Token.Comment", "c"), ("Token.Literal.String", "s"), ("Token.Literal.Number", "m"), ("Token.Keyword", "k"),
    ("Token.Operator.Word", "k"), ("Token.Name.Function", "n"), ("Token.Name.Class", "n"), ("Token.Name.Builtin", "n"),
    ("Token.Name.Tag", "k"), ("Token.Name.Attribute", "n"), ("Token.Name.Decorator", "n"),
)  # fmt: skip


def conversation_html(conversation: Conversation, tools: Sequence[Sequence[ToolUse]] = ()) -> str:
    """Return the whole page; ``tools`` are uses of tools and thoughts for each exchange, in order."""
    session = conversation.session
    title = escape(shown(session.title) or UNTITLED)
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="prima-tui">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n"
    )
    body = "\n".join(_body(conversation, tools))
    return f"{head}{_facts(session)}{_files(session)}</header>\n<main>\n{body}\n</main>\n</body>\n</html>\n"


def _facts(session: Session) -> str:
    facts = (
        ("Session", session.id),
        ("From", session.label),
        ("Date", local_time(session.started_at)),
        ("Duration", duration(session)),
        ("Folder", session.workspace),
        ("Branch", session.branch),
        ("Messages", str(session.message_count)),
        ("Tags", ", ".join(session.tags)),
        ("Reopen", citation(session, None)),
    )
    rows = "".join(f"<dt>{name}</dt><dd>{escape(shown(value))}</dd>" for name, value in facts if value)
    return f"<dl>{rows}</dl>\n"


def _files(session: Session) -> str:
    why: dict[str, str] = {}
    for change in session.files_changed:
        path = shown_path(change.path, session.workspace)
        why[path] = change.explanation or why.get(path, "")
    if not why:
        return ""
    rows = "".join(
        f"<tr><td><code>{escape(shown(path))}</code></td><td>{escape(shown(reason))}</td></tr>"
        for path, reason in why.items()
    )
    heading = f"<summary>{count_text(len(why), 'file')} changed</summary>"
    return f"<details>{heading}<table><tr><th>File</th><th>Why</th></tr>{rows}</table></details>\n"


def _body(conversation: Conversation, tools: Sequence[Sequence[ToolUse]]) -> Iterator[str]:
    agent, rewound = "", False
    for place, exchange in enumerate(conversation.exchanges):
        if exchange.agent != agent:
            agent = exchange.agent
            yield _mark(f"subagent {agent}" if agent else "main conversation")
        if exchange.compacted:
            yield _mark("context compacted here")
        if exchange.rewound != rewound:
            rewound = exchange.rewound
            yield _mark("taken back: the user went another way" if rewound else "the conversation goes on")
        yield from _exchange(place, exchange)
        for use in tools[place] if place < len(tools) else ():
            yield _tool(use, conversation.session)


def _mark(text: str) -> str:
    return f'<p class="mark">{escape(shown(text))}</p>'


def _exchange(place: int, exchange: Exchange) -> Iterator[str]:
    more = (" nested" if exchange.agent else "") + (" left" if exchange.rewound else "")
    link = f'<a href="#e{place + 1}">{escape(local_time(exchange.at))} #{place + 1}</a>'
    anchor = f' id="e{place + 1}"'
    for voice, name, text in (("user", "You", exchange.user), ("agent", "Agent", exchange.assistant)):
        if text:
            who = f'<div class="who"><span>{name}</span>{link}</div>'
            yield f'<section class="message {voice}{more}"{anchor}>{who}\n{rendered(text)}</section>'
            link, anchor = "", ""


def rendered(text: str) -> str:
    """Return Markdown as HTML in which nothing of the text is markup of its own."""
    return str(_markdown().render(shown(text)))


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # without HTML what looks like it is text; addresses such as javascript: are no links to begin with
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "highlight": _coloured})
    parser.enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link_open)
    return parser


def _link_open(renderer: Any, tokens: Sequence[Any], place: int, options: Any, env: Any) -> str:
    tokens[place].attrSet("rel", "noopener noreferrer nofollow")
    return str(renderer.renderToken(tokens, place, options, env))


def _image(renderer: Any, tokens: Sequence[Any], place: int, options: Any, env: Any) -> str:  # noqa: ARG001
    """A picture is only named: a page that loads one tells its server who reads it, and when."""
    token = tokens[place]
    return f"[{escape(token.content or 'picture')}: {escape(str(token.attrs.get('src', '')))[:300]}]"


def _coloured(code: str, language: str, _attributes: str) -> str:
    """Return code with its parts in spans; "" leaves it to be escaped as it is."""
    if not language or len(code) > _LARGEST_COLOURED:
        return ""
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return ""
    parts = []
    for kind, text in lexer.get_tokens(code):
        name = str(kind)
        style = next((style for family, style in _FAMILIES if name.startswith(family)), "")
        parts.append(f'<span class="{style}">{escape(text)}</span>' if style else escape(text))
    return "".join(parts)


def _tool(use: ToolUse, session: Session) -> str:
    head = escape(tool_head(use, session))
    if use.thinking:
        return f"<details><summary>{head}</summary>{rendered(use.gave)}</details>"
    bodies = [_diff(edit, session) for edit in use.edits] or [_plain(use.given)]
    return f"<details><summary>{head}</summary>{''.join(bodies)}{_plain(use.gave)}</details>"


def _plain(text: str) -> str:
    return f"<pre>{escape(shown(text.rstrip()))}</pre>" if text.strip() else ""


def _diff(edit: TextEdit, session: Session) -> str:
    parts = [escape(shown(f"{edit.action} {shown_path(edit.path, session.workspace)}")), "\n"]
    for style, sign, text in (("removed", "-", edit.old), ("added", "+", edit.new)):
        lines = text.rstrip("\n").split("\n") if text else ()
        parts += [f'<span class="{style}">{escape(shown(sign + line))}</span>' for line in lines]
    return f"<pre>{''.join(parts)}</pre>"
