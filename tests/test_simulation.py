"""The simulator: reproducible, valid in every table, and with the truths that it claims.

Monte-Carlo bounds are four standard errors.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from draftlaw import law
from draftlaw.acceptance import accepted_lengths, examined_tokens, hazards, risk_sets
from draftlaw.arms import ARM_OF
from draftlaw.calibration import class_positions, kappas
from draftlaw.checks import CellTables, check_counts, unexplained_rounds
from draftlaw.comparison import Calibrated, crossings, law_table
from draftlaw.costs import cost_fits, savings, step_costs, timed, turns
from draftlaw.errors import DraftLawError
from draftlaw.results import Results
from draftlaw.rounds_replay import accepted_lengths as replayed_lengths
from draftlaw.rounds_replay import replay_rounds
from draftlaw.simulation import truth as truths
from draftlaw.simulation.composition import DRAWS, prefill_cost
from draftlaw.simulation.draw import Outputs, draw_outputs, spread_spans
from draftlaw.simulation.generate import Simulated, SimulatedArm, simulate
from draftlaw.simulation.population import ByClass, Design, Population
from draftlaw.simulation.timing import half_t_moments, noise
from draftlaw.simulation.truth import population_at, truth
from draftlaw.simulation.walk import walk
from draftlaw.stages.check_cells import main as check_cells
from draftlaw.tables.analysis import INTERVALS
from draftlaw.tables.engine import ROUNDS, TRACES
from draftlaw.tables.parquet import Table
from draftlaw.tables.positions import POSITIONS
from draftlaw.tables.prompts import PROMPTS
from draftlaw.tables.replay import REPLAY, REPLAYED_ROUNDS

ARMS = "ABCD"
LAWFUL = Population()
RICH = Population(
    kappa=1.4,
    kappa_sd=0.4,
    entropy_sd=0.3,
    cut_rate=0.4,
    r_spread=0.2,
    span=7,
    length_correlation=0.5,
    overhead=0.3,
    step_tail=3.0,
    launch_drift=0.1,
    composition=1.3,
)
"""Everything at once that a study may meet."""


def design(**changes: Any) -> Design:
    base = Design(
        clusters=dict.fromkeys(ARMS, 10),
        turns=3,
        tokens=40,
        depths=(3, 8),
        batches=(1, 4),
        launches=2,
    )
    return base.model_copy(update=changes)


def with_clusters(clusters: int, **changes: Any) -> Design:
    single: dict[str, Any] = {"turns": 1, "batches": (1,), "launches": 1}
    return design(**{"clusters": dict.fromkeys(ARMS, clusters), **single, **changes})


@pytest.fixture(scope="module")
def rich() -> Simulated:
    return simulate(RICH, design(), 5)


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


# --- Seeds, tables, marks -------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(
    rich: Simulated, tmp_path: Path
) -> None:
    rich.write(tmp_path / "one")
    simulate(RICH, design(), 5).write(tmp_path / "again")
    simulate(RICH, design(), 6).write(tmp_path / "other")
    one, again, other = (files(tmp_path / name) for name in ("one", "again", "other"))
    assert one == again
    assert one.keys() == other.keys()
    unlike = {name for name in one if one[name] != other[name]}
    assert {"replay/A.parquet", "rounds/D-g8.parquet", "draws.parquet"} <= unlike


def test_what_is_added_changes_nothing_else(rich: Simulated) -> None:
    less = design(clusters={"A": 10}, depths=(8,), batches=(1,), launches=1)
    alone = simulate(RICH, less, 5).arms["A"]
    whole = rich.arms["A"]
    for few, many in (
        (alone.replay, whole.replay),
        (alone.rounds[0], whole.rounds[0]),
        (alone.rounds[8], whole.rounds[8]),
    ):
        kept = many[many["batch"] == 1]
        if "launch" in kept:
            kept = kept[kept["launch"] == 0]
        pd.testing.assert_frame_equal(few, kept.reset_index(drop=True))


def test_every_file_is_a_table_of_its_kind_and_says_that_it_is_simulated(
    rich: Simulated, tmp_path: Path
) -> None:
    rich.write(tmp_path)
    kinds: dict[str, Table] = {"draws.parquet": DRAWS}
    for arm in ARMS:
        kinds |= {f"{table.name}/{arm}.parquet": table for table in (PROMPTS, POSITIONS, REPLAY)}
        kinds[f"replay/{arm}-rounds.parquet"] = REPLAYED_ROUNDS
        for depth, table in product((0, 3, 8), (TRACES, ROUNDS)):
            kinds |= {f"{table.name}/{arm}-g{depth}-l{launch}.parquet": table for launch in (0, 1)}
        kinds[f"traces/{arm}-repeat.parquet"] = TRACES
    found = {name for name in files(tmp_path) if name.endswith(".parquet")}
    assert found == kinds.keys()
    for name, table in kinds.items():
        table.read(tmp_path / name, simulated=True)  # checks columns, values and key
        assert pq.read_schema(tmp_path / name).metadata[b"evidence"] == b"simulated", name


def test_no_measured_stage_takes_a_simulated_study(rich: Simulated, tmp_path: Path) -> None:
    rich.write(tmp_path)
    with pytest.raises(
        DraftLawError, match=r"A-g0-l0\.parquet holds simulated data, where measured"
    ):
        check_cells(tmp_path, ["A"], 1, 1, "measured: declared platform", [3])
    assert not (tmp_path / "checks.json").exists()
    results = Results(tmp_path, simulated=True)
    row = {"quantity": "k", "position_class": "none", "depth": 0, "batch": 1, "level": 0.95}
    frame = pd.DataFrame([{**row, "estimate": 0.2, "low": 0.1, "high": 0.3}])
    results.write(INTERVALS, frame, "measured: declared platform")
    with pytest.raises(DraftLawError, match="holds simulated data"):
        Results(tmp_path).table(INTERVALS)
    assert len(results.table(INTERVALS)) == 1


def test_a_study_without_mixed_turns_has_no_draws(tmp_path: Path) -> None:
    simulate(LAWFUL, design(clusters={"A": 2}), 1).write(tmp_path)
    assert DRAWS.read(tmp_path / "draws.parquet", simulated=True).empty
    with pytest.raises(ValidationError, match="clusters"):
        Design.model_validate({**design().model_dump(), "clusters": {"E": 1}})


# --- Rounds ---------------------------------------------------------------------------------------


def outputs_of(matches: list[list[bool]]) -> Outputs:
    """Outputs in which only the matches matter."""
    length = np.array([len(match) for match in matches])
    match = np.concatenate([np.array(match, bool) for match in matches])
    nothing = np.zeros(len(match))
    owner = np.repeat(np.arange(len(length)), length)
    zeros = np.zeros(len(length), int)
    code = nothing.astype(np.int8)
    return Outputs(
        "A", zeros, zeros, length, owner, code, nothing, nothing, match, nothing > 0, clipped=0
    )


@given(st.lists(st.lists(st.booleans(), min_size=2, max_size=30), min_size=1), st.integers(1, 9))
def test_the_walk_is_the_replay_s(matches: list[list[bool]], depth: int) -> None:
    rounds = walk(outputs_of(matches), depth)
    for number, match in enumerate(matches):
        expected, mine = replayed_lengths(np.array(match), depth), rounds.owner == number
        assert (rounds.round[mine] == np.arange(len(expected.start))).all()
        assert (rounds.start[mine] == expected.start).all()
        assert (rounds.accepted[mine] == expected.accepted).all()
        assert (rounds.emitted[mine] == expected.emitted).all()
        assert ((rounds.accepted == rounds.left)[mine] == expected.truncated).all()


def test_both_views_have_the_rounds_that_the_replay_implies(rich: Simulated) -> None:
    key = ["request_id", "batch", "depth", "round"]
    for arm in rich.arms.values():
        implied = replay_rounds(arm.replay, [3, 8]).set_index(key).sort_index()
        replayed = arm.replayed.set_index(key).sort_index()
        pd.testing.assert_frame_equal(replayed[implied.columns], implied)
        for depth in (3, 8):
            engine = arm.rounds[depth].query("launch == 1").assign(depth=np.int16(depth))
            same = implied.xs(depth, level="depth", drop_level=False)
            found = engine.set_index(key).sort_index()[implied.columns]
            assert isinstance(same, pd.DataFrame)
            pd.testing.assert_frame_equal(found, same)


def cell(simulated: Simulated, arm: str, depth: int) -> CellTables:
    tables = simulated.arms[arm]
    rounds = tables.rounds[depth]
    counters = {
        "drafts": int(rounds["verified"].sum()),
        "draft_tokens": int(rounds["drafted"].sum()),
        "accepted_tokens": int(rounds["accepted"].sum()),
    }
    return CellTables(arm, depth, tables.traces[depth], rounds, {"counters": counters})


def test_the_counting_rules_hold_and_the_replay_explains_every_round(rich: Simulated) -> None:
    for arm, depth in product(ARMS, (0, 3, 8)):
        found = cell(rich, arm, depth)
        check_counts(found)
        if depth:
            tables = rich.arms[arm]
            replay, baseline = tables.replay, tables.traces[0]
            assert unexplained_rounds(found, baseline, tables.replayed, replay) == []


def test_a_grammar_cut_is_a_rejection_inside_a_call() -> None:
    tables = simulate(RICH.model_copy(update={"kappa_sd": 0}), with_clusters(80), 2).arms
    for arm in "AC":
        assert not tables[arm].rounds[8]["grammar_cut"].any()
    rounds = tables["B"].rounds[8]
    cut = rounds["grammar_cut"]
    assert (rounds["drafted"] == np.where(cut, rounds["accepted"], 8)).all()
    assert not rounds["truncated"][cut].any()
    rejected = int(((rounds["accepted"] < 8) & ~rounds["truncated"]).sum())
    error = np.sqrt(RICH.cut_rate * (1 - RICH.cut_rate) / rejected)
    assert abs(cut.sum() / rejected - RICH.cut_rate) < 4 * error
    mixed = tables["D"]
    labels = mixed.positions.set_index(["request_id", "position"])["position_class"]
    refused = mixed.rounds[8][mixed.rounds[8]["grammar_cut"]]
    places = zip(refused["request_id"], refused["start"] + refused["accepted"], strict=True)
    assert set(labels.loc[list(places)]) == {"S"}


# --- Positions ------------------------------------------------------------------------------------

MISMATCHED = {
    "the law": LAWFUL,
    "constant entropy": Population(entropy_spread=0),
    "a weak draft": Population(kappa=2.5),
    "a weak draft, constant entropy": Population(kappa=2.5, entropy_spread=0),
    "another kappa in S": Population(kappa_by_class=ByClass(S=4, R=1, F=0.5)),
    "unlike clusters": Population(kappa=1.2, kappa_sd=0.5, entropy_sd=0.4),
}


def own_positions(simulated: Simulated, name: str) -> pd.DataFrame:
    """A class's positions in its own arm, with columns cluster, entropy, mismatch."""
    tables = simulated.arms[ARM_OF[name]]
    labelled = tables.positions.merge(tables.prompts[["request_id", "cluster"]])
    return class_positions(ARM_OF[name], labelled, tables.replay)


@pytest.mark.parametrize("case", MISMATCHED)
@pytest.mark.parametrize("name", "SRF")
def test_mismatch_is_that_of_the_law_and_its_mean_the_truth(case: str, name: str) -> None:
    population = MISMATCHED[case]
    found = own_positions(simulate(population, with_clusters(400), 8), name)
    means = found.groupby("cluster")["mismatch"].mean()
    error = float(means.std() / np.sqrt(len(means)))
    # where every token is a mismatch nothing varies
    assert abs(means.mean() - truths.mean_mismatch(population, name)) < 4 * error + 1e-9
    if population.kappa_sd == 0:
        kappa = population.kappa * getattr(population.kappa_by_class, name)
        eps = np.minimum(1, kappa * found["unpredictability"])
        chance = float(np.sqrt((eps * (1 - eps)).sum()))
        assert abs((found["mismatch"] - eps).sum()) <= 4 * chance


def test_entropy_has_the_mean_asked_for_and_is_read_under_the_mask() -> None:
    simulated = simulate(Population(entropy_sd=0.3), with_clusters(400), 3)
    for name, expected in (("S", 0.1), ("R", 0.6), ("F", 1.2)):
        means = own_positions(simulated, name).groupby("cluster")["entropy"].mean()
        assert abs(means.mean() - expected) < 4 * means.std() / np.sqrt(len(means))
    raw = simulated.arms["B"].replay
    assert (raw["entropy"] > raw["entropy_masked"]).all()


def test_a_weak_draft_clips_and_is_counted() -> None:
    population = Population(kappa=2.0)
    tables = simulate(population, design(batches=(1,)), 1).arms["A"]
    raw = -2.0 * np.expm1(-tables.replay["entropy"])
    assert tables.clipped == (raw > 1).sum() > 0
    assert not tables.replay["match"][raw > 1].any()
    assert simulate(Population(kappa=1.0), design(), 1).arms["A"].clipped == 0


@pytest.mark.parametrize("span", [1, 5, 20, 200])
@pytest.mark.parametrize("shares", [(0.2, 0.3, 0.5), (0.5, 0.0, 0.5)])
def test_runs_of_a_class_have_the_mean_length_asked_for(
    span: int, shares: tuple[float, ...]
) -> None:
    counts = (np.array([shares] * 4) * 100_000).astype(int)
    code = spread_spans(counts, span, np.random.default_rng(span)).reshape(4, -1)
    assert (np.stack([np.bincount(output, minlength=3) for output in code]) == counts).all()
    ends = int((np.diff(code, axis=1) != 0).sum())
    shuffled = 1 / (1 - sum(share**2 for share in shares))
    mean = (code.size - 4) / ends
    assert mean == pytest.approx(max(span, shuffled), rel=4 / np.sqrt(ends))


def test_spans_are_runs_of_one_class_numbered_within_the_output(rich: Simulated) -> None:
    rows = rich.arms["D"].positions
    for _, output in rows.groupby(["request_id", "batch"]):
        changes = output["position_class"] != output["position_class"].shift()
        assert (output["span"] == changes.cumsum() - 1).all()
        assert (output["position"] == np.arange(len(output))).all()
    assert rich.arms["A"].positions["span"].eq(0).all()


@pytest.mark.parametrize("correlation", [-0.8, 0.0, 0.8])
def test_length_and_schema_share_correlate_as_asked(correlation: float) -> None:
    population = Population(length_correlation=correlation)
    outputs = draw_outputs(population, with_clusters(1500), "D", 4)
    schema = np.bincount(outputs.owner, outputs.code == 0) / outputs.length
    found = stats.spearmanr(outputs.length, schema).statistic
    expected = 6 / np.pi * np.arcsin(correlation / 2)  # of a normal copula
    assert found == pytest.approx(expected, abs=4 / np.sqrt(1500))
    assert schema.mean() == pytest.approx(0.5, abs=4 * schema.std() / np.sqrt(1500))
    spread = outputs.length.std() / outputs.length.mean()
    assert spread == pytest.approx(population.length_spread, rel=0.1)


def test_the_reasoning_share_varies_by_turn_as_asked() -> None:
    population = Population(r=0.3, r_spread=0.25)
    outputs = draw_outputs(population, with_clusters(1500, tokens=400), "D", 4)
    reasoning, prose = (np.bincount(outputs.owner, outputs.code == code) for code in (1, 2))
    rest = reasoning + prose
    r = (reasoning / np.maximum(rest, 1))[rest > 50]
    error = np.sqrt(0.25 * 0.3 * 0.7 / len(r))
    assert abs(r.mean() - 0.3) < 4 * error
    assert r.var() == pytest.approx(0.25 * 0.3 * 0.7, rel=0.15)


# --- Times ----------------------------------------------------------------------------------------


def test_requests_of_a_wave_share_their_steps(rich: Simulated) -> None:
    for arm in rich.arms.values():
        for depth in (0, 8):
            rounds = arm.rounds[depth]
            steps = rounds.groupby(["launch", "batch", "step"])
            assert (steps["step_seconds"].nunique() == 1).all()
            assert (steps.size() == steps["step_requests"].first()).all()
            assert (rounds["step_requests"] <= rounds["batch"]).all()
            assert (steps["wave"].nunique() == 1).all()
            assert not rounds[["launch", "step"]].drop_duplicates().duplicated().any()
            assert (rounds.groupby(["launch", "batch", "wave"])["request_id"].nunique() <= 4).all()


def test_times_without_noise_are_those_of_the_population() -> None:
    population = Population(step_noise=0, overhead=0.25, batch_cost=0.1, c_1=0.03)
    tables = simulate(population, design(), 1).arms["A"]
    for depth in (0, 8):
        full = timed(tables.rounds[depth]).set_index("batch")["step_seconds"]
        relative = 1 + 0.25 + 8 * population.k if depth else 1
        assert np.allclose(full.loc[1], 0.03 * relative)
        assert np.allclose(full.loc[4], 0.03 * relative * 1.3)
    fits = cost_fits(all_costs(population, design()))
    expected = truth(population, design(), 1)
    for name in ("k", "k_free", "overhead", "d"):
        assert fits[name].to_numpy() == pytest.approx(expected[name])


def test_a_launch_drifts_as_a_whole() -> None:
    still = Population(step_noise=0, batch_cost=0)
    for drift, distinct in ((0.0, 1), (0.1, 3)):
        drifting = still.model_copy(update={"launch_drift": drift})
        rounds = simulate(drifting, design(launches=3), 1).arms["A"].rounds[8]
        assert rounds["step_seconds"].round(9).nunique() == distinct
        assert (rounds.groupby("launch")["step_seconds"].std() < 1e-9).all()


@pytest.mark.parametrize("tail", [None, 2.5, 5.0, 50.0])
def test_noise_has_mean_1_and_the_variation_asked_for(tail: float | None) -> None:
    population = Population(step_tail=tail, step_noise=0.7)
    found = noise(population, 400_000, np.random.default_rng(0))
    assert (found > 0).all()
    assert found.mean() == pytest.approx(1, abs=4 * 0.7 / np.sqrt(400_000))
    if tail is None or tail > 4:  # below, a sample's variance does not settle
        assert found.std() == pytest.approx(0.7, rel=0.1)


@pytest.mark.parametrize("tail", [2.2, 3.0, 7.5, 200.0])
def test_half_t_has_finite_moments_that_keep_times_positive(tail: float) -> None:
    mean, sd = half_t_moments(tail)
    assert mean == pytest.approx(stats.t(tail).expect(abs), rel=1e-4)
    assert mean**2 + sd**2 == pytest.approx(stats.t(tail).var())
    assert 0.7 * mean / sd < 1


@pytest.mark.parametrize(
    "changes", [{"step_tail": 2.0}, {"step_noise": 0.8}, {"kappa": 0.0}, {"unheard_of": 1}]
)
def test_parameters_outside_their_range_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match=next(iter(changes))):
        Population.model_validate(changes)


# --- The analysis finds the truth -----------------------------------------------------------------


def cell_rounds(tables: SimulatedArm, arm: str) -> pd.DataFrame:
    frames = [rounds.assign(arm=arm, depth=depth) for depth, rounds in tables.rounds.items()]
    return pd.concat(frames, ignore_index=True)


def all_costs(population: Population, sizes: Design, seed: int = 1) -> pd.DataFrame:
    tables = simulate(population, sizes, seed).arms["A"]
    return step_costs(timed(cell_rounds(tables, "A")))


def acceptance(tables: SimulatedArm, arm: str, depth: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Hazards and accepted lengths of all positions, by class."""
    tokens = examined_tokens(tables.rounds[depth], tables.positions, depth)
    clusters = dict(zip(tables.prompts["request_id"], tables.prompts["cluster"], strict=True))
    where: dict[str, Any] = {"view": "engine", "arm": arm, "depth": depth}
    risk = risk_sets(tokens, clusters).assign(**where).query("variant == 'all'")
    hazard = hazards(risk)
    return hazard, accepted_lengths(risk, hazard)


def tau_error(hazard: pd.DataFrame) -> float:
    """Standard error of tau where rejections are independent (delta method)."""
    rate, risk = hazard["hazard"].to_numpy(), hazard["at_risk"].to_numpy()
    remaining: npt.NDArray[np.float64] = hazard["survival"].to_numpy()[::-1].cumsum()[::-1]
    return float(np.sqrt(((remaining / (1 - rate)) ** 2 * rate * (1 - rate) / risk).sum()))


@pytest.mark.parametrize("span", [1, 5, 40])
@pytest.mark.parametrize("spread", [0.0, 0.8])
def test_tau_is_the_law_s_where_clusters_do_not_differ(span: float, spread: float) -> None:
    population = Population(span=span, entropy_spread=spread, cut_rate=0.3, kappa=0.9)
    sizes = with_clusters(250, tokens=80, depths=(3,))
    simulated = simulate(population, sizes, 3)
    expected = truth(population, sizes, 1)
    for arm, tables in simulated.arms.items():
        hazard, accepted = acceptance(tables, arm, 3)
        for name, rows in hazard.groupby("position_class"):
            eps = expected[f"eps_{name}"]
            assert expected[f"tau_{name}_g3"] == law.accepted_prefix(eps, 3)
            tau = accepted.set_index("position_class")["tau"][name]
            assert abs(tau - expected[f"tau_{name}_g3"]) < 4 * tau_error(rows), (arm, name)


@pytest.mark.parametrize("changes", [{}, {"overhead": 0.5}, {"step_tail": 4.0, "launch_drift": 0}])
def test_k_is_found_with_the_overhead_that_it_must_carry(changes: dict[str, float]) -> None:
    population = Population(**changes)
    sizes = with_clusters(60, depths=(4, 8, 16), batches=(1, 8))
    costs = all_costs(population, sizes)
    expected = truth(population, with_clusters(1, tokens=2, depths=sizes.depths), 1)["k"]
    for batch, cells in costs.groupby("batch"):
        relative = 1 + population.overhead + population.k * cells["depth"]
        share = np.sqrt(1 / cells["steps"] + 1 / cells["steps"].iloc[0])
        errors = population.step_noise * relative * share
        bound = (cells["depth"] * errors).sum() / (cells["depth"] ** 2).sum()
        found = cost_fits(costs).set_index("batch")["k"][batch]
        assert abs(found - expected) < 4 * bound


@pytest.mark.parametrize("population", [LAWFUL, RICH])
def test_kappa_is_the_truth(population: Population) -> None:
    sizes = with_clusters(800)
    control = own_positions(simulate(population, sizes, 2), "F")
    found = kappas(control, seed=1).set_index("half").loc["all"]
    expected = truth(population, sizes, 1)
    sums = control.groupby("cluster")[["mismatch", "entropy"]].mean()
    # of the ratio eps / (1 - exp(-H)), linearised, clusters as the sampling unit
    slope = found["kappa_id"] * found["predictability_of_mean"]
    score = sums["mismatch"] - slope * sums["entropy"]
    error = float(score.std() / np.sqrt(len(score))) / (1 - found["predictability_of_mean"])
    assert abs(found["kappa_id"] - expected["kappa_id"]) < 4 * error


def test_the_large_study_is_what_the_analysis_makes_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truths, "CLUSTERS", 60)
    population = RICH.model_copy(update={"step_noise": 0, "launch_drift": 0, "kappa": 0.5})
    sizes = with_clusters(60, turns=3, tokens=120, depths=(4,))
    expected = truth(population, sizes, 7)
    simulated = simulate(population, sizes, 7)
    lengths = [acceptance(tables, arm, 4)[1] for arm, tables in simulated.arms.items()]
    accepted = pd.concat(lengths, ignore_index=True)
    taus = accepted.set_index(["arm", "position_class"])["tau"]
    for name, arm in ARM_OF.items():
        assert taus[arm, name] == pytest.approx(expected[f"tau_{name}_g4"])
    every = {arm: (tables, arm) for arm, tables in simulated.arms.items()}
    rounds = timed(pd.concat([cell_rounds(*pair) for pair in every.values()]))
    prompts = pd.concat([t.prompts.assign(arm=arm) for arm, t in simulated.arms.items()])
    labels = pd.concat([t.positions.assign(arm=arm) for arm, t in simulated.arms.items()])
    rho = {name: expected[f"rho_{name}"] for name in "SRF"}
    batches = {1: Calibrated(expected["kappa_id"], expected["k"], rho)}
    rows = law_table(batches, accepted, savings(rounds))
    found = crossings(batches, rows, turns(rounds, prompts, labels)).iloc[0]
    assert found["saving_at_1"] == pytest.approx(expected["saving_1_g4"])
    # the study reads its line at its own pooled r, the truth at the population's
    assert found["r"] == pytest.approx(expected["r"], abs=0.1)
    assert found["saving_at_0"] == pytest.approx(expected["saving_0_g4"], abs=0.05)
    assert found["share_exact"] == pytest.approx(expected["predicted_g4"], abs=0.1)


@pytest.mark.parametrize("ratio", [1.45, 1.55])
def test_p1_s_margin_is_reached_from_each_side(ratio: float) -> None:
    sizes = with_clusters(1, tokens=2)
    wanted: dict[str, Any] = {"moved": "S", "quantity": "tau_ratio_g3", "value": ratio}
    population = population_at(LAWFUL, sizes, 1, **wanted)
    assert truth(population, sizes, 1)["tau_ratio_g3"] == pytest.approx(ratio, abs=0.01)


@pytest.mark.parametrize("ratio", [0.75, 0.8, 1.25, 1.33])
def test_p2_s_margins_are_reached_from_each_side(
    ratio: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truths, "CLUSTERS", 100)
    sizes = with_clusters(1, turns=3, tokens=60, depths=(8,))
    wanted = truth(LAWFUL, sizes, 3)["predicted_g8"] / ratio
    population = population_at(LAWFUL, sizes, 3, moved="R", quantity="measured_g8", value=wanted)
    assert truth(population, sizes, 3)["crossing_ratio_g8"] == pytest.approx(ratio, abs=0.02)


def test_a_margin_out_of_reach_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truths, "CLUSTERS", 20)
    wanted: dict[str, Any] = {"moved": "S", "quantity": "tau_ratio_g8", "value": 99.0}
    with pytest.raises(DraftLawError, match="tau_ratio_g8 is to be 99"):
        population_at(LAWFUL, with_clusters(1), 1, **wanted)


# --- Composition ----------------------------------------------------------------------------------


def draws_of(population: Population, sizes: Design) -> pd.DataFrame:
    return simulate(population, sizes, 3).draws


def test_the_gate_draws_again_once_and_a_first_draw_is_the_same_everywhere(rich: Simulated) -> None:
    draws = rich.draws
    free, gated = draws[~draws["gate"]], draws[draws["gate"]]
    assert free["draw"].eq(1).all() and free["accepted"].all()
    first = gated[gated["draw"] == 1]
    assert (first.groupby("request_id")["accepted"].nunique() == 1).all()
    cell = ["cache", "depth", "launch", "request_id"]
    refused = first.loc[~first["accepted"], cell].sort_values(cell)
    again = gated.loc[gated["draw"] == 2, cell].sort_values(cell)
    assert (refused.to_numpy() == again.to_numpy()).all() and len(again)
    assert draws.groupby(["cache", "depth", "gate", "launch"]).ngroups == 2 * 3 * 2 * 2


def test_the_cache_starts_empty_in_each_trajectory() -> None:
    cost = prefill_cost(LAWFUL, np.array([0, 1, 2]), cache=True)
    assert cost == pytest.approx(0.5 * np.array([1, 0.335, 0.335]))  # h = 0.7, c_hit = 0.05
    assert prefill_cost(LAWFUL, np.array([0, 1]), cache=False) == pytest.approx(0.5)


@pytest.mark.parametrize("composition", [1.0, 1.3])
def test_costs_compose_unless_the_population_says_not(composition: float) -> None:
    population = Population(composition=composition, step_noise=0)
    sizes = with_clusters(400, turns=3, depths=(8,))
    draws = draws_of(population, sizes)
    seconds = draws["prefill_seconds"] + draws["decode_seconds"]
    cells = dict(iter(draws.assign(seconds=seconds).groupby(["cache", "depth", "gate"])))
    gated = cells[False, 0, True]
    nu = len(gated) / gated["accepted"].sum()
    prefill = cells[True, 0, False]["prefill_seconds"].mean()
    decode = cells[False, 8, False]["decode_seconds"].mean()
    measured = cells[True, 8, True]
    ratio = nu * (prefill + decode) / (measured["seconds"].sum() / measured["accepted"].sum())
    expected = truth(population, with_clusters(1, tokens=2), 1)
    # accepted redraws differ between the two gated cells, and so do the costs of what is redrawn
    turns, p = 1200, population.pass_rate
    accepted = np.sqrt(2 * (1 - p) * p * (1 - p) / turns) / (1 - (1 - p) ** 2)
    variation = measured["seconds"].std() / measured["seconds"].mean()
    redrawn = variation * np.sqrt(p * (1 - p) / turns) / (2 - p)
    assert abs(np.log(ratio / expected["composed_ratio"])) < 4 * np.hypot(accepted, redrawn)
    assert nu == pytest.approx(expected["nu"], rel=4 * 2 * accepted)
