"""The documents' service: the index follows the files, old chunks answer until new ones are in."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import filelock
import pytest

from prima_tui.config import Settings, paths_below
from prima_tui.documents_memory import Documents
from prima_tui.errors import ModelUnavailable, PrimaError, StoreUnusable
from prima_tui.index import document_update
from prima_tui.index.documents import DocumentIndex
from prima_tui.model.documents import Document, DocumentHit, DocumentsProgress
from prima_tui.model.hits import Cancel, Cancelled
from tests.documents.chat_server import serving, streaming
from tests.documents.small_model import WordModel
from tests.documents.test_reader import endless_pdf

ROOT = Path(__file__).resolve().parents[1]
LONG = " ".join(f"w{number}" for number in range(500))


class Project:
    """A project of its own in a temporary folder, with a model that counts."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        Documents.init(self.root)
        self.settings = Settings(paths=paths_below(folder / "home"))
        self.model = WordModel()
        self.documents = self.opened()

    def opened(self, model: WordModel | None = None) -> Documents:
        return Documents(self.root, self.settings, env={}, model=model or self.model)  # type: ignore[arg-type]

    def write(self, path: str, text: str | bytes) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)

    def index(self, **more: object) -> DocumentsProgress:
        progress = self.documents.index(**more)  # type: ignore[arg-type]
        self.documents._looked_at = 0.0  # the next search walks again at once
        return progress

    def found(self, query: str, mode: str = "combined") -> list[str]:
        self.documents._looked_at = 0.0
        return [hit.path for hit in self.documents.search(query, mode)]  # type: ignore[arg-type]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path)
    yield made
    made.documents.close()


# -- the root ---------------------------------------------------------------------------------------------------


def test_the_root_is_the_nearest_folder_upwards_with_a_bare_memory_folder(tmp_path: Path) -> None:
    (tmp_path / "a" / ".memory").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert Documents.find_root(tmp_path / "a" / "b" / "c") == tmp_path / "a"
    (tmp_path / "a" / "b" / ".memory").write_text("a file is none")
    assert Documents.find_root(tmp_path / "a" / "b") == tmp_path / "a"
    assert Documents.find_root(tmp_path) is None


def test_init_makes_the_folder_once_and_says_what_stands_against_it(tmp_path: Path) -> None:
    assert Documents.init(tmp_path) == tmp_path
    assert Documents.init(tmp_path) == tmp_path
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".memory").write_text("")
    with pytest.raises(PrimaError, match="can't be made"):
        Documents.init(tmp_path / "sub")


# -- the index follows the files --------------------------------------------------------------------------------


def test_an_unchanged_file_costs_no_embedding(project: Project) -> None:
    project.write("a.md", f"# A\n\n{LONG}")
    first = project.index()
    assert (first.files_done, first.finished, first.note) == (1, True, "")
    assert first.chunks_embedded > 1
    project.model.embedded.clear()
    (project.root / "a.md").touch()
    again = project.index()
    assert (again.files_done, again.files_unchanged, again.chunks_embedded) == (0, 1, 0)
    assert project.model.embedded == []


def test_of_a_changed_file_only_what_is_new_is_embedded(project: Project) -> None:
    body = "\n\n".join(f"## Part {number}\n\n{' '.join(f'p{number}x{n}' for n in range(60))}" for number in range(8))
    project.write("a.md", f"# A\n\n{body}")
    project.index()
    project.model.embedded.clear()
    project.write("a.md", f"# A\n\n{body}\n\n## New\n\n{' '.join(f'new{n}' for n in range(60))}")
    progress = project.index()
    assert (progress.chunks_embedded, progress.chunks_reused) == (1, 8)
    assert len(project.model.embedded) == 1


def test_text_that_stands_in_two_files_or_moves_is_embedded_once(project: Project) -> None:
    project.write("a.md", f"# A\n\n{LONG}")
    project.write("b.md", f"# A\n\n{LONG}")
    project.index()
    assert len(project.model.embedded) == len(set(project.model.embedded))
    project.model.embedded.clear()
    (project.root / "a.md").rename(project.root / "c.md")
    progress = project.index()
    assert (progress.files_done, progress.files_removed, progress.chunks_embedded) == (1, 1, 0)
    assert project.found("w3", "keyword") == ["b.md", "c.md"] or project.found("w3", "keyword") == ["c.md", "b.md"]


def test_a_deleted_file_goes_and_its_vectors_with_it(project: Project) -> None:
    project.write("a.md", "# Apples\n\napples and pears")
    project.write("b.md", "# Bread\n\nbread")
    project.index()
    (project.root / "a.md").unlink()
    assert project.index().files_removed == 1
    assert project.found("apples") == []
    project.write("a.md", "# Apples\n\napples and pears")
    project.model.embedded.clear()
    project.index()
    assert len(project.model.embedded) == 1


def test_an_empty_file_is_remembered_as_done(project: Project) -> None:
    project.write("a.md", "")
    assert project.index().files_done == 1
    assert project.index().files_unchanged == 1
    assert project.documents.status().stale_files == ()


def test_a_file_that_is_no_text_is_left_out_with_a_warning_every_time(project: Project) -> None:
    project.write("a.md", b"\x89PNG\r\n\x1a\n\x00")
    for _ in range(2):
        assert project.index().warnings == ("a.md: left out: it is no text",)
    state = project.documents.status()
    assert (state.files, state.stale_files) == (0, ())
    assert state.warnings == ("a.md: left out: it is no text",)


def test_a_document_whose_reading_never_ends_costs_its_time_and_no_other_file(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pypdf")
    monkeypatch.setattr("prima_tui.index.document_update.SECONDS_IN_PASSING", 0.5)
    monkeypatch.setattr("prima_tui.index.document_update.SECONDS_ON_REQUEST", 1.0)
    monkeypatch.setattr("prima_tui.documents.reader.SECONDS_IN_PASSING", 0.5)
    project.write(".memory/config.toml", '[documents]\ninclude = ["*.md", "*.pdf"]\n')
    project.write("a.md", "# Apples")
    project.write("evil.pdf", endless_pdf())
    project.write("z.md", "# Zebras")
    assert project.found("zebras", "keyword") == ["z.md"]
    first = project.index(budget=600.0)
    assert first.finished
    assert [line.split(" (")[0] for line in first.warnings] == [
        "evil.pdf: left out: reading it takes longer than 0.5 s"
    ]
    assert project.found("zebras") == ["z.md"]
    passing = project.index(budget=600.0)
    assert (passing.files_total, passing.warnings) == (0, first.warnings)
    on_request = project.index()
    assert (on_request.files_total, on_request.files_done) == (1, 1)
    assert on_request.warnings[0].startswith("evil.pdf: left out: reading it takes longer than 1 s")
    assert project.index().files_total == 0
    assert project.documents.status().stale_files == ()
    assert "takes longer" in project.documents.text("evil.pdf").problem


def test_what_may_take_long_to_read_is_read_after_all_else(project: Project) -> None:
    pytest.importorskip("tree_sitter_python")
    project.write(".memory/config.toml", '[documents]\ninclude = ["*.md", "*.py"]\n')
    for number, name in enumerate(("a.py", "b.md", "c.py", "d.md")):
        project.write(name, f"# subject {number}")
    project.index()
    assert ["2" in text or "0" in text for text in project.model.embedded] == [False, False, True, True]


def test_a_file_over_the_size_that_is_set_is_left_out_and_said(project: Project) -> None:
    project.write(".memory/config.toml", "[documents]\nlargest_megabytes = 0.0001\n")
    project.write("a.md", "x" * 200)
    assert project.index().warnings == ("a.md: left out: it is larger than 0.0001 MB",)


def test_what_is_excluded_later_goes(project: Project) -> None:
    project.write("drafts/a.md", "# Apples")
    project.index()
    project.write(".memory/config.toml", '[documents]\nexclude = ["drafts/"]\n')
    assert project.index().files_removed == 1


def test_old_chunks_answer_until_the_new_ones_are_in(project: Project) -> None:
    project.write("a.md", "# Old\n\napples")
    project.index()
    project.write("a.md", f"# New\n\noranges\n\n{LONG}")
    other = project.opened(WordModel())
    seen: list[list[DocumentHit]] = []
    project.model.before_each = lambda: seen.append([*other.search("apples"), *project.documents.search("apples")])
    project.index()
    assert seen
    for hits in seen:
        assert [(hit.text, hit.stale) for hit in hits] == [("# Old\n\napples", True)] * 2
    assert project.found("apples") == []
    assert [hit.path for hit in other.search("oranges", "keyword")] == ["a.md"]
    other.close()


def test_another_process_sees_what_is_stored(project: Project) -> None:
    project.write("a.md", "# Apples\n\napples and pears")
    project.index()
    other = project.opened()
    assert [hit.path for hit in other.search("pears", "semantic")] == ["a.md"]
    project.write("b.md", "# Pears\n\npears")
    project.index()
    assert {hit.path for hit in other.search("pears", "semantic")} == {"a.md", "b.md"}
    other.close()


def test_an_update_stops_when_its_time_is_over_and_goes_on_later(project: Project) -> None:
    for number in range(150):
        project.write(f"{number}.md", f"# Page {number}\n\n" + " ".join(f"p{number}w{n}" for n in range(60)))
    ticks = iter(range(100))

    def cancel_soon() -> None:
        if next(ticks) == 2:
            cancel.cancel()

    cancel = Cancel()
    project.model.before_each = cancel_soon
    first = project.index(cancel=cancel)
    assert (first.finished, first.note) == (False, "cancelled")
    project.model.before_each = lambda: None
    second = project.index()
    assert second.finished
    assert len(project.model.embedded) == len(set(project.model.embedded)) == 150
    assert project.index(budget=0.0).finished is False


def test_one_update_at_a_time(project: Project) -> None:
    with filelock.FileLock(project.root / ".memory" / "update.lock"):
        assert "another prima-tui" in project.index().note


def test_a_kill_in_the_middle_loses_no_document_and_doubles_none(project: Project) -> None:
    for number in range(150):
        project.write(f"{number}.md", f"# Page {number}\n\n" + " ".join(f"p{number}w{n}" for n in range(60)))
    code = (
        "import os, sys; from pathlib import Path; from prima_tui.config import Settings, paths_below\n"
        "from prima_tui.documents_memory import Documents; from tests.documents.small_model import WordModel\n"
        "model = WordModel(); model.before_each = lambda: os._exit(9) if len(model.embedded) >= 16 else None\n"
        "Documents(Path(sys.argv[1]), Settings(paths=paths_below(Path(sys.argv[2]))), model=model).index()\n"
    )
    argv = [sys.executable, "-c", code, str(project.root), str(project.root.parent / "home")]
    assert subprocess.run(argv, cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": ""}).returncode == 9
    assert project.index().finished
    state = project.documents.status()
    assert (state.files, state.chunks, state.stale_files) == (150, 150, ())


def test_another_model_asks_for_a_rebuild_and_never_mixes(project: Project) -> None:
    project.write("a.md", "# Apples\n\napples and pears")
    project.index()
    project.documents = project.opened(WordModel("bigger", 512))
    assert "a rebuild is due" in project.index().note
    found = project.documents.find("apples")
    assert [hit.path for hit in found.hits] == ["a.md"]  # by word
    assert "a rebuild is due" in found.warnings[0]
    assert "a rebuild is due" in project.documents.status().warnings[0]
    assert project.index(rebuild=True).chunks_embedded == 1
    found = project.documents.find("pears", "semantic")
    assert found.warnings == ()
    assert found.hits[0].similarity is not None


def test_a_rebuild_that_was_stopped_goes_on(project: Project) -> None:
    for number in range(150):
        project.write(f"{number}.md", f"# Page {number}\n\nword{number}")
    project.index()
    project.model.embedded.clear()
    cancel = Cancel()
    project.model.before_each = lambda: cancel.cancel() if project.model.embedded else None
    assert not project.index(rebuild=True, cancel=cancel).finished
    assert project.found("word149", "keyword") == ["149.md"]
    project.model.before_each = lambda: None
    assert project.index().finished
    assert sorted(project.found("word149", "semantic")) == ["149.md"]


def test_a_model_that_fails_is_a_note_and_words_are_found(project: Project) -> None:
    project.write("a.md", "# Apples")

    def fail() -> None:
        raise ModelUnavailable("no such model")

    project.model.before_each = fail
    assert "no such model" in project.index().note
    assert project.found("apples", "keyword") == ["a.md"]


def test_a_damaged_index_is_kept_aside_and_made_anew(project: Project) -> None:
    project.write("a.md", "# Apples")
    (project.root / ".memory" / "index.duckdb").write_bytes(b"no database" * 100)
    progress = project.index()
    assert progress.finished
    assert "was kept as" in progress.warnings[0]
    assert list((project.root / ".memory").glob("index.aside-*"))


def test_a_project_whose_memory_is_gone_is_not_made_again(project: Project) -> None:
    (project.root / ".memory" / "update.lock").unlink(missing_ok=True)
    (project.root / ".memory").rmdir()
    assert "no .memory folder any more" in project.index().note
    assert not (project.root / ".memory").exists()


def test_a_folder_that_cannot_be_read_loses_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("sub/a.md", "# Apples")
    project.index()
    import os

    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert project.index().files_removed == 0
    assert project.found("apples", "keyword") == ["sub/a.md"]


# -- search -----------------------------------------------------------------------------------------------------


def test_a_file_too_new_for_the_index_is_found_by_word(project: Project) -> None:
    project.write("a.md", "# Apples")
    assert project.found("apples", "keyword") == ["a.md"]
    project.write("a.md", "# Pears")
    assert project.found("apples", "keyword") == []
    assert project.found("pears", "keyword") == ["a.md"]
    assert not (project.root / ".memory" / "index.duckdb").exists()
    project.index()
    assert project.found("pears") == ["a.md"]


def test_a_document_matches_when_every_word_stands_somewhere_in_it(project: Project) -> None:
    project.write("a.md", f"# Apples\n\n{LONG}\n\n## Other\n\npears {LONG}")
    project.write("b.md", "# Apples only")
    assert project.found("APPLES pear", "keyword") == ["a.md"]
    assert project.found('"apples only"', "keyword") == ["b.md"]


def test_the_keyword_score_is_that_of_sessions(project: Project) -> None:
    project.write("apples.md", f"# Apples\n\n{LONG} apples")
    hit = project.documents.search("apples", "keyword")[0]
    assert hit.keyword_score is not None
    # title 20, path 10, two chunks with the word 2 each, one file 1, written just now 10
    assert 44.9 < hit.keyword_score <= 45


def test_both_halves_together_count_a_fifth_more(project: Project) -> None:
    project.write("a.md", "# Apples\n\napples")
    project.index()
    hit = project.documents.search("apples")[0]
    assert hit.similarity is not None
    assert hit.score == pytest.approx(120.0)
    semantic = project.documents.search("apples", "semantic")[0]
    assert semantic.score == pytest.approx(hit.similarity * 100)


def test_a_hit_shows_its_best_chunk_with_place_and_headings(project: Project) -> None:
    filler = " ".join(f"f{n}" for n in range(80))
    project.write(
        "docs/a.md", f"# Guide\n\n{filler}\n\n## Install\n\n{filler}\n\n### Linux\n\nuse the package {filler}\n"
    )
    project.index()
    hit = project.documents.search("package")[0]
    assert (hit.path, hit.title, hit.heading) == ("docs/a.md", "Guide", "Guide > Install > Linux")
    assert (hit.first_line, hit.last_line) == (9, 11)


def test_filters_hold_for_documents(project: Project) -> None:
    project.write("docs/a.md", "# Apples")
    project.write("b.md", "# Apples")
    assert project.found("apples dir:docs", "keyword") == ["docs/a.md"]
    assert project.found("apples file:docs/a", "keyword") == ["docs/a.md"]
    assert project.found("apples -dir:docs is:docs", "keyword") == ["b.md"]
    assert project.found("apples agent:codex", "keyword") == []
    assert project.found("apples date:>2d", "keyword") == []


def test_a_hit_whose_file_changed_is_marked(project: Project) -> None:
    project.write("a.md", "# Apples")
    project.index()
    assert not project.documents.search("apples")[0].stale
    (project.root / "a.md").unlink()
    assert project.documents.search("apples")[0].stale


def test_a_cancelled_search_stops(project: Project) -> None:
    project.write("a.md", "# Apples")
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(Cancelled):
        project.documents.search("apples", cancel=cancel)


def test_searches_in_many_threads_while_the_index_grows(project: Project) -> None:
    for number in range(60):
        project.write(f"{number}.md", f"# Page {number}\n\nshared word{number}")
    failures: list[BaseException] = []
    done = threading.Event()

    def search() -> None:
        try:
            while not done.is_set():
                assert len(project.documents.search("shared", "keyword", None)) == 60
                project.documents.search("shared word7", "combined")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert project.documents.index().finished
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []


# -- questions --------------------------------------------------------------------------------------------------


@contextmanager
def answering(project: Project, *pieces: str) -> Iterator[None]:
    with serving(streaming(*pieces)) as server:
        project.write(".memory/config.toml", f'[ask]\nurl = "{server.url}"\nname = "tiny"\n')
        yield


def test_a_question_gets_the_best_chunks_without_a_model(project: Project) -> None:
    project.write("a.md", "# Install\n\nrun the installer")
    project.write("b.md", "# Other\n\nnothing of that")
    project.index()
    asked = project.documents.ask("how do I run the installer?")
    assert asked.hits[0].path == "a.md"
    assert (asked.answer, asked.note, asked.model) == ("", "", "")


def test_a_text_that_stands_in_several_documents_takes_one_place_among_the_chunks(project: Project) -> None:
    for number in range(5):
        project.write(f"copy-{number}.md", "# Licence\n\nApples may be copied.")
    project.write("own.md", "# Fruit\n\nApples are red.")
    project.index()
    asked = project.documents.ask("are apples red", limit=2)
    assert [hit.path for hit in asked.hits] == ["own.md", "copy-0.md"]


def test_the_chunks_come_before_the_answer(project: Project) -> None:
    project.write("a.md", "# Install\n\nrun the installer")
    project.index()
    order: list[str] = []
    with answering(project, "Run it ", "[1]."):
        asked = project.documents.ask(
            "how to install?", 3, order.append, on_hits=lambda hits: order.append(hits[0].path)
        )
    assert order[0] == "a.md"
    assert "".join(order[1:]) == asked.answer == "Run it [1]."
    assert asked.complete
    assert asked.model == "tiny"


def test_without_an_endpoint_that_answers_the_chunks_are_there(project: Project) -> None:
    project.write("a.md", "# Install\n\nrun the installer")
    project.index()
    project.write(".memory/config.toml", '[ask]\nurl = "http://127.0.0.1:9"\nname = "tiny"\n')
    asked = project.documents.ask("how to install?")
    assert asked.hits
    assert "nothing answers at" in asked.note


def test_a_question_that_nothing_is_like_asks_no_model(project: Project) -> None:
    project.write("a.md", "# Install\n\nrun the installer")
    project.index()
    with answering(project, "invented"):
        asked = project.documents.ask("zebra quagga")
    assert (asked.hits, asked.answer) == ((), "")
    assert "nothing in the documents" in asked.note


def test_documents_that_could_not_be_put_in_are_not_counted_and_come_the_next_time(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        project.write(f"{number}.md", f"# Page {number}\n\nzebra {LONG}")
    monkeypatch.setattr(document_update, "_GROUP", 1)
    write = DocumentIndex.write
    stored: list[str] = []

    def full(index: DocumentIndex, vectors: object, documents: Sequence[Document], gone: Sequence[str] = ()) -> None:
        if stored and documents:
            raise StoreUnusable("no space left on the disk")
        write(index, vectors, documents, gone)  # type: ignore[arg-type]
        stored.extend(one.path for one in documents)

    with monkeypatch.context() as disk:
        disk.setattr(DocumentIndex, "write", full)
        progress = project.index()
    assert "no space left" in progress.note and not progress.finished and progress.files_done < 4
    after = project.index()
    assert after.finished and after.files_done == 4 - len(stored)
    assert sorted(project.found("zebra")) == ["0.md", "1.md", "2.md", "3.md"]
