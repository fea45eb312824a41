"""Whether a terminal shows more than ASCII."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # by hand: the first thing a start does can't wait for the modules of types
    from collections.abc import Mapping

_NO_UNICODE_TERMINALS = frozenset({"linux", "vt100", "vt102", "vt220", "ansi", "dumb", "cons25"})


def speaks_unicode(env: Mapping[str, str], encoding: str | None) -> bool:
    """Tell whether the terminal shows more than ASCII, as the locale, the output's encoding and ``TERM`` say.

    No locale at all counts as Unicode, which is what terminals speak. Python itself sets ``LC_CTYPE`` in the plain C
    locale; so that says nothing there.
    """
    if env.get("TERM", "") in _NO_UNICODE_TERMINALS:
        return False
    if encoding and "utf" not in encoding.lower():
        return False
    named = env.get("LC_ALL") or env.get("LANG") or ""
    if not env.get("LC_ALL") and named.upper() not in ("C", "POSIX", ""):
        named = env.get("LC_CTYPE") or named
    return not named or "utf" in named.lower()
