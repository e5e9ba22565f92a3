"""The table of frozen prompts."""

import pyarrow as pa

from draftlaw.tables.parquet import Column, Table

TOKENS = pa.list_(pa.int32())

PROMPTS = Table(
    "prompts",
    key=("request_id",),
    columns=(
        Column("request_id", pa.string(), "the request"),
        Column("cluster", pa.string(), "sampling unit: the request; in arm D its trajectory"),
        Column("turn", pa.int16(), "assistant turn within the trajectory, from 0", low=0),
        Column("source", pa.string(), "where the request comes from, with version"),
        Column("licence", pa.string(), "SPDX identifier of its text"),
        Column("parts", pa.string(), "pieces of the output, in order: think, reply, call"),
        Column("messages", pa.string(), "chat messages (JSON)"),
        Column("tools", pa.string(), "functions offered, with their JSON Schemas (JSON)"),
        Column("ground_truth", pa.string(), "the right answer (JSON), null if not known"),
        Column("prompt_text", pa.string(), "the prompt in the chat format"),
        Column("prompt_ids", TOKENS, "the prompt's tokens"),
        Column("prompt_tokens", pa.int32(), "their number", "token", low=1),
        Column("opened", pa.string(), "class of a block the prompt opened", nullable=True),
        Column("grammar", pa.string(), "structural tag (JSON); null: free", nullable=True),
        Column("rule", pa.string(), "the rule by which the prompt was let in"),
    ),
)
