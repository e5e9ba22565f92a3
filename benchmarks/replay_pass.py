"""What entropy and match cost: the replay's pass against a bare forward of the same tokens.

Both run target and draft over prompt and output and make the logits of the output's positions; the
pass adds masks, entropies, margins and matches. Repetitions alternate in one process.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from transformers import AutoModelForCausalLM, AutoTokenizer

from draftlaw.files import write_json
from draftlaw.grammar import Walker
from draftlaw.replay import Replayer, replay_positions
from draftlaw.tables.engine import TRACES
from draftlaw.tables.prompts import PROMPTS


def main(
    prompts: Annotated[Path, typer.Option(help="Prompt table of an arm.")],
    traces: Annotated[Path, typer.Option(help="Its baseline outputs.")],
    target: Annotated[Path, typer.Option(help="Folder of the target's checkpoint.")],
    draft: Annotated[Path, typer.Option(help="Folder of the draft's checkpoint.")],
    out: Annotated[Path, typer.Option(help="JSON file to write.")],
    dtype: Annotated[str, typer.Option(help="Weights and arithmetic.")],
    device: Annotated[str, typer.Option(help="Where to compute: cpu or cuda.")],
    threads: Annotated[int, typer.Option(help="CPU threads.")],
    repeat: Annotated[int, typer.Option(help="Repetitions of each.")] = 5,
) -> None:
    """Write seconds of both and their ratio, repetition by repetition."""
    torch.set_num_threads(threads)
    asked, answered = PROMPTS.read(prompts), TRACES.read(traces)
    answered = answered[answered["batch"] == answered["batch"].min()]
    replayer = Replayer(target, draft, dtype, device)
    walker = Walker(AutoTokenizer.from_pretrained(target), replayer.vocab_size)
    models = [_load(folder, dtype).to(device) for folder in (target, draft)]
    prompt_ids = dict(zip(asked["request_id"], asked["prompt_ids"], strict=True))
    outputs = [
        (np.concatenate([prompt_ids[name], ids]), len(ids))
        for name, ids in zip(answered["request_id"], answered["output_ids"], strict=True)
    ]

    def whole_pass() -> None:
        replay_positions(asked, answered, walker, replayer)

    def bare_forward() -> None:
        for tokens, length in outputs:
            for model in models:
                _forward(model, tokens, length)

    bare_forward()
    pairs = [(_seconds(whole_pass), _seconds(bare_forward)) for _ in range(repeat)]
    ratios = [ours / bare for ours, bare in pairs]
    found = {
        "what": "entropy-and-match pass / bare forward of the same tokens",
        "tokens": int(sum(len(tokens) for tokens, _ in outputs)),
        "positions": int(sum(length for _, length in outputs)),
        "pass_seconds": [ours for ours, _ in pairs],
        "bare_seconds": [bare for _, bare in pairs],
        "ratio": statistics.median(ratios),
        "ratio_range": [min(ratios), max(ratios)],
    }
    write_json(out, found)


def _load(folder: Path, dtype: str) -> Any:
    return AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype)).eval()


@torch.inference_mode()
def _forward(model: Any, tokens: np.ndarray, length: int) -> None:
    ids = torch.as_tensor(tokens[:-1], dtype=torch.long)[None].to(model.device)
    logits = model(ids, use_cache=False, logits_to_keep=length).logits
    logits[0, -1, 0].item()  # waits for a device


def _seconds(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    typer.run(main)
