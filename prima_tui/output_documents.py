"""Documents, their hits and answers as JSON (the stable shapes) and as text. Pure: prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prima_tui.extracts import local_time
from prima_tui.model.documents import (
    Asked,
    DocumentHit,
    DocumentsAnswer,
    DocumentsProgress,
    DocumentsStatus,
)
from prima_tui.model.text import count_text, one_line, shown, snippet
from prima_tui.output import Json, document_json, instant

_STALE_SHOWN = 20


def documents_json(answer: DocumentsAnswer, warnings: Iterable[str]) -> Json:
    """Return what ``docs search`` prints."""
    return {
        "query": answer.query,
        "mode": answer.mode,
        "took_ms": round(answer.took_ms, 1),
        "warnings": [*answer.warnings, *warnings],
        "results": [document_json(hit) for hit in answer.hits],
    }


def documents_text(hits: Sequence[DocumentHit], words: Sequence[str]) -> str:
    """Return hits for people: where each one is, and the line that fits best."""
    if not hits:
        return "Nothing found in the documents."
    blocks = []
    for hit in hits:
        notes = [f"{hit.score:.0f}"]
        if hit.similarity is not None:
            notes.append(f"meaning {hit.similarity:.2f}")
        if hit.stale:
            notes.append("changed since it was indexed")
        lines = [f"{one_line(place(hit))}  {one_line(hit.heading or hit.title)} · {' · '.join(notes)}"]
        lines.append(f"    {snippet(hit.text, words, 200)}")
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def place(hit: DocumentHit) -> str:
    """Return file and lines of a hit, as editors and terminals understand it."""
    return f"{hit.path}:{hit.first_line}-{hit.last_line}"


def asked_json(asked: Asked, warnings: Iterable[str]) -> Json:
    """Return what ``docs ask`` prints."""
    return {
        "question": asked.question,
        "took_ms": round(asked.took_ms, 1),
        "results": [document_json(hit) for hit in asked.hits],
        "answer": asked.answer or None,
        "complete": asked.complete,
        "model": asked.model or None,
        "citations": [{"path": one.path, "number": one.number, "known": one.known} for one in asked.citations],
        "note": asked.note,
        "warnings": [*asked.warnings, *warnings],
    }


def chunks_text(hits: Sequence[DocumentHit]) -> str:
    """Return the chunks for a question, numbered as an answer cites them, each in full."""
    blocks = []
    for number, hit in enumerate(hits, 1):
        stale = " · changed since it was indexed" if hit.stale else ""
        head = f"[{number}] {place(hit)}  {hit.heading or hit.title} · {hit.score:.0f}{stale}"
        body = "\n".join(f"    {line}" for line in shown(hit.text).split("\n"))
        blocks.append(f"{one_line(head)}\n{body}")
    return "\n\n".join(blocks)


def citations_text(asked: Asked) -> str:
    """Return the line under an answer: what it cites, and what of it was not given; "" when it cites nothing."""
    numbered = {one.path for one in asked.citations if one.known}
    unknown = [one.path for one in asked.citations if not one.known]
    lines = []
    if numbered:
        places = dict.fromkeys(place(hit) for hit in asked.hits if hit.path in numbered)
        lines.append("Cited: " + ", ".join(map(one_line, places)))
    if unknown:
        lines.append("Not among the chunks given: " + ", ".join(map(one_line, dict.fromkeys(unknown))))
    return "\n".join(lines)


def progress_json(progress: DocumentsProgress) -> Json:
    """Return what ``docs index`` prints."""
    return {
        "files": progress.files_done,
        "files_pending": progress.files_total - progress.files_done,
        "files_unchanged": progress.files_unchanged,
        "files_removed": progress.files_removed,
        "chunks_embedded": progress.chunks_embedded,
        "chunks_reused": progress.chunks_reused,
        "seconds": round(progress.seconds, 1),
        "finished": progress.finished,
        "note": progress.note,
        "warnings": list(progress.warnings),
    }


def progress_text(progress: DocumentsProgress) -> str:
    """Return what ``docs index`` did, on one line."""
    return (
        f"{count_text(progress.files_done, 'file')} indexed,"
        f" {progress.files_unchanged} unchanged, {progress.files_removed} removed:"
        f" {count_text(progress.chunks_embedded, 'chunk')} embedded, {progress.chunks_reused} known already,"
        f" {progress.seconds:.1f} s"
    )


def documents_status_json(status: DocumentsStatus) -> Json:
    """Return what ``docs status`` prints."""
    return {
        "project": status.project,
        "index": status.index_path,
        "files": status.files,
        "chunks": status.chunks,
        "last_indexed": instant(status.last_indexed),
        "stale_files": list(status.stale_files),
        "model": status.model,
        "answering_model": status.answering_model or None,
        "collections": [{"name": name, "files": files} for name, files in status.collections],
        "warnings": list(status.warnings),
    }


def documents_status_text(status: DocumentsStatus) -> str:
    """Return the state of a project's documents for people."""
    lines = [
        f"Project    {one_line(status.project)}",
        f"Index      {one_line(status.index_path)}",
        f"Documents  {count_text(status.files, 'file')}, {count_text(status.chunks, 'chunk')}",
        f"Indexed    {local_time(status.last_indexed) or 'never'}",
        f"Model      {one_line(status.model)}",
        f"Answers    {one_line(status.answering_model) or 'no model configured'}",
    ]
    lines += [f"Collection {one_line(name)}: {count_text(files, 'file')}" for name, files in status.collections]
    if status.stale_files:
        more = len(status.stale_files) - _STALE_SHOWN
        lines += ["", f"New, changed or gone since ({len(status.stale_files)})"]
        lines += [f"  {one_line(path)}" for path in status.stale_files[:_STALE_SHOWN]]
        lines += [f"  … and {more} more"] * (more > 0)
    if status.warnings:
        lines += ["", "Warnings", *(f"  {one_line(line)}" for line in status.warnings)]
    return "\n".join(lines)
