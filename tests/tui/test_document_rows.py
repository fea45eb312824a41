"""Documents among the sessions of a list: in their place by score, the sessions made only when they are looked at."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prima_tui.model.documents import DocumentHit
from prima_tui.model.hits import Hit
from prima_tui.model.on_demand import OnDemand
from prima_tui.model.session import Session
from prima_tui.tui.document_rows import DocumentRow, among_sessions, is_session


def hit(number: int, score: float, keyword: float | None = None, similarity: float | None = None) -> Hit:
    return Hit(Session(str(number), "codex", "[Codex]", "T"), score, keyword, similarity)


def document(number: int, score: float, keyword: float | None = None, similarity: float | None = None) -> DocumentHit:
    return DocumentHit(f"{number}.md", "T", "H", 1, 2, "text", score, keyword, similarity)


@given(
    st.lists(st.integers(0, 120), max_size=30).map(lambda scores: sorted(scores, reverse=True)),
    st.lists(st.integers(0, 120), max_size=8).map(lambda scores: sorted(scores, reverse=True)),
)
def test_one_list_best_first_with_everything_in_it_once(sessions: list[int], documents: list[int]) -> None:
    hits = [hit(number, score) for number, score in enumerate(sessions)]
    found = list(among_sessions(hits, [document(n, score) for n, score in enumerate(documents)], "/p", combined=False))
    assert [one.score for one in found] == sorted([*sessions, *documents], reverse=True)
    assert [one for one in found if is_session(one)] == hits
    assert [one.document.path for one in found if isinstance(one, DocumentRow)] == [
        f"{number}.md" for number in range(len(documents))
    ]


def test_of_many_sessions_few_are_made() -> None:
    made: list[int] = []

    def make(place: int) -> Hit:
        made.append(place)
        return hit(place, 120.0 - place / 1_000, keyword=50.0)

    found = among_sessions(OnDemand(100_000, make), [document(1, 80.0, 20.0)], "/p", combined=False)
    assert len(found) == 100_001
    assert isinstance(found[40_000], DocumentRow) or isinstance(found[40_001], DocumentRow)
    assert len(made) < 60


def test_the_scale_is_that_of_the_sessions() -> None:
    hits = [hit(1, 120.0, 30.0, 0.5), hit(2, 100.0, 40.0), hit(3, 10.0, 4.0)]
    found = among_sessions(hits, [document(1, 100.0, 20.0), document(2, 55.0, None, 0.55)], "/p", combined=True)
    scores = {one.document.path: one.score for one in found if isinstance(one, DocumentRow)}
    assert scores["1.md"] == 50.0
    assert round(scores["2.md"]) == 55


def test_what_is_better_than_every_session_is_not_over_a_hundred() -> None:
    found = among_sessions([hit(1, 100.0, 10.0)], [document(1, 120.0, 40.0, 0.3)], "/p", combined=True)
    assert [one.score for one in found if isinstance(one, DocumentRow)] == [120.0]
    alone = among_sessions([], [document(1, 100.0, 40.0)], "/p", combined=True)
    assert [one.score for one in alone] == [100.0]
