"""Compare the shipped draft with the one made again, on held-out prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from draftlaw.files import read_json, write_json
from draftlaw.heldout import judge
from draftlaw.options import Out
from draftlaw.results import Results


def main(
    shipped: Annotated[Path, typer.Option(help="Results with the shipped draft.")],
    rebuilt: Annotated[Path, typer.Option(help="Results with the draft made again.")],
    arm: Annotated[list[str], typer.Option(help="Kind of held-out prompts; may be repeated.")],
    depth: Annotated[int, typer.Option(help="Depth at which they are judged.")],
    history: Annotated[Path, typer.Option(help="How the training went.")],
    out: Out,
) -> None:
    """Write both drafts' figures side by side."""
    drafts = {
        label: [
            judge(name, results.rounds(name, 0), results.rounds(name, depth), results.replay(name))
            for name in arm
        ]
        for label, results in (("shipped", Results(shipped)), ("rebuilt", Results(rebuilt)))
    }
    write_json(out, {"depth": depth, **drafts, "training": read_json(history)})
