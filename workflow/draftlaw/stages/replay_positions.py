"""Replay an arm's outputs through target and draft: entropy, margins and match by position."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from draftlaw.options import DraftFolder, Out, PromptsFile, TargetFolder
from draftlaw.tables.engine import TRACES
from draftlaw.tables.prompts import PROMPTS
from draftlaw.tables.replay import REPLAY


def main(
    prompts: PromptsFile,
    traces: Annotated[Path, typer.Option(help="Table of outputs.")],
    target: TargetFolder,
    draft: DraftFolder,
    dtype: Annotated[str, typer.Option(help="Weights and arithmetic: the engine's.")],
    device: Annotated[str, typer.Option(help="Where to compute: cpu or cuda.")],
    threads: Annotated[int, typer.Option(min=1, help="CPU threads.")],
    out: Out,
) -> None:
    """Write the replay table."""
    import torch

    from draftlaw.grammar import Walker
    from draftlaw.replay import Replayer, replay_positions
    from draftlaw.tokenizer import load_tokenizer

    torch.set_num_threads(threads)
    frame, outputs = PROMPTS.read(prompts), TRACES.read(traces)
    replayer = Replayer(target, draft, dtype, device)
    walker = Walker(load_tokenizer(target), replayer.vocab_size)
    REPLAY.write(replay_positions(frame, outputs, walker, replayer), out)
