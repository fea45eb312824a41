"""What a table of settings may say about a server that is asked over HTTP: its address, its key, its patience.

A workspace's or project's file comes with whatever was checked out, so it is not trusted: it can't send the user's text
to another computer, nor name a variable that goes out as a key.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

_LONGEST_SECONDS = 3600
ONLY_THE_USERS = "can only be set in your own configuration"
"""What is wrong with an entry that a workspace's file may not have."""


def is_endpoint(url: str) -> bool:
    """Whether it is a plain http(s) address: no password in it, nothing that two readers might read in two ways."""
    if not re.fullmatch(r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:/[A-Za-z0-9._~/-]*)?", url):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def is_loopback(url: str) -> bool:
    """Tell whether an endpoint's address is on this very computer (``localhost``, ``127.0.0.0/8``, ``::1``)."""
    if not is_endpoint(url):
        return False
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def endpoint_fault(name: str, value: object, *, trusted: bool) -> str:
    """Return what is wrong with one entry about an endpoint, "" when nothing is; the value is never repeated.

    The entries are ``name`` (the model's), ``url``, ``key_env`` and ``timeout_seconds``; any other is no setting.
    """
    if name in ("key", "api_key"):
        return "a key belongs in an environment variable; name the variable with key_env"
    if name == "timeout_seconds":
        number = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _LONGEST_SECONDS
        return "" if number else "it is no number of seconds"
    if name not in ("name", "url", "key_env"):
        return "it is not a setting"
    if not isinstance(value, str) or not value.strip():
        return "it is no text"
    if name == "url" and not is_endpoint(value):
        return "it is no address like http://localhost:11434"
    if name == "url" and not trusted and not is_loopback(value):
        return "a file that comes with the project may only name an address on this computer, so your text stays here"
    if name == "key_env" and not trusted:
        return ONLY_THE_USERS
    return ""
