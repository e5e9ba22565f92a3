"""The record every prompt source gives: a request in words, before any chat format is applied."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Part = Literal["think", "reply", "call"]
"""A piece of an assistant turn: a thinking block, free-form text, or one tool call."""

Message = dict[str, Any]
"""A chat message as chat templates take it: role, content, and tool_calls where there are some."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function offered to the model; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request: the context of exactly one assistant turn, and what is known of that turn.

    Attributes:
        id: unique within its source.
        cluster: the sampling unit; the request itself, or its trajectory in arm D.
        turn: position of the assistant turn in its trajectory, from 0; 0 for single requests.
        source: where it came from, with version, e.g. "bfcl-eval 2026.3.23 multi_turn_base".
        licence: SPDX identifier of the text.
        messages: the context, ending with a user or tool message.
        tools: the functions offered, ground truth and distractors alike.
        parts: the pieces the turn is made of, in order; B is one or more calls, D is mixed.
        ground_truth: what is known of the right answer (JSON value), None where nothing is.
    """

    id: str
    cluster: str
    turn: int
    source: str
    licence: str
    messages: list[Message]
    tools: list[Tool]
    parts: tuple[Part, ...]
    ground_truth: Any = field(default=None)
