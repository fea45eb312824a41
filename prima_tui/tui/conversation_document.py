"""A conversation as a document: who says what, subagents where they worked, what was taken back, tools in between."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from prima_tui.model.hits import Conversation
from prima_tui.model.session import Exchange
from prima_tui.model.text import shown
from prima_tui.tui.document import YOU, Block, Document, Voice, document_of, text_pieces


class Asides(NamedTuple):
    """Tools and thinking of one exchange: what comes before the reply, and what follows it."""

    before: Sequence[Block] = ()
    after: Sequence[Block] = ()


_NOTHING = Asides()


def conversation_document(
    conversation: Conversation,
    words: tuple[str, ...],
    best: int | None,
    asides: Mapping[int, Asides] = MappingProxyType({}),
    around: int | None = None,
) -> Document:
    """Return a conversation as a document that opens at the exchange ``best`` (place from 0; None: at the start).

    ``asides`` are tools and thinking by place of their exchange. With ``around`` only so many exchanges before and
    after the best one are in it: made at once, however long the conversation is.

    Subagents, branches the user left and compactions of the agent's context are marked by dividers.
    """
    agent = shown(conversation.session.author or "Agent")
    blocks: list[Block] = []
    starts: dict[int, int] = {}
    helper, rewound = "", False
    order = reading_order(conversation.exchanges)
    if around is not None:
        middle = order.index(best) if best in order else 0
        order = order[max(0, middle - around) : middle + around + 1]
    for number in order:
        exchange = conversation.exchanges[number]
        starts[number] = len(blocks)
        if exchange.agent != helper:
            name = f"subagent {shown(exchange.agent)}" if exchange.agent else "main conversation"
            blocks.append(Block(name, "divider", nested=bool(exchange.agent)))
            helper = exchange.agent
        if exchange.compacted:
            blocks.append(Block("context compacted here", "divider"))
        if exchange.rewound != rewound:
            text = "taken back: the user went another way" if exchange.rewound else "the conversation goes on"
            blocks.append(Block(text, "divider"))
            rewound = exchange.rewound
        spoken = _exchange_blocks(exchange, number, shown(helper) or agent, number == best and bool(words), asides)
        blocks.extend(block._replace(nested=True) for block in spoken) if helper else blocks.extend(spoken)
    start = starts.get(best, 0) if best is not None else 0
    whole = len(order) == len(conversation.exchanges)
    return document_of(blocks, words, starts=starts, start=start, whole=whole)


def _exchange_blocks(
    exchange: Exchange, number: int, agent: str, best: bool, asides: Mapping[int, Asides]
) -> Iterator[Block]:
    before, after = asides.get(number, _NOTHING)
    if exchange.user:
        voice: Voice = "aside" if exchange.rewound else "user"
        yield from _spoken(text_pieces(exchange.user, voice, number), YOU, exchange, best)
    yield from before
    if exchange.assistant:
        voice = "aside" if exchange.rewound else "agent"
        yield from _spoken(text_pieces(exchange.assistant, voice, number), agent, exchange, best and not exchange.user)
    yield from after


def reading_order(exchanges: Sequence[Exchange]) -> list[int]:
    """Return the places of exchanges in the order they are read: a subagent's follow the reply that was last before.

    In a conversation they stand behind the main one. A subagent whose time isn't recorded stays there.
    """
    main = [number for number, exchange in enumerate(exchanges) if not exchange.agent]
    if len(main) == len(exchanges):
        return main
    times = [at for number in main if (at := exchanges[number].at) is not None]
    if len(times) < len(main) or times != sorted(times):
        return list(range(len(exchanges)))
    inserted: dict[int, list[int]] = {}
    helpers = (number for number, exchange in enumerate(exchanges) if exchange.agent)
    for _agent, group in groupby(helpers, key=lambda number: exchanges[number].agent):
        numbers = list(group)
        began = exchanges[numbers[0]].at
        place = bisect_right(times, began) - 1 if began is not None else len(main) - 1
        inserted.setdefault(max(0, place), []).extend(numbers)
    order: list[int] = []
    for place, number in enumerate(main):
        order.append(number)
        order += inserted.get(place, ())
    return order or list(range(len(exchanges)))


def _spoken(pieces: Iterable[Block], speaker: str, exchange: Exchange, best: bool) -> Iterator[Block]:
    """The blocks of one voice: the first names the speaker, a line is left free below the last."""
    blocks = list(pieces)
    answers = speaker != YOU and bool(exchange.user)
    if len(blocks) == 1:  # nearly always: made at once, which for a long conversation is a third of the time
        only = blocks[0]
        yield Block(
            only.text, only.voice, only.fence, only.exchange, speaker, exchange.at, answers, best, gap=True,
            columns=only.columns, head=only.head,
        )  # fmt: skip
        return
    for number, block in enumerate(blocks):
        first, last = number == 0, number == len(blocks) - 1
        yield block._replace(
            speaker=speaker if first else "",
            at=exchange.at if first else None,
            answers=answers,
            best=best and first,
            gap=last,
        )
