"""Acceptance by position class: risk sets, hazards by draft offset, and the tau made of them.

Protocol, section 4. A draft token is at risk where all before it in the round were accepted and lie
in its span; a grammar cut is a rejection; only the depth, the end of the output and the end of the
span censor. Sums over sampling units are sufficient: every estimate here is a function of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from draftlaw.outputs import first_difference
from draftlaw.tables.replay import VARIANTS
from draftlaw.variants import variant_mask

CELL = ["view", "arm", "batch", "depth", "position_class", "variant"]
_OUTPUT = ["request_id", "batch"]


def examined_tokens(rounds: pd.DataFrame, positions: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Every draft token whose acceptance was decided, inside the span where its round began.

    Args:
        rounds: request_id, batch, start, accepted, emitted, truncated; a row per round at `depth`.
        positions: the positions table of the same outputs; a round's tokens beyond it are left out.
        depth: draft tokens per round.

    Returns:
        request_id, batch, position_class, offset (from 1), rejected, forced, loop; a row per token.
    """
    ordered = positions.sort_values([*_OUTPUT, "position"]).reset_index(drop=True)
    first = ordered.groupby(_OUTPUT, sort=False)["position"].agg(["size"]).reset_index()
    first["row"] = first["size"].cumsum() - first["size"]
    found = rounds.merge(first, on=_OUTPUT, validate="many_to_one")
    decided = np.where(found["truncated"], found["emitted"], found["accepted"] + 1)
    beyond = (found["size"] - found["start"]).clip(lower=0).to_numpy(np.int64)
    counts = np.minimum(np.minimum(decided, depth), beyond)
    index = np.repeat(np.arange(len(found)), counts)
    offset = np.arange(len(index)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    begin = (found["row"] + found["start"]).to_numpy(np.int64)[index]
    token = ordered.iloc[begin + offset - 1].reset_index(drop=True)
    same_span = token["span"].to_numpy() == ordered["span"].to_numpy()[begin]
    token["offset"] = offset.astype(np.int16)
    token["rejected"] = offset == found["accepted"].to_numpy()[index] + 1
    columns = [*_OUTPUT, "position_class", "offset", "rejected", "forced", "loop"]
    kept: pd.DataFrame = token.loc[same_span, columns]
    return kept


def risk_sets(tokens: pd.DataFrame, clusters: Mapping[str, str]) -> pd.DataFrame:
    """Tokens at risk and tokens rejected, by batch, class, variant, sampling unit and offset.

    Args:
        tokens: from `examined_tokens`.
        clusters: sampling unit of each request.

    Returns:
        batch, position_class, variant, cluster, offset, at_risk, rejected.
    """
    known = tokens.assign(cluster=tokens["request_id"].map(clusters))
    keys = ["batch", "position_class", "cluster", "offset"]
    counted = [
        known[variant_mask(known, variant)]
        .groupby(keys, sort=True)["rejected"]
        .agg(at_risk="size", rejected="sum")
        .reset_index()
        .assign(variant=variant)
        for variant in VARIANTS
    ]
    return pd.concat(counted, ignore_index=True)


def hazards(risk: pd.DataFrame) -> pd.DataFrame:
    """Hazard and survival at every offset of every cell, pooled over sampling units.

    Args:
        risk: the risk_sets table.

    Returns:
        The hazards table. Where no token was at risk the hazard is not estimable, and the survival
        from there on is not either, unless it had fallen to zero.
    """
    sums = risk.groupby([*CELL, "offset"])[["at_risk", "rejected"]].sum()
    filled = sums.reindex(_all_offsets(sums), fill_value=0).reset_index()
    filled["hazard"] = filled["rejected"] / filled["at_risk"].where(filled["at_risk"] > 0)
    passed = 1 - filled["hazard"]
    filled["survival"] = passed.groupby([filled[name] for name in CELL]).transform(_survival)
    return filled


def _all_offsets(sums: pd.DataFrame) -> pd.MultiIndex:
    """Every offset from 1 to its depth, for each cell that has any."""
    cells = sums.reset_index()[CELL].drop_duplicates()
    rows = [(*cell, offset) for cell in cells.itertuples(index=False) for offset in _offsets(cell)]
    return pd.MultiIndex.from_tuples(rows, names=[*CELL, "offset"])


def _offsets(cell: tuple[object, ...]) -> range:
    depth = cell[CELL.index("depth")]
    return range(1, int(str(depth)) + 1)


def _survival(passed: pd.Series[float]) -> pd.Series[float]:
    """Cumulative product; missing after a missing factor unless zero was reached before."""
    product = passed.cumprod().where(passed.notna().cummin())
    return product.where(~(passed == 0).cummax(), 0.0)


def accepted_lengths(risk: pd.DataFrame, hazard: pd.DataFrame) -> pd.DataFrame:
    """The accepted length tau of every cell, class and variant.

    Args:
        risk: the risk_sets table.
        hazard: from `hazards`.

    Returns:
        The accepted table.
    """
    by_cell = hazard.groupby(CELL)
    tau = by_cell["survival"].sum(min_count=1).where(by_cell["survival"].count() == by_cell.size())
    sums = risk.groupby(CELL).agg(
        clusters=("cluster", "nunique"), examined=("at_risk", "sum"), rejected=("rejected", "sum")
    )
    sums["tau"] = tau
    sums["rate"] = 1 - sums["rejected"] / sums["examined"]
    return sums.drop(columns="rejected").reset_index()


def round_means(rounds: pd.DataFrame, positions: pd.DataFrame) -> pd.DataFrame:
    """Raw means over rounds, by the class in which they start: secondary to tau.

    Args:
        rounds: as `examined_tokens` takes them.
        positions: the positions table of the same outputs.

    Returns:
        batch, position_class, rounds, mean_accepted, mean_accepted_whole (rounds whose emitted
        tokens lie in one span).
    """
    labels = positions[[*_OUTPUT, "position", "position_class", "span"]]
    begun = rounds.merge(labels.rename(columns={"position": "start"}), on=[*_OUTPUT, "start"])
    begun["last"] = begun["start"] + begun["emitted"] - 1
    ends = labels.rename(columns={"position": "last", "span": "last_span"})
    both = begun.merge(ends[[*_OUTPUT, "last", "last_span"]], on=[*_OUTPUT, "last"], how="left")
    both["whole"] = both["accepted"].where(both["span"] == both["last_span"])
    grouped = both.groupby(["batch", "position_class"])
    return grouped.agg(
        rounds=("accepted", "size"),
        mean_accepted=("accepted", "mean"),
        mean_accepted_whole=("whole", "mean"),
    ).reset_index()


def cell_lengths(rounds: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Accepted length over all rounds of each batch size, whatever classes they pass through.

    The product-limit estimate over offsets (Kaplan and Meier, 1958): only the depth and the end of
    the output censor, which must not depend on acceptance.

    Args:
        rounds: batch, accepted, emitted, truncated; a row per round at `depth`.
        depth: draft tokens per round.

    Returns:
        batch, rounds, truncated, tau (token; missing where no round reaches an offset).
    """
    rows = []
    for batch, members in rounds.groupby("batch"):
        accepted, cut = members["accepted"].to_numpy(), members["truncated"].to_numpy()
        decided = np.where(cut, members["emitted"], np.minimum(accepted + 1, depth))
        rejected = accepted[~cut & (accepted < depth)] + 1
        at_risk = np.bincount(decided, minlength=depth + 1)[::-1].cumsum()[::-1][1 : depth + 1]
        died = np.bincount(rejected, minlength=depth + 1)[1 : depth + 1]
        passed = pd.Series(1 - died / np.where(at_risk > 0, at_risk, np.nan))
        tau = float(_survival(passed).sum(skipna=False))
        rows.append({"batch": batch, "rounds": len(members), "truncated": cut.sum(), "tau": tau})
    return pd.DataFrame(rows)


def shared_positions(
    positions: pd.DataFrame, baseline: pd.DataFrame, traces: pd.DataFrame
) -> pd.DataFrame:
    """Labelled positions of the baseline that a speculative cell shares with it.

    Args:
        positions: labels of the baseline's outputs.
        baseline: its traces.
        traces: the cell's traces; an output that diverges keeps the positions before that.
    """
    both = traces.merge(baseline, on=_OUTPUT, suffixes=("", "_baseline"))
    pairs = zip(both["output_ids"], both["output_ids_baseline"], strict=True)
    ends = [first_difference(ours.tolist(), theirs.tolist()) for ours, theirs in pairs]
    limits = both[_OUTPUT].assign(end=pd.Series(ends, both.index, dtype=float).fillna(np.inf))
    kept = positions.merge(limits, on=_OUTPUT)
    return kept[kept["position"] < kept["end"]].drop(columns="end")
