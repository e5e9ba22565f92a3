"""What analyses share of output positions: their variants, and the entropy that counts."""

from __future__ import annotations

import pandas as pd


def variant_mask(positions: pd.DataFrame, variant: str) -> pd.Series[bool]:
    """Which positions a variant keeps: acceptance is shown with and without each kind.

    Args:
        positions: with columns forced and loop, shape [positions].
        variant: one of `tables.replay.VARIANTS`.
    """
    kept = pd.Series(True, index=positions.index)
    if "unforced" in variant:
        kept &= ~positions["forced"]
    if "unlooped" in variant:
        kept &= ~positions["loop"]
    return kept


def class_entropy(positions: pd.DataFrame) -> pd.Series[float]:
    """H at each position, nat: under the grammar's mask in class S, raw elsewhere.

    Protocol, section 3.

    Args:
        positions: with columns position_class, entropy and entropy_masked, shape [positions].
    """
    constrained = positions["position_class"] == "S"
    return positions["entropy_masked"].where(constrained, positions["entropy"])
