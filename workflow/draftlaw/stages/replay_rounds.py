"""Replay the rounds of every output at every depth, from where target and draft match."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from draftlaw.options import Out
from draftlaw.rounds_replay import replay_rounds
from draftlaw.tables.replay import REPLAY, REPLAYED_ROUNDS


def main(
    replay: Annotated[Path, typer.Option(help="Replay table.")],
    depth: Annotated[list[int], typer.Option(min=1, help="Draft tokens per round; repeatable.")],
    out: Out,
) -> None:
    """Write the table of replayed rounds."""
    REPLAYED_ROUNDS.write(replay_rounds(REPLAY.read(replay), depth), out)
