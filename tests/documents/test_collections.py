"""Named collections: documents under a name, by patterns of their own; what needs an extra is said once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from prima_tui.config import Settings, paths_below
from prima_tui.documents import formats
from prima_tui.documents.collections import Collection, names_of
from prima_tui.documents.settings import load_document_settings
from prima_tui.documents_memory import Documents
from tests.documents.small_model import WordModel

CONFIG = """
[collections.handbook]
include = ["*.md"]
exclude = ["drafts/"]
root = "handbook"

[collections.code]
include = ["*.py"]
"""


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[Documents]:
    root = tmp_path / "project"
    for path, text in (
        ("README.md", "# Read me\n\nzebra"),
        ("handbook/a.md", "# Rules\n\nzebra rules"),
        ("handbook/drafts/b.md", "# Draft\n\nzebra draft"),
        ("src/app.py", "class Zebra:\n    def run(self):\n        return 'zebra'\n"),
        ("src/data.json", "{}"),
        ("manual.pdf", "no pdf"),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    Documents.init(root)
    (root / ".memory" / "config.toml").write_text(CONFIG)
    made = Documents(root, Settings(paths=paths_below(tmp_path / "home")), env={}, model=WordModel())  # type: ignore[arg-type]
    yield made
    made.close()


def found(documents: Documents, query: str, **more: str) -> list[str]:
    answer = documents.find(query, "keyword", **more)  # type: ignore[arg-type]
    return sorted(hit.path for hit in answer.hits)


def test_what_is_in_a_collection_is_a_document_too(documents: Documents) -> None:
    assert documents.index().finished
    assert found(documents, "zebra") == ["README.md", "handbook/a.md", "handbook/drafts/b.md", "src/app.py"]
    hit = next(hit for hit in documents.find("zebra run").hits if hit.path == "src/app.py")
    assert hit.heading.startswith("Zebra")


def test_a_filter_or_an_argument_keeps_to_one_collection(documents: Documents) -> None:
    documents.index()
    assert found(documents, "zebra collection:handbook") == ["handbook/a.md"]
    assert found(documents, "zebra -collection:code") == ["README.md", "handbook/a.md", "handbook/drafts/b.md"]
    assert found(documents, "zebra", collection="code") == ["src/app.py"]
    chunks = documents.find("what is a zebra", every_chunk=True, collection="code").hits
    assert {hit.path for hit in chunks} == {"src/app.py"}
    asked = documents.ask("what is a zebra", collection="code")
    assert {hit.path for hit in asked.hits} == {"src/app.py"}


def test_a_collection_that_is_not_there_is_said(documents: Documents) -> None:
    answer = documents.find("zebra collection:nope", "keyword")
    assert answer.hits == ()
    assert answer.warnings == ("collection:nope is no collection: there are handbook, code",)


def test_a_changed_configuration_holds_at_once(documents: Documents) -> None:
    documents.index()
    assert found(documents, "zebra collection:handbook") == ["handbook/a.md"]
    (documents.root / ".memory" / "config.toml").write_text(CONFIG.replace('exclude = ["drafts/"]', ""))
    assert found(documents, "zebra collection:handbook") == ["handbook/a.md", "handbook/drafts/b.md"]


def test_the_state_names_collections_with_their_documents(documents: Documents) -> None:
    documents.index()
    assert documents.status().collections == (("handbook", 1), ("code", 1))


def test_what_needs_an_extra_is_one_line_and_everything_else_goes_on(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    (documents.root / "src" / "more.py").write_text("x = 1")
    formats._installed.cache_clear()
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    try:
        progress = documents.index()
        line = "2 code files left out: reading them needs an extra (pip install 'prima-tui[code]')"
        assert progress.finished
        assert progress.warnings == (line,)
        assert documents.status().warnings == (line,)
        assert found(documents, "zebra") == ["README.md", "handbook/a.md", "handbook/drafts/b.md"]
    finally:
        formats._installed.cache_clear()
    monkeypatch.undo()
    assert documents.index().files_done == 2
    assert "src/app.py" in found(documents, "zebra")


def test_a_collection_holds_by_its_patterns_below_its_root() -> None:
    one = Collection("a", ("*.md", "!no.md"), ("/top/",), "docs")
    assert one.holds("docs/x.md")
    assert one.holds("docs/deep/x.md")
    for path in ("x.md", "docs/no.md", "docs/top/x.md", "docs2/x.md", "docs/x.txt"):
        assert not one.holds(path)
    assert names_of([one, Collection("b", ("*",))], "docs/x.md") == ("a", "b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[collections.a]\n", "needs a list of patterns"),
        ("[collections.a]\ninclude = 3\n", "no list of patterns"),
        ('[collections.a]\ninclude = ["*"]\nroot = "../other"\n', "no folder inside"),
        ('[collections.a]\ninclude = ["*"]\nroot = "/etc"\n', "no folder inside"),
        ('[collections.a]\ninclude = ["*"]\nroot = 5\n', "no folder inside"),
        ('[collections.a]\ninclude = ["*"]\nroots = "x"\n', "not a setting"),
        ('[collections."a b"]\ninclude = ["*"]\n', "letters, digits"),
        ("collections = 3\n", "no table"),
    ],
)
def test_what_is_wrong_with_a_collection_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / ".memory").mkdir()
    (tmp_path / ".memory" / "config.toml").write_text(text)
    found = load_document_settings(tmp_path, tmp_path / "none.toml")
    assert found.collections == ()
    assert said in found.problems[0]


def test_the_users_own_collections_hold_in_every_project_and_a_projects_take_their_place(tmp_path: Path) -> None:
    own = tmp_path / "config.toml"
    own.write_text('[collections.a]\ninclude = ["*.md"]\n[collections.b]\ninclude = ["*.rst"]\nroot = "./docs/"\n')
    (tmp_path / ".memory").mkdir()
    (tmp_path / ".memory" / "config.toml").write_text('[collections.a]\ninclude = ["*.org"]\n')
    found = load_document_settings(tmp_path, own)
    assert found.problems == ()
    assert found.collections == (Collection("a", ("*.org",)), Collection("b", ("*.rst",), (), "docs"))
