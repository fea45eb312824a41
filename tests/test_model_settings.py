"""The embedding model that the configuration asks for, what a workspace may not ask for, and an index of another."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from prima_tui.config import MEMORY_FOLDER, ModelSettings, Settings, load_settings, paths_below
from prima_tui.endpoint_settings import is_loopback
from prima_tui.errors import ModelUnavailable
from prima_tui.index.embedder import DEFAULT_MODEL, Embedder
from prima_tui.index.models import chosen_model
from tests.index.endpoint_server import Endpoint, endpoint
from tests.world import World

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with endpoint() as one:
        yield one


def settings(world: World, user: str = "", workspace: str = "") -> Settings:
    paths = paths_below(world.home)
    for folder, text in ((paths.config, user), (world.workspace / MEMORY_FOLDER, workspace)):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text, "utf-8")
    return load_settings(world.workspace, paths)


def test_with_nothing_set_the_built_in_model_reads_the_history(world: World) -> None:
    assert load_settings(world.workspace, paths_below(world.home)).model == ModelSettings()
    assert settings(world).model == ModelSettings()
    assert type(chosen_model(ModelSettings(), world.home, {})) is Embedder


def test_the_users_table_names_any_kind(world: World) -> None:
    found = settings(
        world,
        '[model]\nkind = "openai"\nname = "big"\nurl = "https://models.example/v1"\nkey_env = "K"\n'
        "timeout_seconds = 5\n",
    )
    expected = ModelSettings(
        kind="openai", name="big", url="https://models.example/v1", key_env="K", timeout_seconds=5.0
    )
    assert found.problems == ()
    assert found.model == expected


def test_a_name_alone_is_one_of_fastembeds(world: World) -> None:
    assert settings(world, '[model]\nname = "BAAI/bge-small-en-v1.5"\n').model.kind == "fastembed"


def test_the_workspaces_table_lies_over_the_users(world: World) -> None:
    user = '[model]\nkind = "ollama"\nname = "one"\nurl = "http://big.example:11434"\n'
    found = settings(world, user, '[model]\nname = "two"\n')
    assert (found.model.name, found.model.url) == ("two", "http://big.example:11434")
    assert found.problems == ()


REMOTE = [
    "http://models.example",
    "https://10.0.0.7:11434",
    "http://localhost.example",
    "http://127.0.0.1.example",
    "http://0.0.0.0:80",
    "http://[2001:db8::1]/",
    "http://[::ffff:10.0.0.7]/",
    "http://2130706433.example/",
]
MALFORMED = [
    "http://127.0.0.1@models.example",
    "http://user:secret@localhost",
    "http://localhost\\@models.example",
    "http://localhost#@models.example",
    "http://localhost?@models.example",
    "http://localhost:80:80",
    "http://localhost:99999",
    " http://localhost",
    "http://localhost\n",
    "ftp://localhost",
    "//localhost",
    "file:///etc/passwd",
    "localhost:11434",
    "http://",
    "http://lоcalhost",  # a letter of another alphabet
]


@pytest.mark.parametrize("url", REMOTE + MALFORMED)
def test_a_workspace_can_not_send_the_history_beyond_this_computer(world: World, url: str) -> None:
    text = f'[model]\nkind = "ollama"\nname = "m"\nurl = {orjson.dumps(url).decode()}\n'
    found = settings(world, workspace=text)
    assert found.model.url == ""
    assert len(found.problems) == 1
    assert "url is ignored" in found.problems[0]
    assert "secret" not in found.problems[0]


@pytest.mark.parametrize(
    "url", ["http://localhost:11434", "http://127.0.0.1:8080/v1", "http://[::1]:1/", "http://127.9.9.9"]
)
def test_a_workspace_may_name_an_address_on_this_computer(world: World, url: str) -> None:
    assert is_loopback(url)
    found = settings(world, workspace=f'[model]\nkind = "openai"\nname = "m"\nurl = "{url}"\n')
    assert found.problems == ()
    assert found.model.url == url


@pytest.mark.parametrize("url", MALFORMED)
def test_an_address_that_two_readers_might_read_in_two_ways_is_none_for_the_user_either(world: World, url: str) -> None:
    found = settings(world, f'[model]\nkind = "ollama"\nname = "m"\nurl = {orjson.dumps(url).decode()}\n')
    assert found.model.url == ""
    assert len(found.problems) == 1


def test_a_workspace_gets_no_key_and_no_download(world: World) -> None:
    user = '[model]\nkind = "openai"\nname = "m"\nurl = "https://models.example"\nkey_env = "K"\ndownload = true\n'
    at_home = settings(world, user, '[model]\nurl = "http://localhost:9"\n')
    assert (at_home.model.url, at_home.model.key_env) == ("http://localhost:9", "")
    other_kind = settings(world, user, '[model]\nkind = "fastembed"\nname = "x"\n')
    assert other_kind.model == ModelSettings(kind="fastembed", name="x")
    asked = settings(world, "", '[model]\nname = "x"\nkey_env = "AWS_SECRET_ACCESS_KEY"\ndownload = true\n')
    assert (asked.model.key_env, asked.model.download) == ("", False)
    assert len(asked.problems) == 2


def test_a_key_in_a_file_is_refused_without_being_repeated(world: World) -> None:
    found = settings(world, '[model]\nkind = "ollama"\nname = "m"\nkey = "sk-very-secret"\n')
    assert "key_env" in found.problems[0]
    assert "secret" not in "".join(found.problems)


@pytest.mark.parametrize(
    "table",
    [
        'kind = "magic"',
        "name = 3",
        'name = ""',
        'timeout_seconds = "long"',
        "timeout_seconds = -1",
        "timeout_seconds = true",
        'download = "yes"',
        'colour = "red"',
        'kind = "ollama"',
        'kind = "openai"\nname = "m"',
    ],
)
def test_a_table_with_a_fault_is_named_and_the_built_in_model_stands(world: World, table: str) -> None:
    tomllib.loads(f"[model]\n{table}\n")
    found = settings(world, f"[model]\n{table}\n")
    assert found.model == ModelSettings()
    assert len(found.problems) == 1


def test_a_fastembed_model_that_is_not_on_the_disk_is_not_fetched_unasked(world: World) -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise SystemExit('connected')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from pathlib import Path\n"
        "from prima_tui.config import ModelSettings\n"
        "from prima_tui.index.models import chosen_model\n"
        "for name in ('BAAI/bge-small-en-v1.5', 'nobody/nothing'):\n"
        "    try: chosen_model(ModelSettings(kind='fastembed', name=name), Path(sys.argv[1]), {}).query('x')\n"
        "    except Exception as error: print(type(error).__name__, error)\n"
    )
    command = [sys.executable, "-c", code, str(world.home)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert len(lines) == 2
    assert lines[0].startswith("ModelUnavailable") and "download = true" in lines[0]
    assert lines[1].startswith("ModelUnavailable") and "knows no model" in lines[1]


def test_the_built_in_model_does_without_the_endpoints() -> None:
    code = (
        "import sys, pathlib\n"
        "from prima_tui.config import ModelSettings\n"
        "from prima_tui.index.models import chosen_model\n"
        "chosen_model(ModelSettings(), pathlib.Path('.'), {})\n"
        "print([m for m in ('httpx', 'fastembed', 'prima_tui.index.endpoints') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.stdout == "[]\n", done.stderr


def configure(world: World, text: str) -> None:
    settings(world, text)


def ollama_table(server: Endpoint, name: str = "tiny") -> str:
    return f'[model]\nkind = "ollama"\nname = "{name}"\nurl = "{server.url}"\n'


def test_an_endpoints_vectors_of_any_size_are_searched(world: World, server: Endpoint) -> None:
    world.believable()
    server.size = 20
    configure(world, ollama_table(server))
    memory = world.memory()
    memory.refresh()
    progress = memory.update_index()
    assert progress.finished and progress.exchanges_embedded > 4
    again = world.memory()
    again.refresh()
    assert again.update_index().exchanges_embedded == 0
    answer = again.search("Totals on receipts are a cent off", "semantic")
    assert answer.warnings == ()
    assert answer.hits[0].session.branch == "cents"
    assert again.status().model == "ollama:tiny"


def test_a_changed_model_asks_for_a_rebuild_answers_by_word_and_never_mixes(
    world: World, server: Endpoint, embedder: Embedder
) -> None:
    world.believable()
    first = world.memory(embedder)
    first.refresh()
    assert first.update_index().finished
    world.claude("new", [("A rhinoceros in the parser", "It is gone.")])

    configure(world, ollama_table(server))
    memory = world.memory()
    memory.refresh()
    progress = memory.update_index()
    assert not progress.finished
    assert "rebuild is due" in progress.note and DEFAULT_MODEL in progress.note and "ollama:tiny" in progress.note
    answer = memory.search("rhinoceros")
    assert len(answer.hits) == 1
    assert "rebuild is due" in answer.warnings[0]
    assert server.requests == []

    # writing past the update is refused as well
    with pytest.raises(ModelUnavailable, match="rebuild is due"):
        memory._semantic().write([], {}, [])

    assert memory.rebuild().finished
    assert memory.update_index().finished
    answer = memory.search("rhinoceros in the parser", "semantic")
    assert answer.warnings == ()
    assert len(answer.hits) >= 1

    # back to the built-in model: once more, and the other way round
    configure(world, "")
    back = world.memory(embedder)
    back.refresh()
    assert "rebuild is due" in back.update_index().note
    assert back.rebuild().finished
    assert back.search("rhinoceros in the parser", "semantic").warnings == ()


def test_a_rebuild_begun_with_another_model_starts_afresh(world: World, server: Endpoint, embedder: Embedder) -> None:
    from prima_tui.model.hits import Cancel

    world.claude("long", [(f"question {number} of many", f"answer {number}") for number in range(120)])
    first = world.memory(embedder)
    first.refresh()
    cancel = Cancel()
    first.rebuild(lambda progress: cancel.cancel() if progress.exchanges_embedded >= 8 else None, cancel)
    assert first.rebuild_state() == "interrupted"
    configure(world, ollama_table(server))
    memory = world.memory()
    memory.refresh()
    assert memory.rebuild().finished
    assert len(server.texts()) == 120
    assert memory.search("question 7 of many", "semantic").warnings == ()


def test_another_size_under_the_same_name_asks_for_a_rebuild(world: World, server: Endpoint) -> None:
    world.believable()
    configure(world, ollama_table(server))
    first = world.memory()
    first.refresh()
    assert first.update_index().finished
    server.size = 16
    world.claude("new", [("A rhinoceros in the parser", "It is gone.")])
    memory = world.memory()
    memory.refresh()
    assert "16 numbers" in memory.update_index().note
    assert "rebuild is due" in memory.search("rhinoceros").warnings[0]
    assert memory.rebuild().finished
    assert memory.search("rhinoceros", "semantic").warnings == ()


def test_an_endpoint_that_goes_down_leaves_the_keyword_results(world: World, server: Endpoint) -> None:
    world.believable()
    configure(world, ollama_table(server))
    memory = world.memory()
    memory.refresh()
    memory.update_index()
    server.answer = (503, b"no")
    answer = memory.search("cookie")
    assert answer.hits
    assert "503" in answer.warnings[0]
    world.claude("new", [("A rhinoceros in the parser", "It is gone.")])
    memory.refresh()
    assert "503" in memory.update_index().note
