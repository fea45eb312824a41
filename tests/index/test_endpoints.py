"""Embedding models behind an endpoint, against a real server: both protocols, and everything that can go wrong."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import numpy as np
import pytest

from prima_tui.config import ModelSettings
from prima_tui.errors import ModelUnavailable
from prima_tui.index.endpoints import endpoint_model
from tests.index.endpoint_server import Endpoint, endpoint, vector_of


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with endpoint() as one:
        yield one


def ollama(url: str, name: str = "tiny", **more: object) -> ModelSettings:
    return ModelSettings(kind="ollama", name=name, url=url, **more)  # type: ignore[arg-type]


def openai(url: str, name: str = "tiny", **more: object) -> ModelSettings:
    return ModelSettings(kind="openai", name=name, url=url, **more)  # type: ignore[arg-type]


def failure(settings: ModelSettings, env: dict[str, str] | None = None) -> str:
    with pytest.raises(ModelUnavailable) as caught:
        endpoint_model(settings, env or {}).embed(["a text"])
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize("kind", [ollama, openai])
def test_every_text_gets_its_own_vector_of_length_one_in_order(server: Endpoint, kind: object) -> None:
    model = endpoint_model(kind(server.url), {})  # type: ignore[operator]
    texts = [f"text number {number}" for number in range(70)]
    vectors = model.embed(texts)
    assert len(server.requests) == 3
    for text, vector in zip(texts, vectors, strict=True):
        expected = np.array(vector_of(text, 12))
        assert vector.dtype == np.float32
        np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-5)
    query = model.query("text number 3")
    assert query.shape == (12,)
    assert server.texts()[-1] == "User: text number 3"


def test_an_older_ollama_is_asked_in_the_older_way(server: Endpoint) -> None:
    server.old_ollama = True
    model = endpoint_model(ollama(server.url), {})
    assert len(model.embed(["one", "two"])) == 2
    model.embed(["three"])
    paths = [path for path, _body, _headers in server.requests]
    assert paths == ["/api/embed", "/api/embeddings", "/api/embeddings", "/api/embeddings"]


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_an_address_may_end_in_the_version_or_not(server: Endpoint, ending: str) -> None:
    endpoint_model(openai(server.url + ending), {}).embed(["x"])
    assert server.requests[0][0] == "/v1/embeddings"


def test_the_key_is_taken_from_the_named_variable(server: Endpoint) -> None:
    server.key = "s3cret"
    settings = openai(server.url, key_env="MY_KEY")
    assert len(endpoint_model(settings, {"MY_KEY": "s3cret"}).embed(["x"])) == 1
    assert "MY_KEY" in failure(settings, {"MY_KEY": "another"})
    assert "another" not in failure(settings, {"MY_KEY": "another"})
    assert "MY_KEY" in failure(settings) and "not set" in failure(settings)
    assert "key_env" in failure(openai(server.url))
    assert "MY_KEY" in failure(settings, {"MY_KEY": "line\nbreak"})


def test_a_server_that_is_down_is_said_in_one_line_with_what_helps() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert "ollama serve" in failure(ollama(url)) and url in failure(ollama(url))
    assert url in failure(openai(url))


def test_a_missing_model_is_said_with_how_to_get_it(server: Endpoint) -> None:
    assert "ollama pull absent" in failure(ollama(server.url, "absent"))
    assert "no model absent" in failure(openai(server.url, "absent"))


def test_a_path_that_is_not_there_is_no_missing_model(server: Endpoint) -> None:
    server.answer = (404, b'{"detail": "Not Found"}')
    assert "is no Ollama" in failure(ollama(server.url))
    assert "is it an endpoint for embeddings" in failure(openai(server.url))


@pytest.mark.parametrize("how", ["stall", "drip"])
def test_a_server_that_stalls_is_given_up_in_time_and_left_alone_for_a_moment(server: Endpoint, how: str) -> None:
    setattr(server, how, 0.2 if how == "drip" else 30.0)
    model = endpoint_model(ollama(server.url, timeout_seconds=0.5), {})
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.5 seconds"):
        model.embed(["x"])
    with pytest.raises(ModelUnavailable):
        model.query("x")
    assert server.answered == 0
    assert len(server.requests) == 1


def test_too_long_texts_are_sent_one_by_one_and_then_shortened(server: Endpoint) -> None:
    server.longest = 1_200
    texts = ["short one", "word " * 400, "another"]
    vectors = endpoint_model(openai(server.url), {}).embed(texts)
    expected = np.array(vector_of(texts[1][:1_000], 12))
    np.testing.assert_allclose(vectors[1], expected / np.linalg.norm(expected), atol=1e-5)
    server.longest = 3
    assert "refused a text" in failure(openai(server.url))


NONSENSE = [
    b"",
    b"<html>welcome</html>",
    b"[]",
    b"null",
    b"17",
    b"{}",
    b'{"embeddings": [], "data": []}',
    b'{"embeddings": [[]], "data": [{"index": 0, "embedding": []}]}',
    b'{"embeddings": [[[1, 2], [3, 4]]], "data": [{"index": 0, "embedding": [[1, 2], [3, 4]]}]}',
    b'{"embeddings": [["a", "b"]], "data": [{"index": 0, "embedding": ["a", "b"]}]}',
    b'{"embeddings": [[1, null]], "data": [{"index": 0, "embedding": [1, null]}]}',
    b'{"embeddings": [[0, 0]], "data": [{"index": 0, "embedding": [0, 0]}]}',
    b'{"embeddings": [[1e300, 2]], "data": [{"index": 0, "embedding": [1e300, 2]}]}',
    b'{"embeddings": [[1, 2], [3, 4]], "data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}',
    b'{"embeddings": "x", "data": "x"}',
    b'{"embeddings": [{}], "data": [7]}',
    b'{"embeddings": [null], "data": [{"index": "zero", "embedding": [1, 2]}]}',
    b'{"embeddings": ["aGVsbG8="], "data": [{"index": 0, "embedding": "aGVsbG8="}]}',
    b"\xff\xfe\x00",
]


@pytest.mark.parametrize("data", NONSENSE)
@pytest.mark.parametrize("kind", [ollama, openai])
def test_nonsense_is_one_line_and_never_a_vector(server: Endpoint, kind: object, data: bytes) -> None:
    server.answer = (200, data)
    assert server.url in failure(kind(server.url))  # type: ignore[operator]


@pytest.mark.parametrize("kind", [ollama, openai])
@pytest.mark.parametrize("status", [301, 302, 307, 400, 403, 418, 429, 500, 503])
def test_an_error_says_its_number_and_what_the_server_says(server: Endpoint, kind: object, status: int) -> None:
    server.answer = (status, json.dumps({"error": "the cat\x1b[2J sleeps\nhere"}).encode())
    server.headers = {"Location": "http://example.invalid/"} if status < 400 else {}
    line = failure(kind(server.url))  # type: ignore[operator]
    assert str(status) in line
    assert "\x1b" not in line
    assert status in (301, 302, 307, 403) or "sleeps" in line


def test_a_size_that_changes_is_told(server: Endpoint) -> None:
    model = endpoint_model(ollama(server.url), {})
    model.embed(["x"])
    server.size = 13
    with pytest.raises(ModelUnavailable, match="13 numbers after some of 12"):
        model.embed(["x"])


def test_a_proxy_is_never_between_this_computer_and_itself(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert len(endpoint_model(ollama(server.url), {}).embed(["x"])) == 1
