"""Which files a change of some others can concern: those that are about the same sessions, or hold copies of them.

So after a change of few files only few sessions are put together anew. Where that can't be told from what is known of
the files, all of them are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from prima_tui.model.session import split_keys
from prima_tui.sources.base import KnownFile, Source
from prima_tui.sources.reading import FileReading


def related_files(
    changed: Sequence[FileReading],
    gone: Collection[str],
    known: Mapping[str, KnownFile],
    sources: Mapping[str, Source],
) -> set[str] | None:
    """Return the paths of unchanged files that belong to the sessions which a change concerns.

    ``changed`` are files as they read now, new ones among them, ``gone`` the paths of those that are no more, ``known``
    all files as they were before. None: any session may be concerned.
    """
    paths = {*gone, *(one.file.path for one in changed)}
    before = [known[path] for path in paths if path in known]
    concerned = [*before, *(one.known for one in changed)]
    if any(one.tells or one.leaves or not _by_keys(one, sources) for one in concerned):
        return None
    among = {one.file.source for one in concerned}
    others = [one for path, one in known.items() if one.file.source in among and path not in paths]
    found = {one.file.path for one in others if one.tells}
    by_key: dict[tuple[str, bytes], list[KnownFile]] = defaultdict(list)
    for one in others:
        for key in split_keys(one.ties):
            by_key[one.file.source, key].append(one)
    waiting = [(one.file.source, key) for one in concerned for key in split_keys(one.ties)]
    seen = set(waiting)
    while waiting:
        for one in by_key[waiting.pop()]:
            if one.file.path not in found:
                found.add(one.file.path)
                new = {(one.file.source, key) for key in split_keys(one.ties)} - seen
                seen |= new
                waiting += new
    return found


def _by_keys(one: KnownFile, sources: Mapping[str, Source]) -> bool:
    return one.file.path.endswith(getattr(sources.get(one.file.source), "keyed", ()))


def summaries_cross(readings: Sequence[FileReading], gone: Collection[str], known: Mapping[str, KnownFile]) -> bool:
    """Tell whether a summary among these files, as they are now, and the other known ones may be about each other's.

    What is gone, and what was known of the files before, counts too.
    """
    if any(one.known.leaves for one in readings):
        return True
    own = {*gone, *(one.file.path for one in readings)}
    leaves = {leaf for path, one in known.items() if path not in own for leaf in split_keys(one.leaves)}
    if not leaves:
        return False
    keys = [one.record_keys for file in readings for one in file.transcripts]
    keys += [known[path].own_leaves for path in own if path in known]
    return any(not leaves.isdisjoint(split_keys(packed)) for packed in keys)
