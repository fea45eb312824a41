"""A server of the SDK over standard input and output, where a line that is no message is answered too.

The SDK passes such a line over in silence. JSON-RPC asks for an error without an id, so that whoever sent the line
learns of it; the connection goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

if TYPE_CHECKING:
    from anyio.abc import ObjectSendStream
    from mcp.server.mcpserver import MCPServer
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    Line = SessionMessage | Exception


async def serve_stdio(server: MCPServer[dict[str, object]]) -> None:
    """Serve until the other side closes standard input."""
    inner = server._lowlevel_server  # the SDK has no other door between the lines and its server
    async with stdio_server() as (lines, answers), anyio.create_task_group() as group:
        messages, understood = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
        group.start_soon(_sort, lines, messages, answers)
        await inner.run(understood, answers, inner.create_initialization_options())
        group.cancel_scope.cancel()


async def _sort(
    lines: ReadStream[Line], messages: ObjectSendStream[Line], answers: WriteStream[SessionMessage]
) -> None:
    """Pass on what is a message, until the lines end; answer the rest."""
    async with messages:
        async for line in lines:
            if isinstance(line, Exception):
                await answers.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=_error(line))))
            else:
                await messages.send(line)


def _error(fault: Exception) -> ErrorData:
    invalid = isinstance(fault, ValidationError) and all(one["type"] != "json_invalid" for one in fault.errors())
    if invalid:
        return ErrorData(code=INVALID_REQUEST, message="the line is JSON, but no message of JSON-RPC 2.0")
    return ErrorData(code=PARSE_ERROR, message="the line is no JSON")
