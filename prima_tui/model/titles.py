"""Titles from what a person typed: the first line or sentence, without the polite opening, short enough for a list.

Text in, text out. What a program put into a message (tags, reminders) is taken out before, by the sources.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

UNTITLED = "Untitled Session"
WIDTH = 80
"""The longest title, in characters."""

# A message can be megabytes long (a pasted log); a title never needs more than its beginning.
_LOOKED_AT = 4_000

_LINE_END = re.compile(r"[\n\r\x0b\x0c\x85\u2028\u2029]+")
_COLOUR_CODE = re.compile(r"\x1b\[[0-9;:]*m")
_UNSHOWABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SPACES = re.compile(r"[\s\ufeff\u200b]+")
_BOLD = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")

_FENCE_LINE = re.compile(r"\s*(?:`{3,}|~{3,})\s*[\w+#.{}-]*\s*")
_RULE_LINE = re.compile(r"\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|={3,})\s*")
_LINE_MARKERS = re.compile(
    r"(?:\s*(?:#{1,6}(?=\s|$)|>+|[-*+•](?=\s)|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s)|`{3,}|~{3,}))+\s*"
)

# Taken off wherever they open the text.
_REQUEST = "|".join(
    [
        r"(?:can|could|would|will) (?:you|u)",
        r"(?:can|could) we",
        r"please|pls|plz|kindly",
        r"help me(?: (?:to|with)\b)?",
        r"(?:i|we) (?:want|need)(?: you)? to",
        r"i(?:['’]?d| would) (?:like|love)(?: you)? to",
        r"i wanna|i(?:['’]m| am) (?:trying|looking) to",
        r"let['’]s|let us",
    ]
)
# Taken off only before punctuation, another opening or at the end: in "hello world fails" the greeting is the matter.
_GREETING = "|".join(
    [
        r"(?:hi|hello|hey|hiya|dear)(?: (?:there|all|everyone|claude|codex|copilot|chatgpt))?",
        r"good (?:morning|afternoon|evening)(?: claude)?",
        r"claude|codex|copilot",
        r"ok|okay|alright|great|thanks|thank you",
    ]
)
# A greeting together with a name is one wherever it stands.
_ADDRESS = r"(?:hi|hello|hey|dear) (?:there|claude|codex|copilot)(?! code\b)"
_WORD_ENDS = r"(?![\w'’-])(?!\.\w)"
_SEPARATORS = r"[\s,.!:;…。，！、：–—-]*"
_CLOSERS = "\"'”’»)\\]`*_」』）"
# A full stop ends a sentence only after a word and before a space: not in "v1.2.3", "app.py", "git add . && make".
_SENTENCE_END = re.compile(rf"(?:(?<=\S)(?<!\.)\.(?!\.)|[!?]+)[{_CLOSERS}]*(?=\s|$)|[。！？]+[{_CLOSERS}]*")
_ABBREVIATION = re.compile(
    r"(?<!\w)(?:e\.g|i\.e|eg|ie|vs|cf|approx|incl|resp|fig|mr|mrs|ms|dr|prof|st|z\.b|d\.h|u\.a|bzw|ca|[A-Z])\.$",
    re.IGNORECASE,
)
_ETCETERA = re.compile(r"(?<!\w)(?:etc|a\.k\.a|al)\.$", re.IGNORECASE)


def title_from_prompt(text: str) -> str:
    """Return the title that a typed message gives: its first line or sentence, cleaned, at most 80 characters.

    Markdown markers and opening phrases ("can you", "please", "i want to" …, repeatedly) are taken off its start and
    the first letter is capitalised. A line that is nothing but an opening is passed over when another one follows,
    and kept when it is all there is. "" for a message of white space only.
    """
    kept = ""
    for line in _lines(text):
        rest, substance = _without_opening(line)
        if substance:
            return _finished(rest)
        kept = kept or rest
    return _finished(kept)


def first_title(prompts: Iterable[str]) -> str:
    """Return the title that the first prompt with usable words gives, "" when there is none."""
    return next((title for text in prompts if (title := title_from_prompt(text))), "")


def shorten(title: str, width: int = WIDTH) -> str:
    """Return the title on one line in at most ``width`` characters; a longer one is cut at a word and ends in ``…``.

    Scripts written without spaces are cut between any two characters, and a text with no place to cut is cut hard;
    never between a letter and its marks or inside a joined emoji. ``width`` below 1 gives "".
    """
    title = _one_line(title)
    if len(title) <= width:
        return title
    if width < 1:
        return ""
    for cut in range(width - 1, 0, -1):
        if title[cut].isspace() or _ideographic(title[cut - 1]) or _ideographic(title[cut]):
            whole = _cluster_start(title, cut)
            head = title[:whole].rstrip().rstrip(",;:–—-").rstrip()
            if head:
                return head + "…"
    return title[: _cluster_start(title, width - 1)].rstrip() + "…"


def _lines(text: str) -> list[str]:
    """Return the lines that hold something, without markdown markers; the bare text if markers are all there is."""
    found = []
    for line in _LINE_END.split(text[:_LOOKED_AT].lstrip()):
        if _FENCE_LINE.fullmatch(line) or _RULE_LINE.fullmatch(line):
            continue
        plain = _one_line(line)
        plain = _BOLD.sub(r"\2", plain[_marker_length(plain) :])
        if plain:
            found.append(plain)
    return found or [plain for plain in [_one_line(text[:_LOOKED_AT])] if plain]


def _marker_length(line: str) -> int:
    markers = _LINE_MARKERS.match(line)
    return markers.end() if markers else 0


def _one_line(text: str) -> str:
    """Return the text with control characters and runs of white space as single spaces, encodable as UTF-8."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    text = _SURROGATE.sub("\ufffd", _COLOUR_CODE.sub("", text))
    return _SPACES.sub(" ", _UNSHOWABLE.sub(" ", text)).strip()


@cache
def _openings() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what a request opens with, and a greeting: made when first wanted, since that takes 10 ms of a start."""
    request = rf"(?:{_REQUEST}|{_ADDRESS}){_WORD_ENDS}{_SEPARATORS}"
    another = rf"(?:{_REQUEST}|{_GREETING}){_WORD_ENDS}"
    goes_on = rf"\s*[,.!:;…。，！、：–—]{_SEPARATORS}|\s+-\s+|\s*$|\s+(?={another})"
    greeting = rf"(?:{_GREETING}){_WORD_ENDS}(?:{goes_on})"
    return re.compile(request, re.IGNORECASE), re.compile(greeting, re.IGNORECASE)


def _without_opening(line: str) -> tuple[str, bool]:
    """Return the line without its opening phrases, and whether more than an opening was there."""
    request, greeting = _openings()
    while opening := request.match(line) or greeting.match(line):
        rest = line[opening.end() :]
        if not any(letter.isalnum() for letter in rest):
            return line, False
        line = rest
    return line, True


def _finished(line: str) -> str:
    sentence = line[: _sentence_length(line)].strip()
    if sentence.endswith((".", "。")) and not _ABBREVIATION.search(sentence):
        sentence = sentence.rstrip(".。") or sentence
    sentence = sentence.rstrip(" ,;:") or sentence
    return shorten(_capitalised(sentence))


def _sentence_length(line: str) -> int:
    for end in _SENTENCE_END.finditer(line):
        head, following = line[max(0, end.end() - 12) : end.end()], line[end.end() :].lstrip()
        if line[end.start()] == ".":
            if _ABBREVIATION.search(head) or (_ETCETERA.search(head) and following[:1].islower()):
                continue
            if not any(letter.isalnum() for letter in line[: end.end()]):
                continue
        return end.end()
    return len(line)


def _capitalised(line: str) -> str:
    start = len(line) - len(line.lstrip("\"'“‘«([¿¡"))
    return line[:start] + line[start : start + 1].title() + line[start + 1 :]


def _ideographic(letter: str) -> bool:
    """Tell whether a character belongs to a script written without spaces (Han, kana and their punctuation)."""
    return (
        "\u3000" <= letter <= "\u30ff"
        or "\u3400" <= letter <= "\u9fff"
        or "\uf900" <= letter <= "\ufaff"
        or "\uff00" <= letter <= "\uff9f"
        or "\U00020000" <= letter <= "\U0003ffff"
    )


def _cluster_start(text: str, cut: int) -> int:
    """Return the last place at or before ``cut`` that is not inside a visible character, else ``cut``."""
    place = cut
    while place > 0 and _joined(text, place):
        place -= 1
    return place or cut


def _joined(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if before == "\u200d" or after == "\u200d" or unicodedata.category(after).startswith("M"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f" or "\u1160" <= after <= "\u11ff":
        return True
    if _flag_half(after):
        halves = len(text[:place]) - len(text[:place].rstrip(_FLAG_HALVES))
        return halves % 2 == 1
    return False


_FLAG_HALVES = "".join(map(chr, range(0x1F1E6, 0x1F200)))


def _flag_half(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"
