"""What measuring costs: generation timed step by step against plain `LLM.generate`.

Each repetition starts both engines in turn, each in a process of its own, and generates the same
waves of the same requests; engine start-up and warm-up are not counted.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from draftlaw.conditions import EngineConditions
from draftlaw.engine import Engine, engine_options, enter
from draftlaw.files import write_json
from draftlaw.measure import requests_of
from draftlaw.tables.prompts import PROMPTS

app = typer.Typer(add_completion=False)
Prompts = Annotated[Path, typer.Option(help="Prompt table of an arm.")]
Target = Annotated[Path, typer.Option(help="Folder of the target's checkpoint.")]
Draft = Annotated[Path, typer.Option(help="Folder of the draft's checkpoint.")]
Depth = Annotated[int, typer.Option(help="Draft tokens per round.")]
Batch = Annotated[int, typer.Option(help="Requests of a wave.")]
MaxTokens = Annotated[int, typer.Option(help="Longest output.")]
Conditions = Annotated[str, typer.Option(help="Engine conditions (JSON).")]


@app.command()
def compare(
    prompts: Prompts,
    target: Target,
    draft: Draft,
    depth: Depth,
    batch: Batch,
    max_tokens: MaxTokens,
    engine: Conditions,
    out: Annotated[Path, typer.Option(help="JSON file to write.")],
    repeat: Annotated[int, typer.Option(help="Repetitions of each.")] = 3,
) -> None:
    """Run both kinds of generation in turn and write their ratio."""
    shared = ["--prompts", str(prompts), "--target", str(target), "--draft", str(draft)]
    shared += ["--depth", str(depth), "--batch", str(batch), "--max-tokens", str(max_tokens)]
    shared += ["--engine", engine]
    pairs = [(_child("measured", shared), _child("plain", shared)) for _ in range(repeat)]
    ratios = [ours["seconds"] / plain["seconds"] for ours, plain in pairs]
    found = {
        "what": "measured generation / plain LLM.generate without detailed metrics",
        "requests": pairs[0][0]["requests"],
        "batch": batch,
        "depth": depth,
        "measured_seconds": [ours["seconds"] for ours, _ in pairs],
        "plain_seconds": [plain["seconds"] for _, plain in pairs],
        "ratio": statistics.median(ratios),
        "ratio_range": [min(ratios), max(ratios)],
    }
    write_json(out, found)


def _child(mode: str, arguments: list[str]) -> dict[str, Any]:
    command = [sys.executable, __file__, mode, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@app.command()
def measured(
    prompts: Prompts,
    target: Target,
    draft: Draft,
    depth: Depth,
    batch: Batch,
    max_tokens: MaxTokens,
    engine: Conditions,
) -> None:
    """As the study measures: rounds counted, every step timed."""
    conditions = EngineConditions.model_validate_json(engine)
    enter(conditions)
    running = Engine(target, draft, depth, conditions, batch)
    requests = requests_of(PROMPTS.read(prompts))
    list(running.run_waves(requests[:batch], batch, max_tokens))
    begin = time.perf_counter()
    outcomes = [o for wave in running.run_waves(requests, batch, max_tokens) for o in wave]
    _report(time.perf_counter() - begin, sum(len(o.token_ids) for o in outcomes), len(requests))


@app.command()
def plain(
    prompts: Prompts,
    target: Target,
    draft: Draft,
    depth: Depth,
    batch: Batch,
    max_tokens: MaxTokens,
    engine: Conditions,
) -> None:
    """As a user generates: `LLM.generate`, no statistics."""
    conditions = EngineConditions.model_validate_json(engine)
    enter(conditions)
    from vllm import LLM, SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    llm = LLM(**engine_options(target, draft, depth, conditions, batch))

    def generate(frame: pd.DataFrame) -> int:
        tokens = 0
        for first in range(0, len(frame), batch):
            wave = frame.iloc[first : first + batch]
            ids = [{"prompt_token_ids": list(map(int, p))} for p in wave["prompt_ids"]]
            sampling = [
                SamplingParams(
                    temperature=0,
                    max_tokens=max_tokens,
                    detokenize=False,
                    structured_outputs=g and StructuredOutputsParams(structural_tag=g),
                )
                for g in wave["grammar"]
            ]
            done = llm.generate(ids, sampling, use_tqdm=False)
            tokens += sum(len(output.outputs[0].token_ids) for output in done)
        return tokens

    frame = PROMPTS.read(prompts)
    generate(frame[:batch])
    begin = time.perf_counter()
    tokens = generate(frame)
    _report(time.perf_counter() - begin, tokens, len(frame))


def _report(seconds: float, tokens: int, requests: int) -> None:
    print(json.dumps({"seconds": seconds, "tokens": tokens, "requests": requests}))


if __name__ == "__main__":
    app()
