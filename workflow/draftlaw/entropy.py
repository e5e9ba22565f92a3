"""Entropy by position class: the measured H_c and rho_c of an arm."""

from __future__ import annotations

import numpy as np
import pandas as pd

from draftlaw.errors import DraftLawError
from draftlaw.tables.replay import ENTROPY, VARIANTS
from draftlaw.variants import class_entropy, variant_mask

_KEY = ["request_id", "batch", "position"]


def entropy_table(
    arm: str, prompts: pd.DataFrame, positions: pd.DataFrame, replay: pd.DataFrame
) -> pd.DataFrame:
    """Means over the positions of each batch, class and variant.

    Args:
        arm: its name.
        prompts: the arm's prompt table, which knows the clusters.
        positions: its table of labelled positions.
        replay: its replay table.

    Returns:
        The entropy table; a class or variant without positions has no row.

    Raises:
        DraftLawError: the two tables do not speak of the same positions.
    """
    frame = positions.merge(replay, on=_KEY, validate="one_to_one")
    if not len(frame) == len(positions) == len(replay):
        raise DraftLawError(
            f"arm {arm}: {len(positions)} positions, {len(replay)} replayed, "
            f"{len(frame)} of them the same",
            "Make both tables again from the same outputs",
        )
    clusters = prompts.set_index("request_id")["cluster"]
    frame["cluster"] = frame["request_id"].map(clusters)
    frame["chosen"] = class_entropy(frame)
    rows = [
        {
            "arm": arm,
            "batch": batch,
            "position_class": position_class,
            "variant": variant,
            **_means(kept),
        }
        for (batch, position_class), members in frame.groupby(["batch", "position_class"])
        for variant in VARIANTS
        if len(kept := members[variant_mask(members, variant)])
    ]
    return pd.DataFrame(rows, columns=[column.name for column in ENTROPY.columns])


def _means(kept: pd.DataFrame) -> dict[str, float]:
    mean = kept["chosen"].mean()
    return {
        "requests": kept["request_id"].nunique(),
        "clusters": kept["cluster"].nunique(),
        "positions": len(kept),
        "straddlers": kept["straddler"].sum(),
        "mean_entropy": mean,
        "mean_entropy_raw": kept["entropy"].mean(),
        "predictability_of_mean": np.exp(-mean),
        "mean_predictability": np.exp(-kept["chosen"]).mean(),
    }
