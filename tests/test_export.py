"""A conversation exported: Markdown and HTML that nothing said in it can break out of, files never overwritten."""

from __future__ import annotations

import stat
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prima_tui import cli, export
from prima_tui.errors import PrimaError, UsageError
from prima_tui.export_html import rendered
from prima_tui.model.hits import Conversation
from prima_tui.model.session import Exchange, Session, TextEdit, ToolUse
from tests.world import START, World, session_id

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> **bold** [a](javascript:alert(3)) "
    "![p](http://tracker.example/p.png) [ok](https://example.org/?a=1&b=2) \x1b[31mred\x1b[0m </section></main>"
)
CODE = "Look:\n\n```python\ndef f():\n    return '<b>'\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"
SESSION = Session("s-1", "claude-code", "transcript", "Fix: the <login> test, again!", started_at=START, workspace="/w")
TALK = Conversation(
    SESSION,
    (
        Exchange(HOSTILE, CODE, START),
        Exchange("open fence\n```sh\nls", "after", START, compacted=True),
        Exchange("", "inside", START, agent="explorer"),
    ),
)
TOOLS = (
    (
        ToolUse(0, "thinking", "hm", gave="I **think** <i>so</i>.", thinking=True),
        ToolUse(0, "Edit", "", "", "done", edits=(TextEdit("/w/a.py", "old <x>\n", "new ```\n"),)),
        ToolUse(0, "Bash", "cat </details>", "cat", "```` four </pre></details>", failed=True),
    ),
    (),
    (),
)


class Page(HTMLParser):
    """Collects tags, attributes and text; knows whether everything that was opened is closed."""

    VOID = frozenset({"meta", "br", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.stack: list[str] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_html_holds_everything_and_nothing_said_becomes_markup() -> None:
    page = Page(export.exported(TALK, "html", TOOLS))
    assert page.stack == []
    names = [tag for tag, _ in page.tags]
    assert "script" not in names
    assert "img" not in names
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    links = [attributes["href"] or "" for tag, attributes in page.tags if tag == "a"]
    assert all(link.startswith(("#e", "https://example.org/")) for link in links)
    assert "\x1b" not in page.words
    for text in (
        "<script>alert(1)</script>",
        "[p: http://tracker.example/p.png]",
        "return '<b>'",
        "context compacted",
        "subagent explorer",
        "old <x>",
        "```` four </pre></details>",
        "cat </details>",
        "prima-tui --open s-1",
    ):
        assert text in page.words, text
    assert names.count("details") == 3
    assert "strong" in names and "table" in names
    assert any(attributes.get("class") == "k" for _, attributes in page.tags)
    assert {"e1", "e2", "e3"} <= {attributes.get("id") for _, attributes in page.tags}
    policy = next(attributes for tag, attributes in page.tags if "http-equiv" in attributes)
    assert "default-src 'none'" in (policy["content"] or "")


@pytest.mark.parametrize("text", ["<b>", "`<b>`", "a\n\n    <b>", "&lt;b&gt;", "<!-- x -->", "[x](data:text/html,1)"])
def test_no_markdown_lets_html_through(text: str) -> None:
    shown = rendered(text)
    assert "<b>" not in shown
    assert "<!--" not in shown
    assert "href=" not in shown


def test_markdown_closes_every_fence_and_folds_tools() -> None:
    text = export.exported(TALK, "markdown", TOOLS)
    assert "```sh\nls\n```" in text
    assert "### #2 " in text and "(after compaction)" in text
    assert "<summary>Bash cat &lt;/details&gt; · failed</summary>" in text
    assert "`````\n```` four </pre></details>\n`````" in text
    assert "-old <x>" in text
    assert "\x1b" not in text
    assert text.count("<details>") == text.count("\n</details>") == 3


def test_a_file_is_named_after_day_and_title_and_nothing_is_overwritten(tmp_path: Path) -> None:
    name = export.file_name(SESSION, "html")
    assert name == f"{START.astimezone():%Y-%m-%d}-fix-the-login-test-again.html"
    assert export.file_name(Session("s", "codex", "Codex", "???"), "markdown") == "session.md"
    first = export.free_path(tmp_path, name)
    export.write_export(first, "one")
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    with pytest.raises(export.FileThere):
        export.write_export(first, "two")
    assert first.read_text("utf-8") == "one"
    assert export.free_path(tmp_path, name).name == name.replace(".html", "-2.html")
    export.write_export(first, "three", replace=True)
    assert first.read_text("utf-8") == "three"
    with pytest.raises(PrimaError, match="can't be written"):
        export.write_export(tmp_path / "missing" / "a.md", "x")
    assert [export.format_of(Path(one)) for one in ("a.HTML", "a.htm", "a.md", "a")] == [
        "html", "html", "markdown", "markdown",
    ]  # fmt: skip


def test_show_writes_to_a_file_or_into_a_folder(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world.claude("login", [("Why?", "Because **so**.", ("a.py",))], title="Login")
    monkeypatch.chdir(world.workspace)
    monkeypatch.setenv("HOME", str(world.home))

    def run(*words: str) -> Result:
        return CliRunner().invoke(cli.program, ("show", session_id("login"), *words), standalone_mode=False)

    assert run("--format", "html").stdout.startswith("<!doctype html>")
    target = tmp_path / "talk.html"
    assert run("--output", str(target), "--tools").stdout.strip() == str(target)
    assert "<details>" in target.read_text("utf-8")
    again = run("--output", str(target))
    assert isinstance(again.exception, PrimaError)
    assert "--force" in str(again.exception)
    assert run("--output", str(target), "--force").exception is None
    into = run("--output", str(tmp_path), "--format", "markdown")
    assert Path(into.stdout.strip()).read_text("utf-8").startswith("# Login")
    assert "as_json" not in run("--output", str(tmp_path), "--format", "json", "--json").stdout
    assert isinstance(CliRunner().invoke(cli.program, ("show", "nothing"), standalone_mode=False).exception, UsageError)
