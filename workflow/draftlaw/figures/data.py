"""What the measured figures show, computed from the tables of `draftlaw.tables.analysis`.

A value that is not estimable is null in the tables; here it is left out, or None.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from draftlaw.arms import CONTROL, MIXED
from draftlaw.law import PerClass, rest_mean
from draftlaw.mean_field import MeanField

LEAST_AT_RISK = 5
"""Draft tokens at risk below which an offset is not drawn, token."""


def own_arms(frame: pd.DataFrame, law: pd.DataFrame) -> pd.DataFrame:
    """The rows of each class in its own arm, which the law's table names."""
    return frame.merge(law[["arm", "position_class"]].drop_duplicates())


def span(counts: Iterable[int]) -> str:
    """Counts as text: one number, or the least and the greatest of them."""
    kept = list(counts)
    if not kept:
        return "0"
    low, high = min(kept), max(kept)
    return f"{low}" if low == high else f"{low} to {high}"


def by_class(frame: pd.DataFrame, column: str) -> PerClass[float] | None:
    """A column of one batch and depth by class; None unless every class is estimable."""
    values = frame.set_index("position_class")[column].dropna()
    if len(values) < 3:
        return None
    return PerClass(float(values["S"]), float(values["R"]), float(values["F"]))


def mean_field(law: pd.DataFrame, crossing: pd.Series) -> MeanField | None:
    """The law with what was measured for it.

    Args:
        law: the law's rows of one batch and depth, one for each class.
        crossing: the row of `crossings` of the same batch and depth.

    Returns:
        None where one of its parameters is not estimable, or kappa is 0: there is no law then.
    """
    kappa, rho = by_class(law, "kappa"), by_class(law, "rho")
    k, r = float(crossing["k"]), float(crossing["r"])
    if kappa is None or rho is None or kappa.prose == 0 or np.isnan([k, r]).any():
        return None
    return MeanField(k, kappa.prose, r, rho)


def mixture(law: pd.DataFrame, crossing: pd.Series) -> tuple[float, float] | None:
    """Measured net savings of the arms, mixed in long spans: at w_S = 0 and at w_S = 1.

    Between the two it is a straight line, since costs add. Arguments as for `mean_field`.
    """
    savings, r = by_class(law, "saving"), float(crossing["r"])
    if savings is None or np.isnan(r):
        return None
    return rest_mean(r, savings), savings.schema


def regression(crossing: pd.Series) -> tuple[float, float] | None:
    """Net saving that arm D's regression gives at w_S = 0 and at w_S = 1."""
    ends = (float(crossing["saving_at_0"]), float(crossing["saving_at_1"]))
    return None if np.isnan(ends).any() else ends


def accepted_lengths(accepted: pd.DataFrame, law: pd.DataFrame, variant: str) -> pd.DataFrame:
    """Measured accepted length of each class in its own arm, in the engine's view."""
    kept = own_arms(accepted, law)
    return kept.loc[(kept["view"] == "engine") & (kept["variant"] == variant) & kept["tau"].notna()]


def law_mismatch(law: pd.DataFrame) -> dict[tuple[int, str], float]:
    """The law's mismatch by batch and class, where estimable; it is the same at every depth."""
    rows = law.dropna(subset=["eps"])
    keys = zip(rows["batch"], rows["position_class"], strict=True)
    return dict(zip(keys, rows["eps"], strict=True))


def acceptance(hazards: pd.DataFrame, law: pd.DataFrame) -> pd.DataFrame:
    """Acceptance at each offset of the deepest drafts, given that all before were accepted.

    Returns:
        Rows of `hazards` (engine's view, all positions, each class in its own arm) with the column
        `acceptance`, 1; offsets with too few draft tokens at risk are left out.
    """
    kept = own_arms(hazards, law)
    kept = kept[
        (kept["view"] == "engine")
        & (kept["variant"] == "all")
        & (kept["depth"] == kept["depth"].max())
        & (kept["at_risk"] >= LEAST_AT_RISK)
        & kept["hazard"].notna()
    ]
    shown: pd.DataFrame = kept.assign(acceptance=1 - kept["hazard"]).sort_values("offset")
    return shown


def round_parts(step_costs: pd.DataFrame, cost_fits: pd.DataFrame) -> pd.DataFrame:
    """What a round of the control arm consists of, in target passes c_1.

    Returns:
        Columns batch, depth, target (1 by definition), draft, rest, total and law (1 + k gamma),
        each in c_1; cells that are not estimable are left out. `rest` is what is left of the total
        and may be below 0.
    """
    rows = step_costs[step_costs["depth"] > 0].merge(cost_fits, on=["arm", "batch"])
    rows = rows[rows["arm"] == CONTROL].dropna(subset=["relative", "draft_seconds", "c_1"])
    draft = rows["draft_seconds"] / rows["c_1"]
    return pd.DataFrame(
        {
            "batch": rows["batch"],
            "depth": rows["depth"],
            "target": 1.0,
            "draft": draft,
            "rest": rows["relative"] - 1 - draft,
            "total": rows["relative"],
            "law": 1 + rows["k"] * rows["depth"],
        }
    )


def both_views(accepted: pd.DataFrame) -> pd.DataFrame:
    """Accepted lengths that both views could estimate.

    Returns:
        Columns arm, batch, depth, position_class, engine and replay (tau, token).
    """
    rows = accepted[(accepted["variant"] == "all") & accepted["tau"].notna()]
    key = ["arm", "batch", "depth", "position_class"]
    engine, replay = (rows[rows["view"] == view] for view in ("engine", "replay"))
    return (
        engine[[*key, "tau"]]
        .merge(
            replay[[*key, "tau"]], on=key, suffixes=("_engine", "_replay"), validate="one_to_one"
        )
        .rename(columns={"tau_engine": "engine", "tau_replay": "replay"})
    )


def mixed_turns(turns: pd.DataFrame) -> pd.DataFrame:
    """Arm D's turns that have a saving, at depths above 0."""
    kept = turns[(turns["arm"] == MIXED) & (turns["depth"] > 0)]
    return kept.dropna(subset=["saving"])
