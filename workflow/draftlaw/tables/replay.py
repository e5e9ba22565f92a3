"""The replay's tables: both models at every output position, and what follows from that."""

import pyarrow as pa

from draftlaw.tables.parquet import Column, Table

_OUTPUT = (
    Column("request_id", pa.string(), "the request"),
    Column("batch", pa.int16(), "requests the engine was given at once", "request", low=1),
)

REPLAY = Table(
    "replay",
    key=("request_id", "batch", "position"),
    columns=(
        *_OUTPUT,
        Column("position", pa.int32(), "position in the output, from 0", "token", low=0),
        Column("entropy", pa.float64(), "of the target, temperature 1, no mask", "nat", low=0),
        Column("entropy_masked", pa.float64(), "the same under the grammar's mask", "nat", low=0),
        Column("target_top1", pa.int32(), "the target's argmax under the mask", low=0),
        Column("agrees", pa.bool_(), "it is the output's token; false: a numerical tie"),
        Column(
            "margin",
            pa.float64(),
            "the target's top-1 minus top-2 log-probability under the mask; "
            "null: one token allowed",
            "nat",
            nullable=True,
            low=0,
        ),
        Column("margin_raw", pa.float64(), "the same without the mask", "nat", low=0),
        Column("draft_top1", pa.int32(), "the draft's argmax, no mask", low=0),
        Column("match", pa.bool_(), "it is the output's token: accepted at temperature 0"),
        Column(
            "draft_margin",
            pa.float64(),
            "the draft's top-1 minus top-2 log-probability",
            "nat",
            low=0,
        ),
        Column(
            "draft_gap",
            pa.float64(),
            "the draft's log-probability of its top-1 minus that of the output's token",
            "nat",
            low=0,
        ),
        Column(
            "p_draft_argmax",
            pa.float64(),
            "the target's probability, under the mask, of the draft's argmax: acceptance of a "
            "one-hot draft at temperature 1",
            low=0,
            high=1,
        ),
        Column(
            "overlap",
            pa.float64(),
            "1 - total variation of target (masked) and draft: acceptance of a sampled draft at "
            "temperature 1",
            low=0,
            high=1,
        ),
    ),
)

REPLAYED_ROUNDS = Table(
    "replayed_rounds",
    key=("request_id", "batch", "depth", "round"),
    columns=(
        *_OUTPUT,
        Column("depth", pa.int16(), "draft tokens per round", "token", low=1),
        Column("round", pa.int32(), "decode round of the request, from 0", low=0),
        Column("start", pa.int32(), "output position of the round's first token", "token", low=1),
        Column("accepted", pa.int16(), "draft tokens accepted, within the output", "token", low=0),
        Column("emitted", pa.int16(), "tokens that reached the output", "token", low=1),
        Column("truncated", pa.bool_(), "the output ended inside the accepted tokens"),
    ),
)

VARIANTS = ("all", "unforced", "unlooped", "unforced_unlooped")

ENTROPY = Table(
    "entropy",
    key=("arm", "batch", "position_class", "variant"),
    columns=(
        Column("arm", pa.string(), "the arm"),
        Column("batch", pa.int16(), "requests the engine was given at once", "request", low=1),
        Column("position_class", pa.string(), "class of the positions", among=("S", "R", "F")),
        Column(
            "variant",
            pa.string(),
            "which positions: all; unforced: where the grammar left a choice; unlooped: outside "
            "exact repeats; or both",
            among=VARIANTS,
        ),
        Column("requests", pa.int32(), "requests with such positions", "request", low=1),
        Column("clusters", pa.int32(), "sampling units with such positions", low=1),
        Column("positions", pa.int32(), "such positions", "token", low=1),
        Column("straddlers", pa.int32(), "those that straddle a class boundary", "token", low=0),
        Column("mean_entropy", pa.float64(), "H_c: mean of H, masked in class S", "nat", low=0),
        Column("mean_entropy_raw", pa.float64(), "mean of H without the mask", "nat", low=0),
        Column(
            "predictability_of_mean",
            pa.float64(),
            "exp(-H_c): the paper's rho_c, goes with kappa_id",
            low=0,
            high=1,
        ),
        Column(
            "mean_predictability",
            pa.float64(),
            "mean of exp(-H), goes with kappa_pos",
            low=0,
            high=1,
        ),
    ),
)
