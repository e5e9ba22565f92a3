"""Prompts from a local JSON Lines file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from draftlaw.errors import DraftLawError
from draftlaw.prompts.record import Prompt, Tool
from draftlaw.prompts.spec import JsonlSource

MEND = "Each line is an object with a text (or messages), and where wanted id, answer and tools"


def read(source: JsonlSource) -> list[Prompt]:
    """Every line of the file as a prompt.

    Raises:
        DraftLawError: no such file, or a line that is no prompt; it names file and line.
    """
    path = Path(source.path)
    prompts = []
    for number, line in enumerate(_lines(path), start=1):
        if line.strip():
            prompts.append(_prompt(_object(line, f"{path}, line {number}"), number, source))
    return prompts


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise DraftLawError(f"prompt file {path} does not exist", "Correct its path") from None
    except UnicodeDecodeError as error:
        raise DraftLawError(
            f"prompt file {path} is not UTF-8 (byte {error.start})", "Convert it to UTF-8"
        ) from None


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise DraftLawError(f"{where} is no JSON ({error})", MEND) from None
    if not isinstance(value, dict) or not ("text" in value or "messages" in value):
        raise DraftLawError(f"{where} has neither text nor messages", MEND)
    return value


def _prompt(value: dict[str, Any], number: int, source: JsonlSource) -> Prompt:
    name = str(value.get("id", f"{Path(source.path).stem}-{number}"))
    return Prompt(
        id=name,
        cluster=str(value.get("cluster", name)),
        turn=int(value.get("turn", 0)),
        source=str(value.get("source", source.path)),
        licence=source.licence,
        messages=value.get("messages") or [{"role": "user", "content": value["text"]}],
        tools=[Tool(**tool) for tool in value.get("tools", [])],
        parts=tuple(value.get("parts", source.parts)),
        ground_truth=value.get("answer"),
    )
