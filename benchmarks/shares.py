"""What a study's own records say of speed: replay against engine runs, and engine start-up.

The replay gives the accepted lengths of every depth from one pass; the engine needs a run for each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from draftlaw.files import read_json, write_json


def main(
    folder: Annotated[Path, typer.Option(help="A study's results.")],
    arm: Annotated[list[str], typer.Option(help="An arm; may be repeated.")],
    depth: Annotated[list[int], typer.Option(help="A depth; may be repeated.")],
    out: Annotated[Path, typer.Option(help="JSON file to write.")],
) -> None:
    """Write both ratios, by arm and in all."""
    replay = {name: _seconds(folder, name) for name in arm}
    engine = {
        name: sum(_run(folder, f"generate/{name}-g{gamma}-l0") for gamma in depth) for name in arm
    }
    records = [read_json(folder / f"engine/{a}-g{d}-l0.json") for a in arm for d in [0, *depth]]
    starts = sum(record["seconds"]["start_up"] for record in records)
    work = sum(record["seconds"]["measurement"] for record in records)
    ratios = [replay[name] / engine[name] for name in arm]
    found = {
        "replay_against_engine": {
            "what": f"replay of depths {depth} / as many engine runs, wall time with start-up",
            "by_arm": dict(zip(arm, ratios, strict=True)),
            "ratio": sum(replay.values()) / sum(engine.values()),
            "ratio_range": [min(ratios), max(ratios)],
        },
        "start_up": {
            "what": "engine start-up / all time of engine jobs",
            "engine_starts": len(records),
            "start_up_seconds": starts,
            "measurement_seconds": work,
            "ratio": starts / (starts + work),
        },
    }
    write_json(out, found)


def _seconds(folder: Path, arm: str) -> float:
    return _run(folder, f"replay_positions/{arm}") + _run(folder, f"replay_rounds/{arm}")


def _run(folder: Path, job: str) -> float:
    """Wall time of a job, from Snakemake's benchmark file, s."""
    return float(pd.read_csv(folder / f"benchmarks/{job}.tsv", sep="\t")["s"].iloc[0])


if __name__ == "__main__":
    typer.run(main)
