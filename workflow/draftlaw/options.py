"""Command-line options that several stages share; structured ones are JSON, read by pydantic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from draftlaw.errors import DraftLawError

Model = TypeVar("Model", bound=BaseModel)

TargetFolder = Annotated[Path, typer.Option("--target", help="Folder of the target's checkpoint.")]
DraftFolder = Annotated[Path, typer.Option("--draft", help="Folder of the draft's checkpoint.")]
PromptsFile = Annotated[Path, typer.Option("--prompts", help="Table of frozen prompts.")]
ChatJson = Annotated[str, typer.Option("--chat", help="Chat format (JSON).")]
EngineJson = Annotated[str, typer.Option("--engine", help="Engine conditions (JSON).")]
StudyFolder = Annotated[Path, typer.Option("--folder", help="The study's results.")]
Arms = Annotated[list[str], typer.Option("--arm", help="An arm; may be repeated.")]
Depths = Annotated[list[int], typer.Option("--depth", help="A depth; may be repeated.")]
MaybeDepths = Annotated[list[int] | None, typer.Option("--depth", help="A depth, or several.")]
BaselineLaunches = Annotated[
    int, typer.Option("--baseline-launches", min=1, help="Launches of every baseline cell.")
]
SpeculativeLaunches = Annotated[
    int, typer.Option("--launches", min=1, help="Launches of every speculative cell.")
]
Evidence = Annotated[str, typer.Option("--evidence", help="Evidence grade of what is written.")]
Out = Annotated[Path, typer.Option("--out", help="File or folder to write.")]


def parse(model: type[Model], text: str, option: str) -> Model:
    """Read a structured option.

    Raises:
        DraftLawError: the JSON does not fit the model; the message names option, key and value.
    """
    try:
        return model.model_validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise DraftLawError(
            f"{option}: {key or 'value'} is {first['input']!r}: {first['msg']}",
            "Correct it in config.yaml",
        ) from None
