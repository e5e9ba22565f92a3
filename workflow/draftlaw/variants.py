"""Variants of a set of positions: every acceptance figure is shown with and without each kind."""

from __future__ import annotations

import pandas as pd


def variant_mask(positions: pd.DataFrame, variant: str) -> pd.Series[bool]:
    """Which positions a variant keeps.

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
