"""The engine's tables: what each request's output was, and what each round of it did."""

import pyarrow as pa

from draftlaw.tables.parquet import Column, Table
from draftlaw.tables.prompts import TOKENS

_CELL = (
    Column("request_id", pa.string(), "the request"),
    Column("batch", pa.int16(), "requests the engine was given at once", "request", low=1),
    Column("launch", pa.int16(), "launch of the engine, from 0", low=0),
)

TRACES = Table(
    "traces",
    key=("request_id", "batch", "launch"),
    columns=(
        *_CELL,
        Column("wave", pa.int32(), "group of requests that started together", low=0),
        Column("output_ids", TOKENS, "the output's tokens, stop token included"),
        Column("output_tokens", pa.int32(), "their number", "token", low=1),
        Column("finish", pa.string(), "what ended the output", among=("stop", "length")),
        Column("cached_tokens", pa.int32(), "prompt tokens from the prefix cache", "token", low=0),
        Column("prefill_seconds", pa.float64(), "steps up to the first token", "s", low=0),
        Column("grammar_held", pa.bool_(), "every token allowed; null: no grammar", nullable=True),
        Column("calls", pa.int16(), "tool calls begun", low=0),
        Column("valid_calls", pa.int16(), "calls that satisfy their tool's JSON Schema", low=0),
        Column("call_problem", pa.string(), "why the first bad call is bad; empty: none is"),
    ),
)

ROUNDS = Table(
    "rounds",
    key=("request_id", "batch", "launch", "round"),
    columns=(
        *_CELL,
        Column("wave", pa.int32(), "group of requests that started together", low=0),
        Column("round", pa.int32(), "decode round of the request, from 0", low=0),
        Column("start", pa.int32(), "output position of the round's first token", "token", low=1),
        Column("verified", pa.bool_(), "the engine verified a draft; else the grammar refused all"),
        Column("drafted", pa.int16(), "draft tokens verified", "token", low=0),
        Column("accepted", pa.int16(), "draft tokens accepted", "token", low=0),
        Column("emitted", pa.int16(), "tokens that reached the output", "token", low=0),
        Column("truncated", pa.bool_(), "a stop token or the length limit cut the round"),
        Column("grammar_cut", pa.bool_(), "the grammar cut the draft short of its depth"),
        Column("step", pa.int64(), "engine step of the launch", low=0),
        Column("step_seconds", pa.float64(), "wall time of that step", "s", low=0),
        Column("step_draft_seconds", pa.float64(), "of it, the draft's proposals", "s", low=0),
        Column("step_requests", pa.int16(), "requests in the step", "request", low=1),
        Column("step_prefill", pa.bool_(), "the step held a prefill"),
    ),
)
