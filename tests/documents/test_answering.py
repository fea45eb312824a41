"""Answers from an endpoint that streams, stalls, breaks off or talks nonsense: bounded, said in one line, checked."""

from __future__ import annotations

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from prima_tui.documents.answering import Written, prompt, write_answer
from prima_tui.documents.settings import AskSettings
from prima_tui.model.documents import Citation, DocumentHit
from prima_tui.model.hits import Cancel
from tests.documents.chat_server import Behaviour, event, send, serving, start, streaming

HITS = (
    DocumentHit("docs/setup.md", "Setup", "Setup > Linux", 3, 9, "Run `make`. See also INSTALL.md.", 50.0),
    DocumentHit("README.md", "Readme", "", 1, 2, "It is small.", 40.0),
)


def asked(url: str, timeout: float = 10.0, cancel: Cancel | None = None, **more: str) -> tuple[Written, list[str]]:
    pieces: list[str] = []
    settings = AskSettings(url, "tiny", more.get("key_env", ""), timeout)
    env = {"KEY": "sk-1"}
    return write_answer(settings, env, "how?", HITS, pieces.append, cancel or Cancel()), pieces


def answered(behaviour: Behaviour, **more: Any) -> Written:
    with serving(behaviour) as server:
        return asked(server.url, **more)[0]


def test_an_answer_streams_in_and_is_whole() -> None:
    with serving(streaming("Run ", "make ", "[1 docs/", "setup.md].")) as server:
        written, pieces = asked(server.url)
    assert written.text == "Run make [1 docs/setup.md]."
    assert "".join(pieces) == written.text
    assert len(pieces) > 1
    assert written.complete
    assert written.note == ""
    assert Citation("docs/setup.md", 1, True) in written.citations


def test_the_model_gets_numbered_chunks_and_the_rules() -> None:
    with serving(streaming("ok")) as server:
        asked(server.url + "/v1/")
    path, _headers, body = server.requests[0]
    assert path == "/v1/chat/completions"
    assert (body["model"], body["stream"]) == ("tiny", True)
    rules, text = (message["content"] for message in body["messages"])
    assert "Use only what the excerpts say" in rules
    assert "Cite" in rules
    assert text.index("[1] docs/setup.md, lines 3-9, under: Setup > Linux\nRun `make`.") < text.index("[2] README.md")
    assert text.endswith("Question: how?")
    assert body["messages"] == prompt("how?", HITS)


def test_a_key_is_sent_only_when_one_is_named_and_set() -> None:
    with serving(streaming("ok")) as server:
        asked(server.url)
        asked(server.url, key_env="KEY")
        missing, _pieces = asked(server.url, key_env="NO_SUCH")
    assert [headers.get("Authorization") for _path, headers, _body in server.requests] == [None, "Bearer sk-1"]
    assert "NO_SUCH" in missing.note


def test_a_citation_of_what_was_not_given_is_marked() -> None:
    written = answered(streaming("It is [2]. Also [7] and [3 other.md] and guide.md, see INS", "TALL.md."))
    assert written.text == (
        "It is [2]. Also [7] (not given) and [3 other.md] (not given) and guide.md (not given), see INSTALL.md."
    )
    unknown = [one.path for one in written.citations if not one.known]
    assert unknown == ["[7]", "other.md", "guide.md"]


def test_a_server_that_does_not_stream_is_understood() -> None:
    def whole(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        start(handler, kind="application/json")
        send(
            handler,
            json.dumps({"choices": [{"message": {"content": "Whole [1]."}, "finish_reason": "stop"}]}, indent=1),
        )

    written = answered(whole)
    assert (written.text, written.complete) == ("Whole [1].", True)


def test_what_a_model_thinks_aloud_first_is_left_out() -> None:
    assert answered(streaming("<thi", "nk>hm [9]", "</think>\n\nYes.")).text == "Yes."
    assert answered(streaming("<b", ">bold")).text == "<b>bold"


def test_nothing_there_is_one_line() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    written, _pieces = asked(f"http://127.0.0.1:{port}")
    assert "nothing answers at" in written.note


def test_an_endpoint_that_stalls_is_left_in_time_with_what_it_wrote() -> None:
    def stall(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        start(handler)
        event(handler, "The first part ")
        time.sleep(60)

    written = answered(stall, timeout=0.6)
    assert written.text == "The first part "
    assert not written.complete
    assert "0.6 seconds" in written.note


def test_an_endpoint_that_dribbles_is_left_when_its_time_is_over() -> None:
    written = answered(streaming(*["drop "] * 600, pause=0.1), timeout=0.7)
    assert written.text.count("drop") < 300
    assert written.text.startswith("drop drop")
    assert "not done within" in written.note


def test_an_endpoint_that_never_begins_is_left() -> None:
    written = answered(lambda handler, body: time.sleep(60), timeout=0.5)
    assert written.text == ""
    assert "0.5 seconds" in written.note


def test_cancelling_stops_it_at_once() -> None:
    cancel = Cancel()
    waited = threading.Event()

    def stall(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        time.sleep(60)
        waited.set()

    threading.Timer(0.3, cancel.cancel).start()
    written = answered(stall, cancel=cancel)
    assert written.note == "cancelled"
    assert not waited.is_set()


def test_an_answer_that_breaks_off_keeps_its_beginning() -> None:
    def break_off(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        start(handler)
        event(handler, "Half of ")

    written = answered(break_off)
    assert (written.text, written.complete) == ("Half of ", False)
    assert "broke off in the middle" in written.note


def test_an_error_in_the_stream_is_passed_on() -> None:
    def fail(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        start(handler)
        event(handler, "Half ")
        send(handler, 'data: {"error": {"message": "out of\\u001b[31m memory"}}\n\n')

    written = answered(fail)
    assert written.text == "Half "
    assert "out of" in written.note
    assert "\x1b" not in written.note


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (500, '{"error": "model crashed"}', "answered 500: model crashed"),
        (404, '{"error": {"message": "no such model"}}', "answered 404: no such model"),
        (401, "", "key_env under [ask]"),
        (503, "<html>busy</html>", "answered 503"),
    ],
)
def test_an_error_is_one_line(status: int, body: str, says: str) -> None:
    def refuse(handler: BaseHTTPRequestHandler, _body: dict[str, Any]) -> None:
        start(handler, status, "application/json")
        send(handler, body)

    written = answered(refuse)
    assert says in written.note
    assert "\n" not in written.note


def test_a_redirect_is_not_followed() -> None:
    written = answered(lambda handler, body: start(handler, 307, Location="http://models.example/v1/chat/completions"))
    assert "not followed" in written.note


@pytest.mark.parametrize(
    "nonsense",
    [
        "<html>hello</html>",
        "data: {not json}\n\ndata: 17\n\ndata: [DONE]\n\n",
        'data: {"choices": []}\n\ndata: {"choices": [{"delta": {"content": 5}}]}\n\n',
        '{"choices": [{"message": null}]}',
        "",
        "data: [DONE]\n\n",
        'data: {"choices": [{"delta": {"content": "  "}}]}\n\ndata: [DONE]\n\n',
        "\x00\xff" * 5000,
    ],
)
def test_nonsense_is_no_answer(nonsense: str) -> None:
    def talk(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        start(handler)
        send(handler, nonsense)

    written = answered(talk)
    assert written.text.strip() == ""
    assert not written.complete
    assert "no answer" in written.note


def test_an_answer_without_an_end_is_cut() -> None:
    def babble(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        start(handler)
        while True:
            event(handler, "babble " * 200)

    written = answered(babble, timeout=60)
    assert len(written.text) < 50_000
    assert "without an end" in written.note


def test_a_line_without_an_end_is_left() -> None:
    def flood(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        start(handler)
        while True:
            send(handler, "x" * 100_000)

    assert "no answer" in answered(flood, timeout=60).note


def test_the_limit_of_the_models_length_is_told() -> None:
    def long(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        start(handler)
        event(handler, "Long ")
        event(handler, "text", "length")

    written = answered(long)
    assert written.text == "Long text"
    assert "limit of its length" in written.note
