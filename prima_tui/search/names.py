"""Names that people may look for without quite knowing them: titles, and names of changed files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prima_tui.model.likeness import Letters, letters_of
from prima_tui.model.many_texts import ManyTexts

Rows = NDArray[np.int64]


class Names:
    """Names of sessions, each kept once, and which session has which."""

    def __init__(self, texts: Sequence[str], numbers: Rows, rows: Rows) -> None:
        self.texts = texts
        self.numbers = numbers
        """The names that sessions have, as places among ``texts``, one for each time."""
        self.rows = rows
        """The session that has it, each time."""

    @cached_property
    def letters(self) -> Letters:
        """The letters of each of the texts, counted."""
        return letters_of(self.texts)

    @cached_property
    def parts(self) -> ManyTexts:
        """The texts, to look for parts of them."""
        return ManyTexts.of(self.texts)

    def with_more(self, made: Names) -> tuple[Names, Rows]:
        """Return these names and those of ``made`` that are not among them, as no session's yet.

        Also returned is the place of each name of ``made`` among all. What was worked out of the texts is taken over.
        """
        known = {text: place for place, text in enumerate(self.texts)}
        places = np.array([known.setdefault(text, len(known)) for text in made.texts], np.int64)
        more = list(known)[len(self.texts) :]
        none = np.zeros(0, np.int64)
        names = Names([*self.texts, *more], none, none)
        if "letters" in vars(self):
            names.letters = self.letters.with_more(letters_of(more)) if more else self.letters
        if "parts" in vars(self):
            names.parts = self.parts.with_more(ManyTexts.of(more)) if more else self.parts
        return names, places
