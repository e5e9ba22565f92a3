"""What steps and tokens cost: c_1, the cost slope k, the draft's share, time by class, savings.

Protocol, sections 5 and 6. Only full steps without a prefill are timed: `batch` requests decode in
them. A request's share of a step is its seconds over the requests in it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from draftlaw.arms import CONTROL

CELL = ["arm", "batch", "depth"]
_STEP = ["arm", "batch", "depth", "launch", "step"]


def timed(rounds: pd.DataFrame) -> pd.DataFrame:
    """Rounds in full steps without a prefill, with the request's share of the step (s)."""
    kept = rounds[~rounds["step_prefill"] & (rounds["step_requests"] == rounds["batch"])]
    return kept.assign(share=kept["step_seconds"] / kept["step_requests"])


def seconds_per_token(rounds: pd.DataFrame) -> float:
    """Decode seconds per emitted token; NaN if no step was full.

    Args:
        rounds: of one cell, from `timed`.
    """
    tokens = int(rounds["emitted"].sum())
    return float(rounds["share"].sum() / tokens) if tokens else float("nan")


def step_costs(rounds: pd.DataFrame) -> pd.DataFrame:
    """Mean time of a step in every cell, alone and relative to the arm's own c_1.

    Args:
        rounds: of all cells, with columns arm and depth, from `timed`.

    Returns:
        The step_costs table.
    """
    steps = rounds.drop_duplicates(_STEP)
    costs = steps.groupby(CELL).agg(
        steps=("step_seconds", "size"),
        step_seconds=("step_seconds", "mean"),
        draft_seconds=("step_draft_seconds", "mean"),
    )
    frame = costs.reset_index()
    of_arm = ["arm", "batch"]
    c_1 = frame[frame["depth"] == 0].rename(columns={"step_seconds": "c_1"})[[*of_arm, "c_1"]]
    frame["relative"] = frame["step_seconds"] / frame.merge(c_1, on=of_arm, how="left")["c_1"]
    depth = frame["depth"].where(frame["depth"] > 0)
    frame["k_gamma"] = (frame["relative"] - 1) / depth
    return frame


def wave_costs(rounds: pd.DataFrame) -> pd.DataFrame:
    """Step times summed by wave of a launch, the unit that times are resampled by.

    Args:
        rounds: of all cells, with columns arm and depth, from `timed`.

    Returns:
        The wave_costs table.
    """
    steps = rounds.drop_duplicates(_STEP)
    sums = steps.groupby([*CELL, "launch", "wave"]).agg(
        steps=("step_seconds", "size"),
        step_seconds=("step_seconds", "sum"),
        draft_seconds=("step_draft_seconds", "sum"),
    )
    return sums.reset_index()


def cost_fits(costs: pd.DataFrame) -> pd.DataFrame:
    """The law's cost slope per arm and batch, with and without a fixed cost per round.

    Args:
        costs: from `step_costs`.

    Returns:
        The cost_fits table: k by least squares of T(gamma)/c_1 on gamma forced through 1; the free
        fit needs two depths; d is the draft's seconds over gamma c_1, by the same rule.
    """
    rows = [
        {"arm": arm, "batch": batch, **_fit(group)}
        for (arm, batch), group in costs.groupby(["arm", "batch"])
    ]
    return pd.DataFrame(rows)


def _fit(cells: pd.DataFrame) -> dict[str, float]:
    nan = float("nan")
    c_1 = cells.loc[cells["depth"] == 0, "step_seconds"]
    base = float(c_1.iloc[0]) if len(c_1) else nan
    speculative = cells[cells["depth"] > 0]
    gamma = speculative["depth"].to_numpy(float)
    relative = speculative["relative"].to_numpy(float)
    k = _through_origin(gamma, relative - 1)
    d = _through_origin(gamma, speculative["draft_seconds"].to_numpy(float) / base)
    free = np.polyfit(gamma, relative, 1) if len(gamma) > 1 else np.array([nan, nan])
    return {
        "c_1": base,
        "k": k,
        "overhead": float(free[1]) - 1,
        "k_free": float(free[0]),
        "d": d,
        "delta": k - d,
    }


def _through_origin(x: np.ndarray, y: np.ndarray) -> float:
    """Slope of least squares through the origin."""
    return float((x * y).sum() / (x * x).sum()) if len(x) else float("nan")


def class_times(rounds: pd.DataFrame, positions: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Mean step time by the class in which a round starts.

    Args:
        rounds: of all cells, from `timed`.
        positions: arm, request_id, batch, position, position_class of all arms.
        costs: from `step_costs`, for arm A's c_1.

    Returns:
        The class_times table. At batch 1 a step belongs to one class; in larger ones it is shared
        by requests that may be in others.
    """
    labels = positions[["arm", "request_id", "batch", "position", "position_class"]]
    key = ["arm", "request_id", "batch", "start"]
    begun = rounds.merge(labels.rename(columns={"position": "start"}), on=key)
    grouped = begun.groupby([*CELL, "position_class"])
    frame = grouped.agg(
        rounds=("step_seconds", "size"), step_seconds=("step_seconds", "mean")
    ).reset_index()
    of_a = costs[(costs["arm"] == CONTROL) & (costs["depth"] == 0)]
    frame["relative"] = frame["step_seconds"] / frame["batch"].map(
        of_a.set_index("batch")["step_seconds"]
    )
    return frame


def savings(rounds: pd.DataFrame) -> pd.DataFrame:
    """Net saving of decoding in every speculative cell.

    Args:
        rounds: of all cells, from `timed`.

    Returns:
        The savings table.
    """
    rows = []
    for (arm, batch), cells in rounds.groupby(["arm", "batch"]):
        by_depth = dict(iter(cells.groupby("depth")))
        if 0 not in by_depth:
            continue
        baseline = seconds_per_token(by_depth.pop(0))
        for depth, cell in by_depth.items():
            seconds = seconds_per_token(cell)
            rows.append(
                {
                    "arm": arm,
                    "batch": batch,
                    "depth": depth,
                    "requests": cell["request_id"].nunique(),
                    "tokens": int(cell["emitted"].sum()),
                    "baseline_seconds": baseline,
                    "seconds": seconds,
                    "saving": 1 - seconds / baseline,
                    "length": float(cell["emitted"].mean()),
                }
            )
    return pd.DataFrame(rows)


def turns(rounds: pd.DataFrame, prompts: pd.DataFrame, positions: pd.DataFrame) -> pd.DataFrame:
    """Composition and net saving of every turn, paired with the same turn's baseline.

    Args:
        rounds: of all cells, from `timed`.
        prompts: arm, request_id, cluster, turn of all arms.
        positions: arm, request_id, batch, position_class of all arms.

    Returns:
        The turns table, without the column identical.
    """
    key = ["arm", "batch", "request_id"]
    sums = rounds.groupby([*key, "depth"]).agg(
        seconds=("share", "sum"), emitted=("emitted", "sum"), accepted=("accepted", "mean")
    )
    sums["seconds"] = sums["seconds"] / sums["emitted"]
    frame = sums.reset_index()
    baseline = frame[frame["depth"] == 0].set_index(key)["seconds"].rename("baseline_seconds")
    found = frame[frame["depth"] > 0].merge(baseline.reset_index(), on=key, how="left")
    found["saving"] = 1 - found["seconds"] / found["baseline_seconds"]
    composed = found.merge(composition(positions), on=key)
    return composed.merge(
        prompts[["arm", "request_id", "cluster", "turn"]], on=["arm", "request_id"]
    )


def composition(positions: pd.DataFrame) -> pd.DataFrame:
    """Tokens and shares of the classes in every output: arm, batch, request_id, tokens, w_s, ..."""
    key = ["arm", "batch", "request_id"]
    counts = positions.groupby([*key, "position_class"]).size().unstack(fill_value=0)
    counts = counts.reindex(columns=["S", "R", "F"], fill_value=0)
    tokens = counts.sum(axis=1)
    shares = counts.div(tokens, axis=0).rename(columns={c: f"w_{c.lower()}" for c in "SRF"})
    return shares.assign(tokens=tokens).reset_index()
