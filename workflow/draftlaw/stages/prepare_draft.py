"""Prepare the draft's checkpoint in a local folder."""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import RootModel

from draftlaw.options import Out, TargetFolder, parse
from draftlaw.pair import DistilledModel, DraftModel, link_checkpoint


class _Draft(RootModel[DraftModel]):
    """Any kind of draft."""


def main(
    model: Annotated[str, typer.Option(help="Where the checkpoint comes from (JSON).")],
    target: TargetFolder,
    out: Out,
) -> None:
    """Write the folder; a checkpoint that exists already is linked."""
    draft = parse(_Draft, model, "--model").root
    if not isinstance(draft, DistilledModel):
        return link_checkpoint(draft, "draft", out)
    from draftlaw.checkpoints import prepare_distilled

    prepare_distilled(target, draft, out)
