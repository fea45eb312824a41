"""What is alike, against a comparison with every name."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from prima_tui.model.likeness import FLOOR
from prima_tui.model.query import Query
from prima_tui.model.session import FileChange, Session
from prima_tui.search import alike as module
from prima_tui.search.alike import alike
from prima_tui.search.library import Entry, Library, folded_paths

name = st.text(alphabet="abcdeé ", min_size=1, max_size=9)
session = st.builds(
    Session,
    id=st.uuids().map(str),
    source=st.sampled_from(["codex", "claude-code"]),
    label=st.just(""),
    title=name,
    files_changed=st.lists(name.map(lambda one: FileChange("dir/" + one)), max_size=2).map(tuple),
    flags=st.sampled_from([(), ("sdk",)]),
)


def library_of(sessions: list[Session]) -> Library:
    return Library(
        tuple(
            Entry(one, (), (), one.title, paths, "\n".join(paths)) for one in sessions for paths in [folded_paths(one)]
        )
    )


def likeness(text: str, entry: Entry) -> float:
    names = [entry.title, *(path.rsplit("/", 1)[-1] for path in entry.paths)]
    return max(fuzz.WRatio(text, one) for one in names)


@settings(deadline=None)
@given(st.lists(session, max_size=20), name.map(lambda one: " ".join(one.split())), st.sampled_from([1, 3, 1000]))
def test_the_sessions_alike_are_the_best_of_all(sessions: list[Session], text: str, at_once: int) -> None:
    library = library_of(sessions)
    points = [0.0 if entry.session.flags else likeness(text, entry) for entry in library.entries]
    order = sorted(range(len(points)), key=lambda row: (-points[row], row))
    expected = [sessions[row] for row in order if points[row] >= FLOOR][:8] if len(text) >= 3 else []
    before, module._SLICE = module._SLICE, at_once
    try:
        assert alike(library, Query(text=text)) == expected
    finally:
        module._SLICE = before
