"""The chat format: how a request becomes prompt text, and the tags that delimit outputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from draftlaw.prompts.record import Part, Prompt

PositionClass = Literal["S", "R", "F"]
"""Schema-constrained tool call, extended reasoning, free-form prose (protocol, section 2)."""


class ChatFormat(BaseModel):
    """How this model family writes conversations, thoughts and tool calls."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    template: str | None = Field(
        default=None, description="Jinja chat template (a file); null: the tokenizer's own."
    )
    think_open: str = Field(default="<think>", description="Opens a thinking block.")
    think_close: str = Field(default="</think>", description="Closes a thinking block.")
    call_open: str = Field(default="<tool_call>", description="Opens a tool call.")
    call_close: str = Field(default="</tool_call>", description="Closes a tool call.")
    thinking: Literal["elicited", "native"] = Field(
        default="native",
        description="native: the model opens its blocks itself. elicited: it has no thinking "
        "mode; the prompt opens the turn's first block, and the grammar closes each.",
    )


class Tokenizer(Protocol):
    """What is needed of a Hugging Face tokenizer."""

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any:
        """Render messages by a Jinja template."""
        ...

    def __call__(self, text: str, *, add_special_tokens: bool) -> Any:
        """Encode a text."""
        ...


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt in the model's format.

    Attributes:
        text: the whole prompt, generation prompt and opened block included.
        token_ids: `text`, encoded.
        opened: the class of the block the prompt leaves open, None if it leaves none.
    """

    text: str
    token_ids: list[int]
    opened: PositionClass | None


def opened_by_prompt(parts: tuple[Part, ...], chat: ChatFormat) -> PositionClass | None:
    """The class of the block that the prompt opens on the model's behalf."""
    if chat.thinking == "native":
        return None
    first: dict[Part, PositionClass | None] = {"think": "R", "call": "S", "reply": None}
    return first[parts[0]]


def opening(opened: PositionClass | None, chat: ChatFormat) -> str:
    """The tag of the block that a prompt opens, with its line break; empty if it opens none."""
    tags = {"R": chat.think_open + "\n", "S": chat.call_open + "\n"}
    return tags.get(opened or "", "")


def render(prompt: Prompt, chat: ChatFormat, tokenizer: Tokenizer) -> Rendered:
    """Render and encode a request.

    Args:
        prompt: the request.
        chat: the format; its template, where there is one, is read here.
        tokenizer: of the target, which is also the draft's.
    """
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in prompt.tools
    ]
    options: dict[str, Any] = {"tools": tools or None, "add_generation_prompt": True}
    if chat.template is not None:
        options["chat_template"] = Path(chat.template).read_text(encoding="utf-8")
    text = str(tokenizer.apply_chat_template(prompt.messages, tokenize=False, **options))
    opened = opened_by_prompt(prompt.parts, chat)
    text += opening(opened, chat)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return Rendered(text, list(ids), opened)
