"""The registered predictions, read by the paper's literal rules on point estimates.

Descriptive: intervals, decisions and families are the registered inference's. Protocol, section 6.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from draftlaw.arms import MIXED

Row = dict[str, Any]

RATIO = 1.5
"""P1: tau_S / tau_F is at least this."""

NEAR = 0.25
"""P2: |predicted - measured| / measured of the crossing is at most this."""

HIGH_SHARE = 0.6
"""R2: the saving is judged over turns with at least this schema share."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A literal rule: which prediction, on what, why so, and against which number."""

    prediction: str
    quantity: str
    reason: str
    threshold: float

    def read(self, estimate: float, holds: bool, turns: pd.DataFrame) -> Row:
        """Its row of the verdicts table; an estimate that is not finite decides nothing."""
        literal = "holds" if holds else "fails"
        return {
            **asdict(self),
            "estimate": estimate,
            "literal": literal if np.isfinite(estimate) else "not estimable",
            "requests": len(turns),
            "positions": int(turns["tokens"].sum()),
        }


def verdicts(law_rows: pd.DataFrame, crossings: pd.DataFrame, turns: pd.DataFrame) -> pd.DataFrame:
    """Every registered prediction in every cell.

    Args:
        law_rows: the law table, which holds the measured tau of each class in its own arm.
        crossings: the crossings table.
        turns: the turns table, all arms.

    Returns:
        The verdicts table.
    """
    rows: list[Row] = []
    for (batch, depth), classes in law_rows.groupby(["batch", "depth"]):
        cell = turns[(turns["batch"] == batch) & (turns["depth"] == depth)]
        at = crossings[(crossings["batch"] == batch) & (crossings["depth"] == depth)]
        mixed = cell[cell["arm"] == MIXED]
        tau = {
            str(name): float(t) for name, t in classes.set_index("position_class")["tau"].items()
        }
        found = [
            *_order(tau, cell[cell["arm"] != MIXED]),
            _break_even(
                float(at["share_exact"].iloc[0]), float(at["share_measured"].iloc[0]), mixed
            ),
            _high_share(mixed),
            _composition(mixed),
            _lossless(cell),
        ]
        rows += [{**row, "batch": batch, "depth": depth} for row in found]
    return pd.DataFrame(rows)


def _order(tau: dict[str, float], turns: pd.DataFrame) -> list[Row]:
    """P1: tau_S > tau_R > tau_F, and tau_S at least 1.5 times tau_F."""
    s, r, f = (tau.get(name, float("nan")) for name in "SRF")
    ratio = s / f if f > 0 else float("nan")
    upper = Rule("P1", "tau_S - tau_R", "accepted lengths of arms B and C; above 0", 0.0)
    lower = Rule("P1", "tau_R - tau_F", "accepted lengths of arms C and A; above 0", 0.0)
    large = Rule("P1", "tau_S / tau_F", "arms B and A; at least the threshold", RATIO)
    return [
        upper.read(s - r, s > r, turns),
        lower.read(r - f, r > f, turns),
        large.read(ratio, ratio >= RATIO, turns),
    ]


def _break_even(predicted: float, measured: float, turns: pd.DataFrame) -> Row:
    """P2: the predicted crossing within a quarter of the measured one."""
    reason = f"predicted {_words(predicted)} (exact identity), measured {_words(measured)}"
    if (predicted > 1 and measured > 1) or (predicted < 0 and measured < 0):
        reason += "; both outside [0, 1] on the same side (concordant)"
    error = abs(predicted - measured) / abs(measured) if measured else float("nan")
    return Rule("P2", "crossing error", reason, NEAR).read(error, error <= NEAR, turns)


def _words(share: float) -> str:
    return f"{share:.3f}" if np.isfinite(share) else "no crossing"


def _high_share(turns: pd.DataFrame) -> Row:
    """R2, the refutation of P2: a loss over the turns with a high schema share."""
    high = turns[turns["w_s"] >= HIGH_SHARE].dropna(subset=["saving"])
    with_draft = float((high["seconds"] * high["tokens"]).sum())
    without = float((high["baseline_seconds"] * high["tokens"]).sum())
    saving = 1 - with_draft / without if without > 0 else float("nan")
    reason = f"token-pooled saving over turns with w_S >= {HIGH_SHARE}; below 0 is R2 by the letter"
    return Rule("P2", "saving at high w_S", reason, 0.0).read(saving, saving >= 0, high)


def _composition(turns: pd.DataFrame) -> Row:
    """P3 needs cells with prefix cache and gate."""
    rule = Rule("P3", "composed cost", "cache and gate cells are not measured yet", float("nan"))
    return {**rule.read(float("nan"), False, turns), "literal": "not measured"}


def _lossless(turns: pd.DataFrame) -> Row:
    """P4: outputs with and without speculation are the same."""
    differing = float((~turns["identical"]).sum()) if len(turns) else float("nan")
    rule = Rule("P4", "differing outputs", "outputs unlike the baseline's, all arms", 0.0)
    return rule.read(differing, differing == 0, turns)
