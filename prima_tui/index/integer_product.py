"""The product of one row of small whole numbers with a matrix of them, as fast as memory is read.

NumPy multiplies whole numbers one by one. ONNX Runtime, which runs the embedding model anyway, has kernels for every
processor, and its MatMulInteger is one of its operators; the graph that holds it alone is written out here.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from prima_tui.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

GREATEST_LEFT = 127
"""The left factors are from 0 to this: two products of a greater one would not fit into the 16 bits of some kernels."""
GREATEST_RIGHT = 127
"""The right factors are from minus this to this."""

_UINT8, _INT8, _INT32 = 2, 3, 6
"""Element types as ONNX numbers them."""
_FORMAT, _OPERATORS = 8, 10
"""Versions of the graph's format and of its set of operators: the oldest that do, so that any runtime takes them."""


def integer_product(row: NDArray[np.uint8], columns: NDArray[np.int8]) -> NDArray[np.int32]:
    """Return ``row`` (shape (d,), 0 to 127) times ``columns`` (shape (d, n), contiguous, -127 to 127), shape (n,).

    Nothing is rounded. Other threads of the process run meanwhile. Raises ModelUnavailable without ONNX Runtime.
    """
    products: NDArray[np.int32] = _session().run(None, {"row": row[None], "columns": columns})[0][0]
    return products


@cache
def _session() -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise ModelUnavailable(f"ONNX Runtime can't be loaded: {error}") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(4, os.cpu_count() or 1)
    # a thread that waits for the next keystroke's search by spinning would take a core from everybody
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False
    return onnxruntime.InferenceSession(_graph(), options, providers=["CPUExecutionProvider"])


def _graph() -> bytes:
    """Return the graph: an ONNX file, which is a message in the format of protocol buffers."""
    node = _message((1, "row"), (1, "columns"), (2, "products"), (4, "MatMulInteger"))
    graph = _message(
        (1, node),
        (2, "product"),
        (11, _tensor("row", _UINT8)),
        (11, _tensor("columns", _INT8)),
        (12, _tensor("products", _INT32)),
    )
    return _message((1, _FORMAT), (7, graph), (8, _message((2, _OPERATORS))))


def _tensor(name: str, elements: int) -> bytes:
    """Return the declaration of an input or output with two dimensions of any size."""
    shape = _message((1, b""), (1, b""))
    return _message((1, name), (2, _message((1, _message((1, elements), (2, shape))))))


def _message(*fields: tuple[int, int | str | bytes]) -> bytes:
    """Return a message of numbered fields, each a number or a text or a message within."""
    packed = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            packed += _number(number << 3) + _number(value)
        else:
            content = value.encode() if isinstance(value, str) else value
            packed += _number(number << 3 | 2) + _number(len(content)) + content
    return bytes(packed)


def _number(value: int) -> bytes:
    """Return a number as seven bits a byte, the lowest first; the highest bit says that more follow."""
    packed = bytearray()
    while value > 127:
        packed.append(value & 127 | 128)
        value >>= 7
    packed.append(value)
    return bytes(packed)
