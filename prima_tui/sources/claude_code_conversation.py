"""One conversation of a Claude Code transcript, put together record by record: the main one, or a subagent's.

A reply of the model is spread over several records with one message id; a message typed while the model works can
stand in two or three places. Both become one exchange here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from prima_tui.model.session import Action, Exchange, FileChange
from prima_tui.sources.claude_code_branches import Branches
from prima_tui.sources.claude_code_records import Block, Content, Record, text_blocks
from prima_tui.sources.injected_text import TypedWords, typed_words
from prima_tui.sources.jsonl import instant

_SYNTHETIC = "<synthetic>"
"""The model named on texts that the program wrote itself (errors, limits, "No response requested.")."""
_NO_CONTENT = "(no content)"
"""Stands in for a message without text."""
_NOT_HUMAN = frozenset({"task-notification", "auto-continuation", "coordinator", "teammate", "hook", "system"})
FILE_TOOLS: dict[str, Action] = {"Write": "write", "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit"}
"""The tools that change files, and what they do."""
_PROMPTS_KEPT = 20

Stamp = str | int | float | None


@dataclass(slots=True)
class _Turn:
    """An exchange in the making."""

    user: str = ""
    texts: list[str] = field(default_factory=list)
    stamp: Stamp = None
    key: str = ""
    anchor: str = ""
    """Record id that tells the branch it is on."""
    compacted: bool = False


@dataclass(slots=True)
class _Steering:
    """A message typed while the model worked, and the kinds of places where it was seen."""

    words: str
    text: str
    stamp: Stamp
    key: str
    kinds: set[str]


class Conversation:
    """Collects the exchanges, file changes and prompts of one conversation from its records in file order."""

    def __init__(self, name: str, branches: Branches | None = None) -> None:
        """``name`` makes keys for records without an id; ``branches`` is told which records a person typed."""
        self._name = name
        self._branches = branches
        self._turns: list[_Turn] = []
        self._pending: _Turn | None = None
        self._reply: _Turn | None = None
        self._replies: dict[str, _Turn] = {}
        self._this_turn: set[str] = set()
        self._compacted = False
        self._usable: dict[str, bool] = {}
        self._unnamed = 0
        self._waiting: list[_Steering] = []
        self._taken: list[_Steering] = []
        self._delivered: list[_Steering] = []
        self._changes: dict[str, tuple[str, Action, Stamp, str]] = {}
        self._failed: set[str] = set()
        self._prompts: list[str] = []
        self._pictures = ""
        self._command_prompt = ""
        self._command = ""
        self.message_count = 0
        self.model: str | None = None
        self.first_words = ""

    def add_user(self, record: Record) -> None:
        """Take a user record in: a typed message, a command, tool results or something the program wrote."""
        if not self._is_first_usable(record):
            return
        content = record.message.content if record.message is not None else None
        tool_results = False
        usable = isinstance(content, str) and content != ""
        if isinstance(content, list):
            usable = bool(content)
            for block in content:
                if type(block) is Block and block.type == "tool_result":
                    tool_results = True
                    if block.is_error and block.tool_use_id:
                        self._failed.add(block.tool_use_id)
        self._note_usable(record, usable)
        human = _is_human(record)
        if record.isMeta or record.isCompactSummary or human is False or (tool_results and not human):
            return
        words = _words(content, human is True)
        if words.command or words.text:
            self._typed_record(record, words)

    def add_assistant(self, record: Record) -> None:
        """Take an assistant record in: text, tool uses, thinking, or a text that the program wrote."""
        first = self._is_first_usable(record)
        message = record.message
        if message is None:
            return
        content = message.content
        if message.model == _SYNTHETIC or record.isApiErrorMessage:
            return
        texts: list[str] = []
        changing: list[Block] = []
        # most records hold one block, and most blocks no text: looked at once, since this is done for every record
        for block in (content,) if isinstance(content, str) else content or ():
            if isinstance(block, str):
                text: str | None = block
            elif block.type == "text":
                text = block.text
            else:
                if block.type == "tool_use" and block.name in FILE_TOOLS:
                    changing.append(block)
                continue
            if text and (text := text.strip()) and text != _NO_CONTENT:
                texts.append(text)
        if first:
            self._note_usable(record, bool(content))
            if message.model:
                self.model = message.model
            self._add_reply(record, message.id or "", texts)
        elif turn := self._replies.get(message.id or ""):
            # a copy of the record says nothing new, but a later snapshot of the message can hold more of it
            turn.texts = [_grown(text, texts) for text in turn.texts]
        for use in changing:
            self._add_change(record, use)

    def add_attachment(self, record: Record) -> None:
        """Take an attachment in: of all of them only a queued command can hold a person's words."""
        attachment = record.attachment
        if attachment is None or attachment.type != "queued_command" or attachment.isMeta:
            return
        origin = attachment.origin.kind if attachment.origin is not None else None
        if attachment.commandMode == "task-notification" or origin in _NOT_HUMAN:
            return
        if self._is_first_usable(record, count=False):
            self._note_usable(record, True)
            words = _words(attachment.prompt, origin == "human")
            if words.text:
                self._steered(words.text, "attachment", record)

    def add_queue_operation(self, record: Record) -> None:
        """Take in that a message typed while the model works was queued, or taken from the queue to be delivered."""
        if record.operation == "dequeue" and self._waiting:
            # its text follows as a user record, though not always letter by letter (pasted text, references)
            self._taken.append(self._waiting.pop(0))
        if record.operation not in ("enqueue", "remove"):
            return
        words = _words(record.content, False)
        if not words.text:
            return
        if record.operation == "remove":
            self._steered(words.text, "remove", record)
        else:
            key = f"{self._name}#{self._next_number()}"
            steering = _Steering(_squeezed(words.text), words.text, record.timestamp, key, {"enqueue"})
            self._waiting.append(steering)

    def add_compaction(self) -> None:
        """Take in that the agent compacted its context here."""
        self._compacted = True

    def prompt_candidates(self) -> list[str]:
        """Return the texts that can give a title, best first: typed messages, a command with arguments, its name."""
        rest = (self._command_prompt, self._command, self._pictures)
        return self._prompts + [text for text in rest if text]

    def exchanges(self, agent: str = "") -> tuple[Exchange, ...]:
        """Return the exchanges in the order of the file. Nothing may be added afterwards."""
        self._flush()
        typed = {_squeezed(turn.user) for turn in self._turns}
        for steering in self._taken + self._waiting:
            # never delivered; a bare command is no message, and what was taken back may have been sent in another one
            if not steering.text.startswith("/") and not any(steering.words in text for text in typed):
                self._turns.append(_Turn(steering.text, [], steering.stamp, steering.key))
        self._taken, self._waiting = [], []
        result: list[Exchange] = []
        rewound = False
        for turn in self._turns:
            if self._branches is not None and turn.anchor:
                rewound = self._branches.is_left(turn.anchor)
            text = turn.texts[0] if len(turn.texts) == 1 else "\n\n".join(turn.texts)
            result.append(Exchange(turn.user, text, instant(turn.stamp), turn.key, agent, rewound, turn.compacted))
        return tuple(result)

    def anchor(self, message_id: str) -> object:
        """Return what stands, until :meth:`places` is asked, for the exchange that something belongs to now.

        That is the reply with this message id, else the message that waits for its reply, else the latest reply.
        """
        if message_id in self._this_turn:
            return self._replies[message_id]
        if self._pending is not None:
            return self._pending
        return self._reply if self._reply is not None else self._turns[-1] if self._turns else None

    def places(self) -> dict[int, int]:
        """Return the ``id()`` of each anchor to the place of its exchange; to be asked after :meth:`exchanges`."""
        return {id(turn): place for place, turn in enumerate(self._turns)}

    def files_changed(self) -> tuple[FileChange, ...]:
        """Return the file changes whose tool use did not fail, in the order of the file."""
        return tuple(
            FileChange(path, action, instant(stamp), explanation)
            for tool_use, (path, action, stamp, explanation) in self._changes.items()
            if tool_use not in self._failed
        )

    def _is_first_usable(self, record: Record, *, count: bool = True) -> bool:
        """Tell whether a record is to be used: of copies with one id the first that holds something."""
        uuid = record.uuid
        seen = self._usable.get(uuid) if uuid else None
        if seen is None:
            if count:
                self.message_count += 1
            if uuid:
                self._usable[uuid] = False
        return not seen

    def _note_usable(self, record: Record, usable: bool) -> None:
        if usable and record.uuid:
            self._usable[record.uuid] = True

    def _typed_record(self, record: Record, words: TypedWords) -> None:
        if self._branches is not None:
            self._branches.add_typed(record)
        if words.command:
            if not self._command:
                self._command = words.command
            if not words.text:
                self._forget_waiting(_squeezed(words.command))
                return
            if words.is_command and not self._command_prompt:
                self._command_prompt = words.text
        if words.steering:
            self._steered(words.text, "record", record)
            return
        if not self._forget_waiting(_squeezed(words.text)):
            self._taken.clear()
        self._delivered.clear()
        self._typed(words.text, record, is_prompt=not words.is_command)

    def _steered(self, text: str, kind: str, record: Record) -> None:
        """Take in words typed while the model worked, unless this turn has them already from another kind of place."""
        words = _squeezed(text)
        if not self._forget_waiting(words):
            for steering in self._delivered:
                if steering.words == words and kind not in steering.kinds:
                    steering.kinds.add(kind)
                    return
        self._delivered.append(_Steering(words, text, record.timestamp, "", {kind}))
        self._typed(text, record, is_prompt=True)

    def _forget_waiting(self, words: str) -> bool:
        """Drop the queued message of these words, which stands elsewhere too; tell whether there was one."""
        for queue in (self._taken, self._waiting):
            for place, steering in enumerate(queue):
                if steering.words == words:
                    del queue[place]
                    return True
        return False

    def _typed(self, text: str, record: Record, *, is_prompt: bool) -> None:
        self._flush()
        self._pending = self._new_turn(text, record)
        self._this_turn.clear()
        if not self.first_words:
            self.first_words = text
        if text.startswith(("[image]", "[document]")):
            self._pictures = self._pictures or text
        elif is_prompt and len(self._prompts) < _PROMPTS_KEPT:
            self._prompts.append(text)

    def _flush(self) -> None:
        """Make a message that got no reply an exchange of its own."""
        if self._pending is not None:
            self._turns.append(self._pending)
            self._pending = None

    def _new_turn(self, user: str, record: Record) -> _Turn:
        turn = _Turn(user, [], record.timestamp, self._key(record), record.uuid or "", self._compacted)
        self._compacted = False
        return turn

    def _add_reply(self, record: Record, message_id: str, texts: list[str]) -> None:
        known = self._replies.get(message_id)
        if known is not None and message_id not in self._this_turn:
            if all(text in known.texts for text in texts):
                return  # a copy, as a compaction keeps them
            known = None  # some gateways give every message the same id
        for text in texts:
            if known is None:
                known = self._begin_reply(record, message_id)
                known.texts.append(text)
            else:
                _merge(known.texts, text)
        if known is not None:
            self._reply = known

    def _begin_reply(self, record: Record, message_id: str) -> _Turn:
        turn, self._pending = self._pending, None
        if turn is None:
            turn = self._new_turn("", record)
        turn.key = message_id or self._key(record)
        if message_id:
            if message_id in self._replies:
                turn.key = f"{message_id}#{self._next_number()}"
            self._replies[message_id] = turn
            self._this_turn.add(message_id)
        self._turns.append(turn)
        return turn

    def _key(self, record: Record) -> str:
        return record.uuid or f"{self._name}#{self._next_number()}"

    def _next_number(self) -> int:
        self._unnamed += 1
        return self._unnamed

    def _add_change(self, record: Record, block: Block) -> None:
        path = block.input and (block.input.file_path or block.input.notebook_path)
        if not path or not block.name:
            return
        tool_use = block.id or f"#{self._next_number()}"
        if tool_use not in self._changes:
            explanation = "\n\n".join(self._reply.texts) if self._reply is not None else ""
            self._changes[tool_use] = (path, FILE_TOOLS[block.name], record.timestamp, explanation)


def _is_human(record: Record) -> bool | None:
    """Tell whether the record itself says that a person typed it; None where it says nothing."""
    kind = record.origin.kind if record.origin is not None else None
    if kind == "human" or (kind is None and record.promptSource == "typed"):
        return True
    return False if kind in _NOT_HUMAN or record.promptSource == "system" else None


def _words(content: Content, human: bool) -> TypedWords:
    """Return what a person typed in a content of several blocks; pictures alone read ``[image]``."""
    if isinstance(content, str):
        return typed_words(content, human=human)
    parts = [typed_words(text, human=human) for text in text_blocks(content)]
    text = "\n".join(part.text for part in parts if part.text)
    if not text and content and not any(part.command for part in parts):
        kinds = [block.type for block in content if type(block) is Block]
        text = "[image]" if "image" in kinds else "[document]" if "document" in kinds else ""
    return TypedWords(
        text,
        next((part.command for part in parts if part.command), ""),
        any(part.is_command for part in parts),
        any(part.steering for part in parts),
    )


def _merge(texts: list[str], text: str) -> None:
    """Add a block to a message's texts: an equal one is the same block, one that begins alike a later state of it."""
    for place, known in enumerate(texts):
        if known.startswith(text):
            return
        if text.startswith(known):
            texts[place] = text
            return
    texts.append(text)


def _grown(known: str, texts: list[str]) -> str:
    return next((text for text in texts if len(text) > len(known) and text.startswith(known)), known)


def _squeezed(text: str) -> str:
    """Return the text without white space, for comparing what two records say."""
    return "".join(text.split())
