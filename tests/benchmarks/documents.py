"""Measure documents: ``python -m tests.benchmarks.documents [--files 2500] [--index 500] [--words 450] [--uneven]``.

Documents are of nearly one size, or with ``--uneven`` of sizes as they are found in projects: many notes, some
handbooks. Of the Markdown files that come with installed packages (591 of them) the median is 411 words; of pages
in the documentation folders of five well-known projects (18) it is some 900, with a mean of 1,500.

Makes projects of invented Markdown in a temporary folder: one whose walk and hashing are measured, unchanged, and one
that is indexed for the first time with the real model. What the model alone would take is measured in the same run, by
a plain onnxruntime loop before and after. Figures are of this run, on this machine, as it was loaded.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from prima_tui.config import Settings, paths_below
from prima_tui.documents.chunks import passages, split_outlined
from prima_tui.documents.document import digest, read_document
from prima_tui.documents.markdown import markdown_outline
from prima_tui.documents.walk import walk
from prima_tui.documents_memory import Documents
from prima_tui.index.embedder import Embedder
from tests.benchmarks.embedding import Plain

OWN = Path(__file__).parents[2]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in sorted(OWN.glob("assets/demo/*.txt")))
VOCABULARY = [word for word in TEXT.split() if word.isalpha()]
"""Words of real prose, as often as they stand there: invented ones would be several tokens each to the model."""


def words(numbers: random.Random, count: int) -> str:
    """Return so many words in no meaningful order."""
    return " ".join(numbers.choices(VOCABULARY, k=count))


_UNEVENNESS = 1.2
"""Of uneven sizes, the deviation of the logarithm; their mean is about twice their median."""


def make(root: Path, files: int, count: int, *, uneven: bool = False) -> None:
    """Write documents of about ``count`` words, in folders of fifty, each with sections of 60 to 200 words.

    With ``uneven`` half of them are shorter, a few many times as long.
    """
    numbers = random.Random(7)
    for number in range(files):
        place = root / f"part-{number // 50}" / f"page-{number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        parts = [f"# Page {number}"]
        wished = numbers.lognormvariate(math.log(count), _UNEVENNESS) if uneven else numbers.gauss(count, count / 3)
        left = max(20, int(wished))
        while left > 0:
            size = min(left, numbers.randint(60, 200))
            parts += [f"## {words(numbers, 3)}", words(numbers, size)]
            left -= size
        place.write_text("\n\n".join(parts), encoding="utf-8")
    (root / ".gitignore").write_text("build/\n*.pyc\n/dist\n!keep.md\n**/tmp/\n", encoding="utf-8")


def timed(work: Callable[[], object], times: int = 1) -> str:
    """Return the median and the worst of some runs."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return f"median {statistics.median(seconds):7.3f} s  worst {max(seconds):7.3f} s  n={times}"


def passages_below(root: Path) -> list[str]:
    """Return what the model reads of the documents, each text once."""
    files = walk(root).files
    documents = [read_document(file, (root / file.path).read_bytes()) for file in files]
    return list(dict.fromkeys(text for one in documents for chunk in one.chunks for text in passages(chunk, one.title)))


def tokens_a_second(plain: Plain, texts: list[str], most: int = 200) -> float:
    """Return what a plain loop reads a second, of a sample."""
    sample = random.Random(7).sample(texts, min(most, len(texts)))
    tokens = sum(len(one.ids) for one in plain.tokenizer.encode_batch(sample))
    started = time.perf_counter()
    plain.embed(sample)
    return tokens / (time.perf_counter() - started)


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2500)
    parser.add_argument("--index", type=int, default=500)
    parser.add_argument("--words", type=int, default=450)
    parser.add_argument("--uneven", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary, "walked")
        make(root, options.files, options.words, uneven=options.uneven)
        walk(root)
        print(f"walk, {options.files} files:           {timed(lambda: walk(root), 5)}")
        hashed = timed(lambda: [digest((root / file.path).read_bytes()) for file in walk(root).files], 5)
        print(f"walk and hash, {options.files} files:  {hashed}")
        texts = [(root / file.path).read_text() for file in walk(root).files]
        split = timed(lambda: [split_outlined(text, markdown_outline(text)) for text in texts])
        print(f"split, {options.files} files:          {split}")

        root = Path(temporary, "indexed")
        make(root, options.index, options.words, uneven=options.uneven)
        Documents.init(root)
        embedder = Embedder(Path(temporary, "cache"))
        embedder.query("load it before")
        documents = Documents(root, Settings(paths=paths_below(Path(temporary, "home"))), model=embedder)
        plain = Plain(Path(temporary, "cache", "model"), embedder.workers)
        read = passages_below(root)
        tokens = sum(len(one.ids) for one in plain.tokenizer.encode_batch(read))
        before = tokens_a_second(plain, read)
        used = time.process_time()
        print(f"first index, {options.index} files:     {timed(documents.index)}")
        print(f"    {time.process_time() - used:.1f} s of processor time")
        after = tokens_a_second(plain, read)
        texts = [(root / file.path).read_text() for file in walk(root).files]
        plain.tokenizer.no_truncation()
        given = sum(len(one.ids) for one in plain.tokenizer.encode_batch(texts, add_special_tokens=False))
        print(f"    {given} tokens in the files, {tokens} read by the model: headings above each passage, overlaps")
        print(f"    {tokens} tokens; plain onnxruntime {before:.0f} a second before it, {after:.0f} after it,")
        print(f"    which alone would be {tokens / before:.1f} and {tokens / after:.1f} s")
        status = documents.status()
        print(f"    {status.chunks} chunks, {sum(len(text.split()) for text in texts) / len(texts):.0f} words a file")
        print(f"unchanged pass, {options.index} files:  {timed(documents.index, 5)}")
        for mode in ("keyword", "semantic", "combined"):
            print(f"search, {mode}: {timed(lambda mode=mode: documents.search('session index', mode), 10)}")
        print(f"chunks for a question: {timed(lambda: documents.find('when is a file indexed', every_chunk=True), 10)}")
        documents.close()


if __name__ == "__main__":
    main()
