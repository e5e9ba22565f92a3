"""Costs on tables made by hand, where the answer is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from draftlaw.costs import (
    class_times,
    composition,
    cost_fits,
    savings,
    seconds_per_token,
    step_costs,
    timed,
    turns,
)

C_1 = 0.05


def rounds(
    depth: int, seconds: float, emitted: int, batch: int = 1, arm: str = "A"
) -> pd.DataFrame:
    """Four steps of a full batch, then one that is not full, after one with a prefill."""
    rows = []
    for step in range(6):
        present = batch if step < 5 else max(batch - 1, 0)
        for number in range(present):
            rows.append(
                {
                    "arm": arm,
                    "batch": batch,
                    "depth": depth,
                    "launch": 0,
                    "request_id": f"r{number}",
                    "round": step,
                    "start": 1 + step * emitted,
                    "step": step,
                    "step_seconds": seconds if 0 < step < 5 else 99.0,
                    "step_draft_seconds": 0.2 * depth * C_1,
                    "step_requests": present,
                    "step_prefill": step == 0,
                    "accepted": emitted - 1,
                    "emitted": emitted,
                }
            )
    return pd.DataFrame(rows)


def test_only_full_steps_without_prefill_are_timed() -> None:
    kept = timed(rounds(4, 0.1, 3, batch=2))
    assert set(kept["step"]) == {1, 2, 3, 4}
    assert seconds_per_token(kept) == pytest.approx(0.1 / 2 / 3)


def costs(overhead: float, k: float, depths: list[int]) -> pd.DataFrame:
    cells = [rounds(0, C_1, 1)]
    cells += [rounds(d, C_1 * (1 + overhead + k * d), 2) for d in depths]
    return step_costs(timed(pd.concat(cells)))


def test_the_law_s_slope_is_found() -> None:
    fit = cost_fits(costs(0.0, 0.125, [4, 8, 16])).iloc[0]
    assert fit["c_1"] == pytest.approx(C_1)
    assert fit["k"] == pytest.approx(0.125) == fit["k_free"]
    assert fit["overhead"] == pytest.approx(0, abs=1e-9)
    assert fit["d"] == pytest.approx(0.2)
    assert fit["delta"] == pytest.approx(0.125 - 0.2)  # negative, not clipped


def test_a_fixed_cost_per_round_is_not_hidden_in_the_free_slope() -> None:
    fit = cost_fits(costs(0.5, 0.125, [4, 8, 16])).iloc[0]
    assert fit["overhead"] == pytest.approx(0.5)
    assert fit["k_free"] == pytest.approx(0.125)
    assert fit["k"] > 0.125  # forced through 1, it must carry the overhead


def test_one_depth_gives_no_free_fit() -> None:
    fit = cost_fits(costs(0.5, 0.125, [4])).iloc[0]
    assert np.isnan(fit["overhead"]) and np.isnan(fit["k_free"])
    assert fit["k"] == pytest.approx(0.125 + 0.5 / 4)


def test_saving_is_net_of_the_draft() -> None:
    cells = timed(pd.concat([rounds(0, C_1, 1), rounds(4, 1.5 * C_1, 3)]))
    row = savings(cells).iloc[0]
    assert row["saving"] == pytest.approx(1 - 1.5 / 3)
    assert row["length"] == 3


def positions(classes: str, arm: str = "A") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "arm": arm,
            "request_id": "r0",
            "batch": 1,
            "position": range(len(classes)),
            "position_class": list(classes),
        }
    )


def test_composition() -> None:
    row = composition(positions("SSRF")).iloc[0]
    assert (row["w_s"], row["w_r"], row["w_f"], row["tokens"]) == (0.5, 0.25, 0.25, 4)


def test_turns_are_paired_with_their_own_baseline() -> None:
    cells = timed(pd.concat([rounds(0, C_1, 1), rounds(4, 3 * C_1, 2)]))
    prompts = pd.DataFrame({"arm": ["A"], "request_id": ["r0"], "cluster": ["t"], "turn": [0]})
    found = turns(cells, prompts, positions("SSSSSRFFFF" * 2))
    assert len(found) == 1
    assert found["saving"].item() == pytest.approx(1 - 3 / 2)
    assert found["w_s"].item() == 0.5 and found["accepted"].item() == 1


def test_time_by_class() -> None:
    cells = timed(pd.concat([rounds(0, C_1, 1), rounds(4, 2 * C_1, 1)]))
    found = class_times(cells, positions("FFFSSSSSS"), step_costs(cells))
    by_class = found.set_index(["depth", "position_class"])
    assert by_class.loc[(4, "S"), "relative"] == pytest.approx(2)
    assert by_class.loc[(4, "F"), "rounds"] + by_class.loc[(4, "S"), "rounds"] == 4
