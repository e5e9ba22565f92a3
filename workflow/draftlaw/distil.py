"""A small draft distilled from its target: some of the target's layers, trained on its own answers.

The draft shares the target's embeddings, which stay frozen, so that only the kept layers and the
final norm are stored. It learns the target's greedy choices (cross-entropy on the target's own
output tokens): acceptance at temperature 0 is agreement with exactly those.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch.nn import functional

from draftlaw.checkpoints import draft_from_layers, draft_state
from draftlaw.progress import Progress


class DistilSpec(BaseModel):
    """How a draft is distilled."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    layers: tuple[int, ...] = Field(min_length=1, description="Layers kept of the target.")
    epochs: int = Field(ge=1, description="Passes over the training answers.")
    learning_rate: float = Field(gt=0, description="Peak of a cosine schedule.")
    batch_tokens: int = Field(ge=1, description="Tokens of a batch, padding included.")
    warmup_steps: int = Field(default=50, ge=0, description="Steps of linear warm-up.")
    threads: int = Field(default=2, ge=1, description="CPU threads.")
    validation: float = Field(
        default=0.05, gt=0, lt=1, description="Share of the examples kept to watch the training."
    )
    seed: int = Field(default=0, description="Order of the batches, choice of those kept.")


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt and the target's answer to it."""

    prompt_ids: Sequence[int]
    output_ids: Sequence[int]

    @property
    def length(self) -> int:
        """Tokens of both."""
        return len(self.prompt_ids) + len(self.output_ids)


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded on the right, which a causal model does not see.

    Attributes:
        tokens: shape [examples, length].
        positions: flat indices of the positions that predict an output token, shape [outputs].
        labels: those output tokens, shape [outputs].
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    labels: torch.Tensor


def distil(
    target: Path, examples: Sequence[Example], spec: DistilSpec
) -> tuple[dict[str, torch.Tensor], list[dict[str, float]]]:
    """Train a draft.

    Args:
        target: folder of the target's checkpoint.
        examples: the target's answers; a share is kept to watch the training.
        spec: layers and schedule.

    Returns:
        The trained tensors (bfloat16, as `draft_from_layers` takes them), and per epoch the mean
        training loss and, on the examples kept, the share of output tokens that its argmax matches.
    """
    torch.manual_seed(spec.seed)
    torch.set_num_threads(spec.threads)
    model = draft_from_layers(target, spec.layers, dtype=torch.float32)
    model.model.embed_tokens.weight.requires_grad_(False)
    head = model.model.embed_tokens.weight.detach()
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=spec.learning_rate, betas=(0.9, 0.95))
    order = random.Random(spec.seed)
    mixed = order.sample(list(examples), len(examples))
    kept = round(spec.validation * len(mixed))
    watched, learned = mixed[:kept], mixed[kept:]
    total = spec.epochs * len(_plan(learned, spec.batch_tokens, random.Random(0)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: _rate(step, total, spec.warmup_steps)
    )
    progress = Progress("distil draft", total)
    history: list[dict[str, float]] = []
    for epoch in range(spec.epochs):
        losses = []
        for batch in _batches(learned, spec.batch_tokens, order):
            loss = functional.cross_entropy(_logits(model, head, batch), batch.labels)
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            losses.append(loss.item())
            progress.advance(note=f"(loss {sum(losses[-20:]) / len(losses[-20:]):.3f})")
        match = match_share(model, head, watched, spec.batch_tokens)
        history.append(
            {"epoch": epoch + 1, "loss": sum(losses) / len(losses), "validation_match": match}
        )
        print(history[-1], flush=True)
    return draft_state(model), history


@torch.no_grad()
def match_share(
    model: Any, head: torch.Tensor, examples: Sequence[Example], batch_tokens: int
) -> float:
    """Share of output tokens that equal the model's argmax, given the true prefix."""
    matched = total = 0
    for batch in _batches(examples, batch_tokens, random.Random(0)):
        matched += int((_logits(model, head, batch).argmax(-1) == batch.labels).sum())
        total += len(batch.labels)
    return matched / total


def _logits(model: Any, head: torch.Tensor, batch: Batch) -> torch.Tensor:
    hidden = model.model(input_ids=batch.tokens, use_cache=False).last_hidden_state
    logits: torch.Tensor = hidden.flatten(0, 1)[batch.positions] @ head.T
    return logits


def _rate(step: int, total: int, warmup: int) -> float:
    """Linear warm-up, then a cosine down to 3 % of the peak."""
    cosine = 0.5 * (1 + math.cos(math.pi * min(step / total, 1)))
    return min(1.0, (step + 1) / max(warmup, 1)) * max(0.03, cosine)


def _batches(
    examples: Sequence[Example], batch_tokens: int, order: random.Random
) -> Iterator[Batch]:
    for group in _plan(examples, batch_tokens, order):
        yield _pad([examples[index] for index in group])


def _plan(examples: Sequence[Example], batch_tokens: int, order: random.Random) -> list[list[int]]:
    """Groups of examples of like length, at most `batch_tokens` when padded, in random order."""
    jitter = [order.random() * 40 for _ in examples]
    by_length = sorted(
        range(len(examples)), key=lambda index: examples[index].length + jitter[index]
    )
    groups: list[list[int]] = [[]]
    longest = 0
    for index in by_length:
        longest = max(longest, examples[index].length)
        if groups[-1] and longest * (len(groups[-1]) + 1) > batch_tokens:
            groups.append([])
            longest = examples[index].length
        groups[-1].append(index)
    order.shuffle(groups)
    return groups


def _pad(examples: Sequence[Example]) -> Batch:
    length = max(example.length for example in examples)
    tokens = torch.zeros((len(examples), length), dtype=torch.long)
    positions: list[int] = []
    labels: list[int] = []
    for row, example in enumerate(examples):
        tokens[row, : example.length] = torch.tensor([*example.prompt_ids, *example.output_ids])
        first = row * length + len(example.prompt_ids) - 1
        positions += range(first, first + len(example.output_ids))
        labels += example.output_ids
    return Batch(tokens, torch.tensor(positions), torch.tensor(labels))
