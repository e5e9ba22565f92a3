"""Grammars of assistant turns: built as structural tags, replayed as token masks, checked on text.

The same structural tag goes to the engine and to `Walker`, so that the positions where the engine
could choose are known exactly: how many tokens were allowed at each, and which.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jsonschema
import numpy as np
import numpy.typing as npt
import xgrammar as xgr

from draftlaw.chat import ChatFormat
from draftlaw.prompts.record import Part, Tool

Mask = npt.NDArray[np.int32]
"""Allowed tokens, 32 to a word, lowest bit first; shape [positions, ceil(vocabulary / 32)]."""


def turn_grammar(
    parts: Sequence[Part], tools: Sequence[Tool], chat: ChatFormat, think_budget: int
) -> dict[str, Any] | None:
    """The structural tag of a turn, or None where the model writes freely.

    Args:
        parts: the pieces of the turn.
        tools: the functions a call may name.
        chat: tags, and whether thinking is elicited.
        think_budget: characters of a thinking block before it is closed, where it is elicited.

    Native thinking: any text, and a grammar inside each tool-call tag the model opens.
    Elicited: the pieces in their order, the first one's opening tag being in the prompt; thinking
    is closed after at most `think_budget` characters.
    """
    if "call" not in parts and not (chat.thinking == "elicited" and "think" in parts):
        return None
    call = _call_tags(tools, chat)
    if chat.thinking == "native":
        triggered = {"type": "triggered_tags", "triggers": [chat.call_open], "tags": call}
        return {"type": "structural_tag", "format": triggered}
    elements: list[dict[str, Any]] = []
    for place, part in enumerate(parts):
        if part == "think":
            elements += _thinking(chat, think_budget)
        elif part == "call" and place == 0:
            elements.append({"type": "or", "elements": [_opened(tag) for tag in call]})
        elif part == "call":
            if parts[place - 1] == "call":
                elements.append({"type": "const_string", "value": "\n"})
            elements.append({"type": "or", "elements": call})
        else:
            elements.append(_free_text(chat))
    return {"type": "structural_tag", "format": {"type": "sequence", "elements": elements}}


def _thinking(chat: ChatFormat, budget: int) -> list[dict[str, Any]]:
    # In characters: xgrammar 0.2.8 does not restore a budget in tokens when the engine takes a
    # draft back, and then speculation changes the output.
    text = {**_free_text(chat), "max_chars": budget}
    return [text, {"type": "const_string", "value": f"\n{chat.think_close}\n\n"}]


def _free_text(chat: ChatFormat) -> dict[str, Any]:
    tags = [chat.think_open, chat.think_close, chat.call_open, chat.call_close]
    return {"type": "any_text", "excludes": tags}


def _call_tags(tools: Sequence[Tool], chat: ChatFormat) -> list[dict[str, Any]]:
    return [
        {
            "type": "tag",
            "begin": chat.call_open + "\n",
            # one blank at most between JSON tokens: a small model can pad a call without end
            "content": {
                "type": "json_schema",
                "json_schema": call_schema(tool),
                "max_whitespace_cnt": 1,
            },
            "end": "\n" + chat.call_close,
        }
        for tool in tools
    ]


def _opened(tag: dict[str, Any]) -> dict[str, Any]:
    """A call whose opening tag stands in the prompt."""
    end = {"type": "const_string", "value": tag["end"]}
    return {"type": "sequence", "elements": [tag["content"], end]}


def call_schema(tool: Tool) -> dict[str, Any]:
    """JSON Schema of a call of `tool`: its name, then its arguments (the Hermes format)."""
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": tool.parameters},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


class Walker:
    """Replays outputs through their grammar, token by token.

    Args:
        tokenizer: a Hugging Face tokenizer.
        vocab_size: width of the model's logits (at least the tokenizer's vocabulary).
    """

    def __init__(self, tokenizer: Any, vocab_size: int) -> None:
        self.info = xgr.TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocab_size)
        self._compiler = xgr.GrammarCompiler(self.info, cache_enabled=False)  # each is used once
        self.words = (vocab_size + 31) // 32
        self._in_last_word = np.int32(-1 if vocab_size % 32 == 0 else 2 ** (vocab_size % 32) - 1)

    def masks(self, grammar: str, token_ids: Sequence[int]) -> Walk:
        """The mask before each token of an output.

        Args:
            grammar: structural tag, as JSON.
            token_ids: the output, its stop token included where there is one.

        Once the grammar has ended only a stop token can follow, and the engine lets the output
        end there.
        """
        matcher = xgr.GrammarMatcher(self._compiler.compile_structural_tag(grammar))
        row = xgr.allocate_token_bitmask(1, self.info.vocab_size)
        masks = np.empty((len(token_ids), self.words), np.int32)
        for position, token in enumerate(token_ids):
            matcher.fill_next_token_bitmask(row)
            masks[position] = row[0].numpy()
            masks[position, -1] &= self._in_last_word  # the rest of it is padding
            if not matcher.accept_token(int(token)):
                return Walk(masks[: position + 1], refused=position)
        return Walk(masks, refused=None)


@dataclass(frozen=True, slots=True)
class Walk:
    """What a grammar said of an output.

    Attributes:
        masks: before each token, up to and including a refused one.
        refused: position of the first token the grammar does not allow, None if it allows all.
    """

    masks: Mask
    refused: int | None

    @property
    def allowed(self) -> npt.NDArray[np.int32]:
        """Number of tokens allowed at each position, shape [positions]."""
        counts: npt.NDArray[np.int32] = np.bitwise_count(self.masks.view(np.uint32)).sum(
            axis=1, dtype=np.int32
        )
        return counts


def unpack(masks: Mask, vocab_size: int) -> npt.NDArray[np.bool_]:
    """Allowed tokens as booleans, shape [positions, vocab_size]."""
    bits = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")
    return bits[:, :vocab_size].astype(np.bool_)


@dataclass(frozen=True, slots=True)
class CallCheck:
    """Whether the calls of an output are what they must be.

    Attributes:
        calls: complete or begun calls found in the text.
        valid: those that parse and satisfy the JSON Schema of the tool they name.
        problem: why the first bad one is bad, empty if none is.
    """

    calls: int
    valid: int
    problem: str


def check_calls(text: str, tools: Sequence[Tool], chat: ChatFormat) -> CallCheck:
    """Parse every call in `text` and validate it; failures are data, not errors.

    Args:
        text: an output, behind the opening tag of a block that its prompt opened.
        tools: the functions offered.
        chat: the tags.
    """
    pieces = text.split(chat.call_open)[1:]
    problems = [_problem(piece, tools, chat) for piece in pieces]
    bad = [problem for problem in problems if problem]
    return CallCheck(len(pieces), len(pieces) - len(bad), bad[0] if bad else "")


def _problem(piece: str, tools: Sequence[Tool], chat: ChatFormat) -> str:
    body, closed, _ = piece.partition(chat.call_close)
    if not closed:
        return "not closed"
    try:
        call = json.loads(body)
    except json.JSONDecodeError as error:
        return f"no JSON: {error.msg}"
    name = call.get("name") if isinstance(call, dict) else None
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        return f"unknown tool {name!r}"
    try:
        jsonschema.validate(call, call_schema(tool))
    except jsonschema.ValidationError as error:
        return f"{tool.name}: {error.message}"
    return ""
