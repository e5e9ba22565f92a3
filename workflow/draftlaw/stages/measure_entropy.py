"""Measure each arm's entropy and predictability by position class."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from draftlaw.entropy import entropy_table
from draftlaw.errors import DraftLawError
from draftlaw.options import Out
from draftlaw.tables.positions import POSITIONS
from draftlaw.tables.prompts import PROMPTS
from draftlaw.tables.replay import ENTROPY, REPLAY


def main(
    arm: Annotated[list[str], typer.Option(help="Name of an arm; repeatable.")],
    prompts: Annotated[list[Path], typer.Option(help="Its frozen prompts, in the arms' order.")],
    positions: Annotated[list[Path], typer.Option(help="Its positions, in the arms' order.")],
    replay: Annotated[list[Path], typer.Option(help="Its replay table, in the arms' order.")],
    out: Out,
) -> None:
    """Write the entropy table."""
    counts = [len(arm), len(prompts), len(positions), len(replay)]
    if len(set(counts)) != 1:
        raise DraftLawError(
            f"--arm, --prompts, --positions, --replay are given {counts} times",
            "Give each of them once per arm, in the same order",
        )
    frames = [
        entropy_table(name, PROMPTS.read(frozen), POSITIONS.read(labelled), REPLAY.read(replayed))
        for name, frozen, labelled, replayed in zip(arm, prompts, positions, replay, strict=True)
    ]
    ENTROPY.write(pd.concat(frames, ignore_index=True), out)
