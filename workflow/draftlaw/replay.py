"""One teacher-forced pass of target and draft over every output: entropy, margins, match.

At temperature 0 the whole speculative process is a function of one vector per output: is the
draft's argmax at each position, given the true prefix, the target's token? (protocol, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from transformers import AutoModelForCausalLM

from draftlaw.errors import DraftLawError
from draftlaw.grammar import Mask, Walker, unpack
from draftlaw.progress import Progress

Statistics = dict[str, npt.NDArray[Any]]
"""Columns of the replay table beside its key, each of shape [positions]."""


class Replayer:
    """Target and draft side by side.

    Args:
        target: folder of the target's checkpoint.
        draft: folder of the draft's.
        dtype: name of a torch type, for weights and arithmetic: the engine's.
        device: where to compute, as torch names it.
        chunk: positions whose logits are held at once.

    Raises:
        DraftLawError: the models' vocabularies differ in width.
    """

    def __init__(self, target: Path, draft: Path, dtype: str, device: str, chunk: int = 64) -> None:
        self._target = _load(target, dtype, device)
        self._draft = _load(draft, dtype, device)
        self._device = device
        self._chunk = chunk
        self.vocab_size = _width(self._target)
        if _width(self._draft) != self.vocab_size:
            raise DraftLawError(
                f"draft {draft} has {_width(self._draft)} logits, the target {self.vocab_size}",
                "Choose a draft of the target's family",
            )

    @torch.inference_mode()
    def replay(
        self, prompt_ids: Sequence[int], output_ids: Sequence[int], masks: Mask | None
    ) -> Statistics:
        """Statistics of every position of an output, given its true prefix.

        Args:
            prompt_ids: the prompt's tokens, at least one.
            output_ids: the output's tokens, at least one, stop token included.
            masks: tokens the grammar allows at each position, as `Walker` gives them; None: all.
        """
        tokens = torch.as_tensor(np.concatenate([prompt_ids, output_ids]), dtype=torch.long)
        tokens = tokens.to(self._device)
        first = len(prompt_ids)
        target = _hidden(self._target, tokens)[first - 1 :]
        draft = _hidden(self._draft, tokens)[first - 1 :]
        pieces = []
        for begin in range(0, len(output_ids), self._chunk):
            part = slice(begin, begin + self._chunk)
            statistics = position_statistics(
                _logits(self._target, target[part]),
                _logits(self._draft, draft[part]),
                tokens[first:][part],
                None if masks is None else self._allowed(masks[part]),
            )
            pieces.append({name: value.cpu().numpy() for name, value in statistics.items()})
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}

    def _allowed(self, masks: Mask) -> torch.Tensor:
        return torch.from_numpy(unpack(masks, self.vocab_size)).to(self._device)


def _load(folder: Path, dtype: str, device: str) -> Any:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype))
    return model.to(device).eval()


def _width(model: Any) -> int:
    return int(model.get_output_embeddings().weight.shape[0])


def _hidden(model: Any, tokens: torch.Tensor) -> torch.Tensor:
    """Hidden states that predict each next token, shape [tokens - 1, width]."""
    states: torch.Tensor = model.model(tokens[None, :-1], use_cache=False).last_hidden_state[0]
    return states


def _logits(model: Any, hidden: torch.Tensor) -> torch.Tensor:
    """Raw logits, rounded to the model's type as the engine's are, shape [positions, vocab]."""
    logits: torch.Tensor = model.get_output_embeddings()(hidden)
    return logits.float()


def position_statistics(
    target: torch.Tensor,
    draft: torch.Tensor,
    output: torch.Tensor,
    allowed: torch.Tensor | None,
) -> dict[str, torch.Tensor]:
    """What the replay table says of some positions.

    Args:
        target: the target's raw logits, float32, shape [positions, vocab].
        draft: the draft's, same shape.
        output: the output's tokens, shape [positions].
        allowed: tokens the grammar allows, same shape as the logits; None: all.

    Argmax and margins come from the logits, where a difference of log-probabilities is the same
    number but has not been rounded once more.
    """
    masked = target if allowed is None else target.masked_fill(~allowed, -torch.inf)
    p_masked = _probabilities(masked)
    q = _probabilities(draft)
    entropy = _entropy(_probabilities(target))
    margin = _margin(masked)
    target_top1 = masked.argmax(-1)
    draft_top1 = draft.argmax(-1)
    return {
        "entropy": entropy,
        "entropy_masked": entropy if allowed is None else _entropy(p_masked),
        "target_top1": target_top1.int(),
        "agrees": target_top1 == output,
        "margin": margin.masked_fill(margin.isinf(), torch.nan),  # one token allowed
        "margin_raw": _margin(target),
        "draft_top1": draft_top1.int(),
        "match": draft_top1 == output,
        "draft_margin": _margin(draft),
        "draft_gap": _at(draft, draft_top1) - _at(draft, output),
        "p_draft_argmax": _at(p_masked, draft_top1).clamp(max=1.0),
        "overlap": torch.minimum(p_masked, q).sum(-1).clamp(max=1.0),
    }


def _probabilities(logits: torch.Tensor) -> torch.Tensor:
    """Softmax of float32 logits, accumulated in float64.

    In float32 the sum over a vocabulary is off by 1e-5 or more, and entropy by up to 1e-4 nat.
    """
    return logits.log_softmax(-1, dtype=torch.float64).exp()


def _entropy(probabilities: torch.Tensor) -> torch.Tensor:
    """Entropy in nats; rounding can take that of a sure token below 0."""
    entropy: torch.Tensor = torch.special.entr(probabilities).sum(-1)
    return entropy.clamp(min=0.0)


def _margin(logits: torch.Tensor) -> torch.Tensor:
    top = logits.topk(2).values.double()
    return top[:, 0] - top[:, 1]


def _at(values: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    return values.gather(-1, tokens[:, None])[:, 0].double()


def replay_positions(
    prompts: pd.DataFrame, traces: pd.DataFrame, walker: Walker, replayer: Replayer
) -> pd.DataFrame:
    """Replay every output of launch 0, each distinct output of a request once.

    Args:
        prompts: the arm's prompt table.
        traces: its table of outputs.
        walker: grammars of the target's tokenizer, as wide as the replayer's logits.
        replayer: the two models.

    Returns:
        The replay table.

    Raises:
        DraftLawError: an output breaks its request's grammar.
    """
    prompt_ids = dict(zip(prompts["request_id"], prompts["prompt_ids"], strict=True))
    grammars = dict(zip(prompts["request_id"], prompts["grammar"], strict=True))
    first_launch = traces[traces["launch"] == 0]
    progress = Progress("replay", len(first_launch))
    frames = []
    for request_id, outputs in first_launch.groupby("request_id", sort=False):
        known: dict[bytes, Statistics] = {}
        for batch, ids in zip(outputs["batch"], outputs["output_ids"], strict=True):
            same = np.asarray(ids, np.int32).tobytes()
            if same not in known:
                masks = _masks(walker, grammars[request_id], ids, str(request_id))
                known[same] = replayer.replay(prompt_ids[request_id], ids, masks)
            frames.append(_frame(str(request_id), batch, known[same]))
            progress.advance()
    return pd.concat(frames, ignore_index=True)


def _masks(
    walker: Walker, grammar: str | None, output_ids: Sequence[int], request_id: str
) -> Mask | None:
    if grammar is None:
        return None
    walk = walker.masks(grammar, output_ids)
    if walk.refused is not None:
        raise DraftLawError(
            f"request {request_id}: output token {walk.refused} is not allowed by its grammar",
            "Replay the outputs with the prompt table and the target they were generated from",
        )
    return walk.masks


def _frame(request_id: str, batch: int, statistics: Statistics) -> pd.DataFrame:
    positions = np.arange(len(statistics["match"]), dtype=np.int32)
    key = {"request_id": request_id, "batch": np.int16(batch), "position": positions}
    return pd.DataFrame({**key, **statistics})
