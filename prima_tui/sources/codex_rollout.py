"""From the records of one Codex rollout to its conversation.

The newer formats write most things twice or three times: as traffic with the model (``response_item``) and as events
or items for the screen. They are matched turn by turn. A turn is what lies between the program's own marks; where
there are none, it begins with a typed message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime

from prima_tui.sources.codex_changes import Changes, may_patch
from prima_tui.sources.codex_text import environment_folder, has_image, part_texts, reply_text, typed_text
from prima_tui.sources.codex_tools import RolloutTools
from prima_tui.sources.codex_turns import Reply, ReplyKind, Turn, Typed, UserKind
from prima_tui.sources.codex_types import (
    CALLS,
    ITEMS,
    OUTPUTS,
    SILENT_COMPLETED,
    SILENT_EVENTS,
    SILENT_ITEMS,
    SILENT_RECORDS,
)
from prima_tui.sources.jsonl import Record, instant

_USUAL_STAMP = len("2026-11-30T04:52:50.721Z")


class Rollout:
    """Takes in the records of one file, in order; afterwards its fields hold what they said."""

    def __init__(self, tools: RolloutTools | None = None) -> None:
        """``tools`` takes in what tools were given and gave back, when that is asked for."""
        self.tools = tools
        self.meta: Record = {}
        """The payload of the first ``session_meta``, which is the session's own; {} when there is none."""
        self.root_id = ""
        """Id of the conversation that the copied history at the beginning comes from, else the own id."""
        self.folder = ""
        self.first_folder = ""
        self.model = ""
        self.name = ""
        self.goal = ""
        self.unknown: Counter[str] = Counter()
        self.records = 0
        self.changes = Changes()
        self._place = 0
        self._in_header = True
        self._turn = Turn(0)
        self._turns: list[Turn] = []
        self._stamp: object = None
        self._stamps: list[str] = []

    def take(self, record: Record) -> None:
        """Take in the next record, of any generation and in any shape."""
        self._place += 1
        self._stamp = None
        stamp = record.get("timestamp")
        kind = record.get("type")
        payload = record.get("payload")
        if isinstance(kind, str) and isinstance(payload, dict):
            self._stamp = stamp
            if type(stamp) is str:
                self._stamps.append(stamp)
            handler = _RECORDS.get(kind)
            if handler is not None:
                self.records += 1
                handler(self, payload)
                self._in_header = self._in_header and kind == "session_meta"
            elif kind not in SILENT_RECORDS:
                self.unknown[f'unknown record type "{kind[:60]}"'] += 1
            return
        self._bare(record, kind, stamp)

    def _bare(self, record: Record, kind: object, stamp: object) -> None:
        """Take in a record without an envelope: the first lines and items of 2025's formats."""
        if kind is None and isinstance(record.get("role"), str):
            kind = "message"
        if isinstance(kind, str) and kind in ITEMS:
            self._timed(stamp)
            self.records += 1
            self._in_header = False
            self._response_item(record if "type" in record else {**record, "type": "message"})
        elif kind is None and isinstance(record.get("id"), str) and isinstance(stamp, str):
            # its time is that of the session's start; the items of this format have none
            self.records += 1
            self._session_meta(record)
        elif "record_type" not in record:
            self._timed(stamp)
            named = isinstance(kind, str)
            self.unknown[f'unknown record type "{str(kind)[:60]}"' if named else "record without a known type"] += 1

    def times(self) -> tuple[datetime, datetime] | None:
        """Return the earliest and the latest time of a record; None when no record has one."""
        texts = self._stamps
        usual = [text for text in texts if len(text) == _USUAL_STAMP and text[-1] == "Z"]
        if len(usual) == len(texts) and usual:
            # equal forms sort as the times do
            first, last = instant(min(usual)), instant(max(usual))
            if first is not None and last is not None:
                return first, last
        found = sorted(at for text in texts if (at := instant(text)) is not None)
        return (found[0], found[-1]) if found else None

    def _timed(self, stamp: object) -> None:
        self._stamp = stamp
        if isinstance(stamp, str):
            self._stamps.append(stamp)

    # --- records ---

    def _session_meta(self, payload: Record) -> None:
        if not self.meta:
            self.meta = payload
            self.folder = self.first_folder = _string(payload.get("cwd")) or self.folder
            self.model = _string(payload.get("model"))
        if self._in_header and (identifier := _string(payload.get("id"))):
            # a fork of a fork has copied its parent's own copied line too: the last of them names the origin
            self.root_id = identifier

    def _turn_context(self, payload: Record) -> None:
        if folder := _string(payload.get("cwd")):
            self.folder = folder
            self.first_folder = self.first_folder or folder
        self.model = _string(payload.get("model")) or self.model
        if not self._turn.turn_id and not self._turn.closed:
            self._turn.turn_id = _string(payload.get("turn_id"))

    def _response_item(self, payload: Record) -> None:
        if "type" not in payload and "role" not in payload and isinstance(payload.get("item"), dict):
            payload = payload["item"]
        kind = payload.get("type", "message" if "role" in payload else None)
        if not isinstance(kind, str):
            self.unknown["record without a known type"] += 1
        elif kind == "message":
            self._message(payload)
        elif kind in OUTPUTS:
            if self.tools is not None:
                self.tools.item(self._place, payload, self.folder, self._stamp)
            self._turn.outputs += 1
            self._turn.active = True
            self.changes.output(payload)
        elif kind in CALLS:
            if self.tools is not None:
                self.tools.item(self._place, payload, self.folder, self._stamp)
            self._turn.active = True
            if may_patch(payload):
                self.changes.call(self._turn.number, payload, self.folder, self._stamp, self._turn.latest_reply)
        elif kind == "reasoning":
            self._turn.active = True
            if self.tools is not None:
                self.tools.item(self._place, payload, self.folder, self._stamp)
        elif kind not in SILENT_ITEMS:
            self.unknown[f'unknown item type "{kind[:60]}"'] += 1
        elif kind == "web_search_call" and self.tools is not None:
            self.tools.item(self._place, payload, self.folder, self._stamp)

    def _message(self, payload: Record) -> None:
        role = payload.get("role")
        content = payload.get("content")
        if role == "assistant":
            self._reply("response", reply_text(content))
        elif role == "user":
            passed = payload.get("internal_chat_message_metadata_passthrough")
            passed = passed if isinstance(passed, dict) else {}
            text = typed_text(content, passed.get("content_item_kinds"))
            if text or has_image(content):
                self._typed("response", text)
            if not self.first_folder:
                for part in part_texts(content):
                    if found := environment_folder(part):
                        self.folder = self.first_folder = found
        elif role not in ("developer", "system"):
            self.unknown["message without a known role"] += 1

    def _compacted(self, payload: Record) -> None:
        self._turn.compact(self._place, _string(payload.get("message")))

    # --- events ---

    def _event(self, payload: Record) -> None:
        kind = payload.get("type")
        if not isinstance(kind, str):
            self.unknown["event without a known type"] += 1
            return
        if self.tools is not None:
            self.tools.event(self._place, payload, self.folder, self._stamp)
        handler = _EVENTS.get(kind)
        if handler is not None:
            handler(self, payload)
        elif kind not in SILENT_EVENTS:
            self.unknown[f'unknown event type "{kind[:60]}"'] += 1

    def _user_message(self, payload: Record) -> None:
        text = typed_text(payload.get("message"))
        images = payload.get("images") or payload.get("local_images")
        if text or images:
            self._typed("event", text)

    def _agent_message(self, payload: Record) -> None:
        self._reply("event", reply_text(payload.get("message")))

    def _item_completed(self, payload: Record) -> None:
        item = payload.get("item")
        kind = item.get("type") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(kind, str):
            self.unknown["event without a known item"] += 1
            return
        if self.tools is not None:
            self.tools.event(self._place, item, self.folder, self._stamp)
        if kind == "UserMessage":
            content = item.get("content")
            text = typed_text(content)
            if text or has_image(content):
                self._typed("item", text)
        elif kind == "AgentMessage":
            self._reply("item", reply_text(item.get("content")))
        elif kind == "FileChange":
            self._patch_applied(item)
        elif kind not in SILENT_COMPLETED:
            self.unknown[f'unknown item type "{kind[:60]}"'] += 1

    def _turn_started(self, payload: Record) -> None:
        self._next_turn(_string(payload.get("turn_id")), marked=True)

    def _turn_complete(self, payload: Record) -> None:
        if last := reply_text(payload.get("last_agent_message")):
            self._reply("last", last)
        self._turn.closed = True

    def _rolled_back(self, payload: Record) -> None:
        """Drop the last turns of the user; what lies between and after them goes with them."""
        count = payload.get("num_turns")
        if not isinstance(count, int) or count < 1:
            return
        self._next_turn()
        with_user = [place for place, turn in enumerate(self._turns) if turn.has_user]
        if with_user:
            del self._turns[with_user[max(0, len(with_user) - count)] :]

    def _context_compacted(self, _payload: Record) -> None:
        self._turn.compactions.append(self._place)

    def _patch_applied(self, payload: Record) -> None:
        self.changes.record(self._turn.number, payload, self.folder, self._stamp, self._turn.latest_reply)

    def _review_ended(self, payload: Record) -> None:
        review = payload.get("review_output")
        if isinstance(review, dict) and (text := reply_text(review.get("overall_explanation"))):
            self._reply("review", text)

    def _renamed(self, payload: Record) -> None:
        self.name = _string(payload.get("thread_name")).strip()

    def _goal_updated(self, payload: Record) -> None:
        goal = payload.get("goal")
        if isinstance(goal, dict):
            self.goal = _string(goal.get("objective")) or self.goal

    # --- turns ---

    def _next_turn(self, turn_id: str = "", *, marked: bool = False) -> None:
        if not self._turn.empty:
            self._turns.append(self._turn)
        self._turn = Turn(self._turn.number + 1, turn_id, marked=marked)

    def _typed(self, kind: UserKind, text: str) -> None:
        turn = self._turn
        if turn.closed:
            if not turn.lacks(kind, text):
                self._next_turn()
        elif not turn.marked and not (text and turn.lacks(kind, text)):
            before = self._turns[-1] if self._turns else None
            if text and before is not None and not (before.marked or before.active) and before.lacks(kind, text):
                before.users.append(Typed(self._place, kind, text, self._stamp))
                return
            if turn.active or any(user.kind == kind for user in turn.users):
                self._next_turn()
        turn = self._turn
        turn.has_user = True
        if text:
            turn.users.append(Typed(self._place, kind, text, self._stamp))
            turn.latest_reply = ""

    def _reply(self, kind: ReplyKind, text: str) -> None:
        if self._turn.closed and kind != "last" and not any(reply.text == text for reply in self._turn.replies):
            self._next_turn()
        turn = self._turn
        turn.active = True
        if text:
            turn.replies.append(Reply(self._place, kind, text, self._stamp))
            turn.latest_reply = text

    def finished(self) -> list[Turn]:
        """Return the turns that stand, in order."""
        self._next_turn()
        return self._turns


# outside of the class, so that a rollout holds no reference to itself and is freed at once
_RECORDS: dict[str, Callable[[Rollout, Record], None]] = {
    "session_meta": Rollout._session_meta,
    "response_item": Rollout._response_item,
    "event_msg": Rollout._event,
    "turn_context": Rollout._turn_context,
    "compacted": Rollout._compacted,
}
_EVENTS: dict[str, Callable[[Rollout, Record], None]] = {
    "user_message": Rollout._user_message,
    "agent_message": Rollout._agent_message,
    "item_completed": Rollout._item_completed,
    "task_started": Rollout._turn_started,
    "turn_started": Rollout._turn_started,
    "task_complete": Rollout._turn_complete,
    "turn_complete": Rollout._turn_complete,
    "turn_aborted": Rollout._turn_complete,
    "thread_rolled_back": Rollout._rolled_back,
    "context_compacted": Rollout._context_compacted,
    "patch_apply_end": Rollout._patch_applied,
    "exited_review_mode": Rollout._review_ended,
    "thread_name_updated": Rollout._renamed,
    "thread_goal_updated": Rollout._goal_updated,
}


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
