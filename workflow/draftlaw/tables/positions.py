"""The table of output positions: the class of each, and what the grammar left to choose."""

import pyarrow as pa

from draftlaw.tables.parquet import Column, Table

POSITIONS = Table(
    "positions",
    key=("request_id", "batch", "position"),
    columns=(
        Column("request_id", pa.string(), "the request"),
        Column("batch", pa.int16(), "requests the engine was given at once", "request", low=1),
        Column("position", pa.int32(), "output position, from 0", "token", low=0),
        Column("token_id", pa.int32(), "the token there", low=0),
        Column("position_class", pa.string(), "class of its first byte", among=("S", "R", "F")),
        Column("span", pa.int32(), "maximal run of equal class, from 0", low=0),
        Column("straddler", pa.bool_(), "its bytes cover more than one class"),
        Column(
            "allowed",
            pa.int32(),
            "tokens that the grammar allowed there; null: no grammar",
            "token",
            nullable=True,
            low=1,
        ),
        Column("forced", pa.bool_(), "the grammar allowed no other token"),
        Column("loop", pa.bool_(), "in an exact repeat of 16 tokens or more"),
    ),
)
