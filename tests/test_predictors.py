"""Entropy against margin where the answer is known, and their areas against libraries."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from draftlaw.predictors import auc, mismatch_predictors, predictor_bins, scored_positions
from draftlaw.tables.analysis import MISMATCH_PREDICTORS, PREDICTOR_BINS

VOCABULARY = 1000
REQUESTS, LENGTH = 40, 150


def entropy_and_margin(p: npt.NDArray[np.float64]) -> tuple[float, float]:
    """H and top-1 minus top-2 log-probability of a distribution, nat."""
    second, first = np.sort(p)[-2:]
    return float(stats.entropy(p)), float(np.log(first / second))


def near_tie() -> npt.NDArray[np.float64]:
    """Two tokens share almost everything: little entropy, and no margin."""
    return np.array([0.50, 0.48, *np.full(VOCABULARY - 2, 0.02 / (VOCABULARY - 2))])


def long_tail() -> npt.NDArray[np.float64]:
    """A clear favourite, and a thousand others: much entropy, and a margin."""
    return np.array([0.55, *np.full(VOCABULARY - 1, 0.45 / (VOCABULARY - 1))])


def mixture(at_ties: float, at_tails: float) -> pd.DataFrame:
    """Positions of class F, half near ties and half long tails, with the chances of a mismatch."""
    random = np.random.default_rng(5)
    tie = random.random(REQUESTS * LENGTH) < 0.5
    (h_tie, m_tie), (h_tail, m_tail) = map(entropy_and_margin, (near_tie(), long_tail()))
    jitter = random.uniform(0.8, 1.2, (2, len(tie)))
    chance = np.where(tie, at_ties, at_tails)
    number = np.arange(len(tie))
    keys = pd.DataFrame(
        {
            "request_id": [f"r{n // LENGTH}" for n in number],
            "batch": 1,
            "position": number % LENGTH,
        }
    )
    positions = keys.assign(position_class="F", cluster=keys["request_id"])
    margin = np.where(tie, m_tie, m_tail) * jitter[1]
    replay = keys.assign(
        entropy=np.where(tie, h_tie, h_tail) * jitter[0],
        entropy_masked=0.0,
        margin=np.nan,
        margin_raw=margin,
        match=random.random(len(tie)) >= chance,
    )
    return scored_positions("A", positions, replay)


def compared(scored: pd.DataFrame) -> pd.DataFrame:
    curves = predictor_bins(scored, 6)
    found = mismatch_predictors(scored, curves)
    PREDICTOR_BINS.check(curves, "here")
    MISMATCH_PREDICTORS.check(found, "here")
    return found.set_index("predictor")


def test_where_near_ties_are_rejected_the_margin_predicts_and_entropy_does_not() -> None:
    found = compared(mixture(at_ties=0.6, at_tails=0.1))
    assert found.loc["margin", "auc"] > 0.7 and found.loc["entropy", "auc"] < 0.5
    assert found.loc["margin", "advantage"] > 10 * found.loc["margin", "advantage_se"]
    assert (
        found.loc["margin", "calibration_error"] < 0.1 < found.loc["entropy", "calibration_error"]
    )


def test_where_long_tails_are_rejected_entropy_predicts_and_the_margin_does_not() -> None:
    found = compared(mixture(at_ties=0.1, at_tails=0.6))
    assert found.loc["entropy", "auc"] > 0.7 and found.loc["margin", "auc"] < 0.5
    assert found.loc["entropy", "advantage"] == -found.loc["margin", "advantage"] > 0
    assert found.loc["entropy", "spearman"] > 0 > found.loc["margin", "spearman"]


def test_where_neither_matters_neither_predicts() -> None:
    found = compared(mixture(at_ties=0.4, at_tails=0.4))
    assert (abs(found["auc"] - 0.5) < 4 * found["auc_se"]).all()
    assert (abs(found["advantage"]) < 4 * found["advantage_se"]).all()


@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30),
)
def test_the_area_is_that_of_mann_and_whitney(rows: list[tuple[int, bool]]) -> None:
    score = np.array([row[0] for row in rows], float)
    mismatch = np.array([row[1] for row in rows])
    area, influence = auc(score, mismatch)
    if mismatch.all() or not mismatch.any():
        assert np.isnan(area)
        return
    both = stats.mannwhitneyu(score[mismatch], score[~mismatch])
    assert area == pytest.approx(both.statistic / mismatch.sum() / (~mismatch).sum())
    assert influence.sum() == pytest.approx(0, abs=1e-9)


def test_the_error_of_the_area_is_that_of_resampled_units() -> None:
    random = np.random.default_rng(2)
    unit = np.repeat(np.arange(60), 30)
    level = random.normal(0, 1, 60)[unit]  # units differ, so that positions are not independent
    score = 1 / (1 + np.exp(-level - random.normal(0, 1, len(unit))))
    mismatch = random.random(len(unit)) < 1 / (1 + np.exp(-level))
    frame = pd.DataFrame({"arm": "A", "batch": 1, "position_class": "F", "cluster": unit})
    frame = frame.assign(entropy=score, margin=score, mismatch=mismatch.astype(float))
    found = compared(frame).loc["entropy"]
    rows = [np.flatnonzero(unit == number) for number in range(60)]
    areas = []
    for _ in range(400):
        drawn = np.concatenate([rows[number] for number in random.integers(0, 60, 60)])
        areas.append(auc(score[drawn], mismatch[drawn])[0])
    assert found["auc_se"] == pytest.approx(np.std(areas), rel=0.15)
    alone = compared(frame.assign(cluster=np.arange(len(unit)))).loc["entropy"]
    assert alone["auc"] == found["auc"] and alone["auc_se"] < 0.6 * found["auc_se"]
    assert found["advantage"] == found["advantage_se"] == 0


def test_scores_are_masked_in_calls_and_nowhere_else() -> None:
    keys = pd.DataFrame({"request_id": "r", "batch": 1, "position": [0, 1, 2]})
    positions = keys.assign(position_class=["S", "S", "F"], cluster="r")
    replay = keys.assign(
        entropy=[1.0, 1.0, 0.5],
        entropy_masked=[0.2, 0.0, 0.1],
        margin=[0.7, np.nan, 3.0],
        margin_raw=[0.1, 0.1, 0.4],
        match=[True, False, True],
    )
    mixed = scored_positions("D", positions, replay)
    assert mixed["entropy"].tolist() == pytest.approx([1 - np.exp(-0.2), 0.0, 1 - np.exp(-0.5)])
    assert mixed["margin"].tolist() == pytest.approx([np.exp(-0.7), 0.0, np.exp(-0.4)])
    assert mixed["mismatch"].tolist() == [0, 1, 0]
    assert scored_positions("B", positions, replay)["position_class"].tolist() == ["S", "S"]
    assert len(scored_positions("C", positions, replay)) == 0


def test_a_class_that_never_is_rejected_has_no_area() -> None:
    scored = mixture(at_ties=0.0, at_tails=0.0)
    found = compared(scored)
    assert found[["auc", "auc_se", "advantage", "spearman"]].isna().all(axis=None)
    assert (found["calibration_error"] == 0).all()
