"""Engine conditions: what a configuration asks for, the same in baseline and speculative cells."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class EngineConditions(BaseModel):
    """How vLLM runs a pair; every field is part of a measured cell's parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    device: Literal["cpu", "cuda"] = Field(description="Where the engine computes.")
    dtype: Literal["float32", "bfloat16", "float16"] = Field(description="Weights and arithmetic.")
    eager: bool = Field(description="true: no compilation, no CUDA graphs.")
    max_model_len: int = Field(ge=1, description="Tokens of prompt and output together.")
    max_batched_tokens: int = Field(ge=1, description="Tokens a step may process.")
    attention_backend: str | None = Field(
        default=None, description="vLLM's name of an attention backend; null: its default."
    )
    memory_utilization: float = Field(
        default=0.9, gt=0, le=1, description="Share of the GPU's memory (cuda)."
    )
    kv_cache_gib: float = Field(
        default=0.5, gt=0, description="Memory of the KV cache in GiB (cpu)."
    )
    threads: int = Field(default=2, ge=1, description="Threads that compute (cpu).")
    preload: str | None = Field(
        default=None,
        description="Shared library in the environment's lib/ to load first, e.g. libiomp5.so.",
    )
    batch_invariant: bool = Field(
        default=False, description="vLLM's batch-invariant kernels, where the platform has them."
    )
    seed: int = Field(default=0, description="Seed of the engine.")
