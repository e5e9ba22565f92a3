"""What comparing outputs found: controls, and speculation against the baseline (prediction P4)."""

import pyarrow as pa

from draftlaw.tables.parquet import Column, Table

COMPARISONS = ("repeat", "relaunch", "shape", "speculation")
"""The baseline against itself in one process, after a relaunch, at another batch size; and what
speculation wrote against the baseline at the same batch size."""

_KEY = (
    Column("comparison", pa.string(), "what is compared with the baseline", among=COMPARISONS),
    Column("arm", pa.string(), "the arm"),
    Column("depth", pa.int16(), "draft tokens per round, gamma; 0: baseline", "token", low=0),
    Column("launch", pa.int16(), "launch of the engine, from 0", low=0),
    Column("batch", pa.int16(), "requests the engine was given at once", "request", low=1),
)

IDENTITY = Table(
    "identity",
    key=("comparison", "arm", "depth", "launch", "batch"),
    columns=(
        *_KEY,
        Column("requests", pa.int32(), "outputs compared", "request", low=0),
        Column("differing", pa.int32(), "those that are another one", "request", low=0),
    ),
)

DIVERGENCES = Table(
    "divergences",
    key=("comparison", "arm", "depth", "launch", "batch", "request_id"),
    columns=(
        *_KEY,
        Column("request_id", pa.string(), "the request"),
        Column("position", pa.int32(), "first output position that differs", "token", low=0),
        Column("token", pa.int32(), "the token there; null: ended before", nullable=True),
        Column("baseline_token", pa.int32(), "the baseline's; null: ended before", nullable=True),
        Column(
            "target_top1",
            pa.int32(),
            "the target's argmax there under the mask, by the replay; null: not replayed",
            nullable=True,
        ),
        Column(
            "target_margin",
            pa.float64(),
            "its top-1 minus top-2 log-probability; null: not replayed, or one token allowed",
            "nat",
            nullable=True,
        ),
    ),
)
"""The first difference of every output that is another one."""
