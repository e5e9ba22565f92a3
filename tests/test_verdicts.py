"""The literal readings of P1-P4 on both sides of every threshold."""

from __future__ import annotations

import pandas as pd
import pytest

from draftlaw.verdicts import verdicts


def read(
    tau: tuple[float, float, float] = (3.0, 2.0, 1.0),
    predicted: float = 0.5,
    measured: float = 0.5,
    saving: float = 0.2,
    identical: bool = True,
) -> pd.DataFrame:
    """Verdicts of one cell, by prediction and quantity."""
    cell = {"batch": 1, "depth": 8}
    classes = pd.DataFrame({"position_class": list("SRF"), "tau": tau}).assign(**cell)
    crossing = pd.DataFrame({"share_exact": [predicted], "share_measured": [measured], **cell})
    turns = pd.DataFrame(
        {
            "arm": ["A", "B", "C", "D", "D"],
            "w_s": [0, 1, 0, 0.9, 0.1],
            "tokens": 10,
            "baseline_seconds": 1.0,
            "seconds": [1, 1, 1, 1 - saving, 5],
            "saving": [0, 0, 0, saving, -4],
            "identical": identical,
        }
    ).assign(**cell)
    return verdicts(classes, crossing, turns).set_index(["prediction", "quantity"])


CASES = [
    ({}, ("P1", "tau_S - tau_R"), "holds"),
    ({"tau": (2.0, 2.5, 1.0)}, ("P1", "tau_S - tau_R"), "fails"),
    ({"tau": (3.0, 1.0, 1.5)}, ("P1", "tau_R - tau_F"), "fails"),
    ({"tau": (1.5, 1.2, 1.0)}, ("P1", "tau_S / tau_F"), "holds"),
    ({"tau": (1.4, 1.2, 1.0)}, ("P1", "tau_S / tau_F"), "fails"),
    ({"tau": (float("nan"), 2.0, 1.0)}, ("P1", "tau_S / tau_F"), "not estimable"),
    ({"predicted": 0.62}, ("P2", "crossing error"), "holds"),
    ({"predicted": 0.63}, ("P2", "crossing error"), "fails"),
    ({"predicted": float("nan")}, ("P2", "crossing error"), "not estimable"),
    ({"saving": -0.1}, ("P2", "saving at high w_S"), "fails"),
    ({}, ("P2", "saving at high w_S"), "holds"),
    ({}, ("P3", "composed cost"), "not measured"),
    ({}, ("P4", "differing outputs"), "holds"),
    ({"identical": False}, ("P4", "differing outputs"), "fails"),
]


@pytest.mark.parametrize(("change", "row", "literal"), CASES)
def test_the_literal_reading(change: dict[str, object], row: tuple[str, str], literal: str) -> None:
    assert read(**change).loc[row, "literal"] == literal  # type: ignore[arg-type]


def test_two_crossings_off_the_same_side_are_called_concordant() -> None:
    assert "concordant" in read(predicted=1.4, measured=1.1).loc[("P2", "crossing error"), "reason"]
    assert (
        "concordant"
        not in read(predicted=1.4, measured=0.9).loc[("P2", "crossing error"), "reason"]
    )


def test_only_turns_with_a_high_schema_share_decide_r2() -> None:
    row = read(saving=0.2).loc[("P2", "saving at high w_S")]
    assert row["requests"] == 1 and row["estimate"] == pytest.approx(0.2)
