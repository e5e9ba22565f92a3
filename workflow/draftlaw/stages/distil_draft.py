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
    spec: Annotated[str, typer.Option(help="Layers and schedule (JSON).")],
    out: Out,
    history: Annotated[Path, typer.Option(help="Loss and match per epoch, to write.")],
) -> None:
    """Write the trained tensors and how training went."""
    from safetensors.torch import save_file

    from draftlaw.distil import DistilSpec, Example, distil

    examples = []
    for prompt_file, trace_file in zip(prompts, traces, strict=True):
        asked = PROMPTS.read(prompt_file).set_index("request_id")["prompt_ids"]
        answered = TRACES.read(trace_file)
        answered = answered[answered["batch"] == answered["batch"].min()]
        examples += [
            Example(asked[name].tolist(), ids.tolist())
            for name, ids in zip(answered["request_id"], answered["output_ids"], strict=True)
        ]
    tensors, epochs = distil(target, examples, parse(DistilSpec, spec, "--spec"))
    with atomic_file(out) as temporary:
        save_file(tensors, temporary)
    write_json(history, epochs)
