"""The past of a project's documents: states of their index that are kept, and how an answer changed between two."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from prima_tui.documents_memory import Documents
from prima_tui.errors import PrimaError
from prima_tui.model.document_states import AnswerChange, ChunkChange, IndexState, chunk_changes
from prima_tui.model.hits import Cancel

if TYPE_CHECKING:
    from prima_tui.index.document_states import DocumentStates
    from prima_tui.index.documents import DocumentIndex
    from prima_tui.model.documents import DocumentHit

NOW = "now"
"""The name of the index as it is."""


class DocumentHistory:
    """Keeps states of one project's index, and compares them."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def states(self) -> list[IndexState]:
        """Return the states that are kept, newest first."""
        return self._states().all()

    def keep(self, name: str = "") -> IndexState | None:
        """Keep the index as it is, under a name; without one only when it differs from what was kept last.

        Returns the state, None when none was needed. Raises PrimaError.
        """
        return self._states().keep(self._documents.loaded_index(), name)

    def remove(self, name: str) -> None:
        """Remove a state. Raises PrimaError."""
        self._states().remove(name)

    def compare(
        self,
        question: str,
        before: str = "",
        after: str = "",
        limit: int = 6,
        *,
        answers: bool = True,
        cancel: Cancel | None = None,
    ) -> AnswerChange:
        """Return how the best chunks for a question changed from one state to another (default: to the index as it is).

        Without ``before`` it is the newest state of other documents. With ``answers`` a language model, where one is
        configured, answers from both. Raises PrimaError when there is nothing to compare.
        """
        cancel = cancel or Cancel()
        warnings: list[str] = []
        later, later_index = self._opened(after)
        try:
            earlier, earlier_index = self._opened(before or self._other_than(later))
            try:
                found_before = self._best(earlier_index, question, limit, cancel, warnings)
                found_after = self._best(later_index, question, limit, cancel, warnings)
                changes = [_with_presence(one, later_index) for one in chunk_changes(found_before, found_after)]
            finally:
                earlier_index.close()
        finally:
            if after not in ("", NOW):
                later_index.close()
        change = AnswerChange(question, earlier, later, tuple(changes), warnings=tuple(dict.fromkeys(warnings)))
        if not answers or not self._documents.answering_model:
            return change
        texts = []
        for hits in (found_before, found_after):
            written = self._documents.answer_from(question, hits, cancel=cancel) if hits else None
            texts.append(written.text if written else "")
            if written and written.note:
                warnings.append(f"no whole answer: {written.note}")
        return msgspec.structs.replace(
            change,
            answer_before=texts[0],
            answer_after=texts[1],
            warnings=tuple(dict.fromkeys(warnings)),
        )

    def _states(self) -> DocumentStates:
        from prima_tui.index.document_states import DocumentStates

        return DocumentStates(self._documents.index_path.with_name("states"))

    def _other_than(self, later: IndexState) -> str:
        for state in self.states():
            if state.content != later.content and (later.name == NOW or state.at < later.at):
                return state.name
        raise PrimaError(
            "there is no earlier state to compare with yet: `prima-tui docs index` keeps one whenever documents"
            " changed, `prima-tui docs snapshot NAME` one under a name"
        )

    def _opened(self, name: str) -> tuple[IndexState, DocumentIndex]:
        from prima_tui.index.document_states import content_of
        from prima_tui.index.documents import DocumentIndex

        if name in ("", NOW):
            index = self._documents.loaded_index()
            return IndexState(NOW, datetime.now(UTC), content_of(index)), index
        state, path = self._states().find(name)
        model = self._documents.embedding_model().name
        index = DocumentIndex(path, model, lambda: None, lambda _line: None)
        index.load()
        return state, index

    def _best(
        self, index: DocumentIndex, question: str, limit: int, cancel: Cancel, warnings: list[str]
    ) -> Sequence[DocumentHit]:
        from prima_tui.model.query import parse
        from prima_tui.search.documents import DocumentSearch

        search = DocumentSearch(index)
        search.collections = self._documents.collections()
        query = parse(question)
        warnings += query.problems
        return search.chunks(query, self._documents.embedding_model().question, cancel, warnings, limit)


def _with_presence(change: ChunkChange, later: DocumentIndex) -> ChunkChange:
    """Tell of a chunk that is gone from the best whether its text is still in the documents."""
    if change.kind != "gone" or change.before is None:
        return change
    one = later.document(change.before.path)
    count = len(one.headings) if one else 0
    texts = (later.chunk(change.before.path, place) for place in range(count))
    there = any(chunk is not None and chunk.text == change.before.text for chunk in texts)
    return msgspec.structs.replace(change, still_there=there)
