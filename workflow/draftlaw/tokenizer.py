"""The tokenizer that a checkpoint's tokenizer.json describes."""

from __future__ import annotations

from pathlib import Path

from transformers import PreTrainedTokenizerFast


def load_tokenizer(checkpoint: Path) -> PreTrainedTokenizerFast:
    """Read it without looking up the model's own class, which loads torch and takes seconds."""
    return PreTrainedTokenizerFast.from_pretrained(checkpoint)
