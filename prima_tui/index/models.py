"""Which embedding model the settings ask for; only that one's code is imported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prima_tui.config import ModelSettings
from prima_tui.index.embedder import Embedder, EmbeddingModel


def chosen_model(settings: ModelSettings, cache: Path, env: Mapping[str, str]) -> EmbeddingModel:
    """Return the model, neither loaded nor connected yet; ``env`` is where an endpoint's key is looked up."""
    if settings.kind == "fastembed":
        from prima_tui.index.fastembed_models import FastembedModel

        return FastembedModel(settings.name, cache, download=settings.download)
    if settings.kind in ("ollama", "openai"):
        from prima_tui.index.endpoints import endpoint_model

        return endpoint_model(settings, env)
    return Embedder(cache)
