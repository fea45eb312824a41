"""Any other model that fastembed knows, by its name, run on this computer.

Its files are looked for on the disk only; they are fetched when, and only when, the user's configuration says so.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from prima_tui.config import private_folder
from prima_tui.errors import ModelUnavailable
from prima_tui.index.embedder import Embedder

if TYPE_CHECKING:
    from fastembed import TextEmbedding


class FastembedModel(Embedder):
    """A fastembed model by name; one session with several threads, since others than the small one are large."""

    workers = 1

    def __init__(self, model: str, cache: Path, *, download: bool = False) -> None:
        super().__init__(cache)
        self.name = f"fastembed:{model}"
        self._model = model
        self._cache = cache / "fastembed"
        self._download = download

    def _load(self) -> TextEmbedding:
        # the hub's client reads these when it is first imported, and asks nothing of the network then
        os.environ["HF_HUB_OFFLINE"] = "0" if self._download else "1"
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        from fastembed import TextEmbedding

        known = {str(one["model"]).lower() for one in TextEmbedding.list_supported_models()}
        if self._model.lower() not in known:
            raise ModelUnavailable(f"fastembed knows no model {self._model!r}")
        folder = private_folder(self._cache)
        try:
            return TextEmbedding(self._model, cache_dir=str(folder), local_files_only=not self._download)
        except Exception as error:
            if self._download:
                raise
            raise ModelUnavailable(
                f"{self._model} is not on this computer; set download = true under [model] in your own configuration,"
                " once, to fetch it"
            ) from error
