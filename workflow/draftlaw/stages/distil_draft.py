"""Distil the embedded draft on the target's own answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from draftlaw.files import atomic_file, write_json
from draftlaw.options import Out, TargetFolder, parse
from draftlaw.tables.engine import TRACES
from draftlaw.tables.prompts import PROMPTS


def main(
    target: TargetFolder,
    prompts: Annotated[list[Path], typer.Option(help="Training prompts; may be repeated.")],
    traces: Annotated[list[Path], typer.Option(help="Their answers, in the same order.")],
    heldout_prompts: Annotated[list[Path], typer.Option(help="Held-out prompts.")],
    heldout_traces: Annotated[list[Path], typer.Option(help="Their answers.")],
    spec: Annotated[str, typer.Option(help="Layers and schedule (JSON).")],
    out: Out,
    history: Annotated[Path, typer.Option(help="Loss and held-out match per epoch, to write.")],
) -> None:
    """Write the trained tensors and how training went."""
    from safetensors.torch import save_file

    from draftlaw.distil import DistilSpec, Example, distil

    def examples(prompt_files: list[Path], trace_files: list[Path]) -> list[Example]:
        found = []
        for prompt_file, trace_file in zip(prompt_files, trace_files, strict=True):
            asked = PROMPTS.read(prompt_file).set_index("request_id")["prompt_ids"]
            answered = TRACES.read(trace_file)
            answered = answered[answered["batch"] == answered["batch"].min()]
            found += [
                Example(asked[name].tolist(), ids.tolist())
                for name, ids in zip(answered["request_id"], answered["output_ids"], strict=True)
            ]
        return found

    tensors, epochs = distil(
        target,
        examples(prompts, traces),
        examples(heldout_prompts, heldout_traces),
        parse(DistilSpec, spec, "--spec"),
    )
    with atomic_file(out) as temporary:
        save_file(tensors, temporary)
    write_json(history, epochs)
