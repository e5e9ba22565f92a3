"""Generate an arm's outputs at one depth, and time every round: a cell's measurement."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from draftlaw.chat import ChatFormat
from draftlaw.conditions import EngineConditions
from draftlaw.engine import Engine, enter
from draftlaw.files import write_json
from draftlaw.options import ChatJson, EngineJson, PromptsFile, TargetFolder, parse


def main(
    prompts: PromptsFile,
    target: TargetFolder,
    depth: Annotated[int, typer.Option(min=0, help="Draft tokens per round; 0: baseline.")],
    batch: Annotated[list[int], typer.Option(min=1, help="Batch size; may be repeated.")],
    max_tokens: Annotated[int, typer.Option(min=1, help="Longest output, in tokens.")],
    engine: EngineJson,
    chat: ChatJson,
    traces: Annotated[Path, typer.Option(help="Table of outputs to write.")],
    rounds: Annotated[Path, typer.Option(help="Table of rounds to write.")],
    record: Annotated[Path, typer.Option(help="Record of conditions and counts to write.")],
    draft: Annotated[Path | None, typer.Option(help="Folder of the draft's checkpoint.")] = None,
    launch: Annotated[int, typer.Option(min=0, help="Number of this launch.")] = 0,
    repeat: Annotated[Path | None, typer.Option(help="Table of a second run's outputs.")] = None,
    again: Annotated[int, typer.Option(min=0, help="Requests in that second run.")] = 0,
) -> None:
    """Measure one launch of a cell: all batch sizes in one engine."""
    conditions = parse(EngineConditions, engine, "--engine")
    enter(conditions)
    # Libraries read the environment when they load, and loading them twice takes seconds.
    import psutil

    from draftlaw.measure import Cell, measure
    from draftlaw.tables.engine import ROUNDS, TRACES
    from draftlaw.tables.prompts import PROMPTS

    frame = PROMPTS.read(prompts)
    running = Engine(target, draft if depth else None, depth, conditions, max(batch))
    ready = time.time()
    cell = Cell(prompts.stem, depth, batch, max_tokens, launch)
    tags = parse(ChatFormat, chat, "--chat")
    measured = measure(running, frame, cell, tags)
    TRACES.write(measured.traces, traces)
    ROUNDS.write(measured.rounds, rounds)
    begun = psutil.Process().create_time()
    seconds = {"start_up": ready - begun, "measurement": time.time() - ready}
    if repeat is not None:
        repeated = frame.head(again)
        second = measure(running, repeated, cell, tags).traces if again else measured.traces[:0]
        TRACES.write(second, repeat)
    found = {"conditions": running.active_conditions(), "counters": measured.counters}
    write_json(record, {**found, "seconds": seconds})
