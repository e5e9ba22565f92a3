"""A study as sufficient statistics of its sampling units, and every estimand in every resample."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from draftlaw.arms import ARM_OF, CONTROL, MIXED
from draftlaw.inference import estimates
from draftlaw.inference.estimates import BreakEven
from draftlaw.inference.resampling import Draws, Resampling, unit_sums
from draftlaw.law import PerClass, exact_break_even_mismatch

LEVEL_OF_ROOT = 0.9
"""Of the Fieller set that says whether a crossing is bounded: that of P2's interval."""


@dataclass(frozen=True, slots=True)
class Tables:
    """What the registered inference is made from.

    Attributes:
        risk_sets: the risk_sets table.
        position_sums: the position_sums table.
        wave_costs: the wave_costs table.
        turns: the turns table.
    """

    risk_sets: pd.DataFrame
    position_sums: pd.DataFrame
    wave_costs: pd.DataFrame
    turns: pd.DataFrame


@dataclass(slots=True)
class Sample:
    """The units of every arm with their weights; methods give estimands, shape [1 + resamples].

    Attributes:
        tables: the study's sufficient statistics.
        resampling: seed and number of resamples.
    """

    tables: Tables
    resampling: Resampling
    _units: dict[str, list[str]] = field(init=False)
    _weights: dict[str, Draws] = field(init=False)

    def __post_init__(self) -> None:
        self._units = _units(self.tables)
        self._weights = {
            arm: self.resampling.weights(arm, len(units)) for arm, units in self._units.items()
        }

    def missing(self) -> Draws:
        """An estimand that nothing was measured of."""
        return np.full(1 + self.resampling.resamples, np.nan)

    def tau(self, position_class: str, batch: int, depth: int) -> Draws:
        """Accepted length of a class in its own arm, engine's view, all positions, token."""
        arm = ARM_OF[position_class]
        risk = _cell(self.tables.risk_sets, arm=arm, batch=batch, depth=depth)
        risk = _cell(risk, position_class=position_class, view="engine", variant="all")
        if risk.empty:
            return self.missing()
        at_risk, rejected = (
            _by_offset(risk, name, self._units[arm], depth) for name in ("at_risk", "rejected")
        )
        return estimates.accepted_length(self._weights[arm], at_risk, rejected)

    def rho(self, position_class: str, batch: int) -> Draws:
        """exp(-H_c) of a class in its own arm, 1."""
        arm = ARM_OF[position_class]
        rows = _cell(self.tables.position_sums, arm=arm, batch=batch)
        return np.exp(-self._mean(arm, rows, "entropy"))

    def kappa(self, batch: int) -> Draws:
        """kappa_id of arm A's fitting half, 1."""
        rows = _cell(self.tables.position_sums, arm=CONTROL, batch=batch, half="fit")
        mismatch, entropy = (self._mean(CONTROL, rows, name) for name in ("mismatches", "entropy"))
        return estimates.kappa(mismatch, entropy)

    def _mean(self, arm: str, rows: pd.DataFrame, column: str) -> Draws:
        if rows.empty:
            return self.missing()
        sums = unit_sums(rows, "cluster", self._units[arm], [column, "positions"])
        return estimates.mean(self._weights[arm], sums[:, 0], sums[:, 1])

    def k(self, batch: int) -> Draws:
        """The law's cost slope on arm A, 1; the timing unit is the wave of a launch."""
        waves = _cell(self.tables.wave_costs, arm=CONTROL, batch=batch)
        times = {
            int(str(depth)): self._step_time(f"{CONTROL}.b{batch}.g{depth}", cell)
            for depth, cell in waves.groupby("depth")
        }
        baseline = times.pop(0, None)
        if baseline is None or not times:
            return self.missing()
        return estimates.cost_slope(baseline, times)

    def _step_time(self, family: str, waves: pd.DataFrame) -> Draws:
        weights = self.resampling.weights(family, len(waves))
        seconds, steps = (waves[name].to_numpy(float) for name in ("step_seconds", "steps"))
        return estimates.mean(weights, seconds, steps)

    def launches(self) -> int:
        """The fewest launches that any timed cell has."""
        cells = self.tables.wave_costs.groupby(["arm", "batch", "depth"])["launch"].nunique()
        return int(cells.min()) if len(cells) else 0

    def mixed_turns(self, batch: int, depth: int) -> pd.DataFrame:
        """The turns of arm D that have a saving."""
        turns = _cell(self.tables.turns, arm=MIXED, batch=batch, depth=depth)
        return turns.dropna(subset=["saving"])

    def r(self, batch: int, depth: int) -> Draws:
        """Reasoning share of arm D's positions that are not schema-constrained, 1."""
        turns = self.mixed_turns(batch, depth)
        if turns.empty:
            return self.missing()
        reasoning = turns["w_r"] * turns["tokens"]
        rest = reasoning + turns["w_f"] * turns["tokens"]
        frame = pd.DataFrame({"cluster": turns["cluster"], "reasoning": reasoning, "rest": rest})
        sums = unit_sums(frame, "cluster", self._units[MIXED], ["reasoning", "rest"])
        return estimates.mean(self._weights[MIXED], sums[:, 0], sums[:, 1])

    def cells(self) -> list[tuple[int, int]]:
        """Batch size and depth of every speculative cell, in order."""
        pairs = (
            self.tables.turns[["batch", "depth"]].drop_duplicates().sort_values(["batch", "depth"])
        )
        return [(int(batch), int(depth)) for batch, depth in pairs.itertuples(index=False)]

    def rhos(self, batch: int) -> PerClass[Draws]:
        """Predictability rho of every class, each in its own arm, 1."""
        return PerClass(*(self.rho(name, batch) for name in "SRF"))

    def predicted_crossing(
        self, batch: int, depth: int, break_even: BreakEven = exact_break_even_mismatch
    ) -> Draws:
        """w_S* by an identity, with everything from arms A, B, C but r, 1."""
        rho, r = self.rhos(batch), self.r(batch, depth)
        k, kappa = self.k(batch), self.kappa(batch)
        return estimates.predicted_crossing(depth, k, kappa, rho, r, break_even=break_even)

    def law_savings(self, batch: int, depth: int) -> PerClass[Draws]:
        """The law's net saving inside each class, 1."""
        rho, kappa, k = self.rhos(batch), self.kappa(batch), self.k(batch)
        taus = (
            estimates.law_length(kappa * (1 - of_class), depth)
            for of_class in (rho.schema, rho.reasoning, rho.prose)
        )
        return PerClass(*(estimates.law_saving(tau, depth, k) for tau in taus))

    def span_resolved_crossing(self, batch: int, depth: int) -> Draws:
        """w* of the span-resolved law, 1."""
        return estimates.span_resolved_crossing(
            self.law_savings(batch, depth), self.r(batch, depth)
        )

    def saving_line(self, batch: int, depth: int) -> estimates.SavingLine:
        """Regression of saving over arm D's turns, evaluated at the pooled r."""
        turns = self.mixed_turns(batch, depth)
        design = _design(turns)
        if design is None:
            nothing = self.missing()
            return estimates.SavingLine(nothing, nothing, np.zeros(len(nothing), bool))
        units = self._units[MIXED]
        place = pd.Index(units).get_indexer(pd.Index(turns["cluster"]))
        p = design.shape[1]
        products, moments = np.zeros((len(units), p, p)), np.zeros((len(units), p))
        np.add.at(products, place, design[:, :, None] * design[:, None, :])
        np.add.at(moments, place, design * turns["saving"].to_numpy()[:, None])
        r = self.r(batch, depth)
        weights = self._weights[MIXED]
        return estimates.saving_line(weights, products, moments, r, LEVEL_OF_ROOT)

    def saving_above(self, share: float, batch: int, depth: int) -> Draws:
        """Token-pooled saving over arm D's turns with w_S >= `share`, 1."""
        turns = self.mixed_turns(batch, depth)
        high = turns[turns["w_s"] >= share]
        if high.empty:
            return self.missing()
        frame = pd.DataFrame(
            {
                "cluster": high["cluster"],
                "with": high["seconds"] * high["tokens"],
                "without": high["baseline_seconds"] * high["tokens"],
            }
        )
        sums = unit_sums(frame, "cluster", self._units[MIXED], ["with", "without"])
        return 1 - estimates.mean(self._weights[MIXED], sums[:, 0], sums[:, 1])


def _by_offset(risk: pd.DataFrame, column: str, units: list[str], depth: int) -> Draws:
    """A column of risk sets by unit and offset, shape [units, depth]; 0 where there is no row."""
    wide = risk.pivot(index="cluster", columns="offset", values=column)
    offsets = list(range(1, depth + 1))
    return wide.reindex(index=units, columns=offsets).fillna(0).to_numpy(np.float64)


def _units(tables: Tables) -> dict[str, list[str]]:
    """Sampling units of every arm, sorted."""
    frames = (tables.risk_sets, tables.position_sums, tables.turns)
    pairs = pd.concat([frame[["arm", "cluster"]] for frame in frames]).drop_duplicates()
    return {str(arm): sorted(members["cluster"]) for arm, members in pairs.groupby("arm")}


def _cell(frame: pd.DataFrame, **where: str | int) -> pd.DataFrame:
    kept = pd.Series(True, index=frame.index)
    for column, value in where.items():
        kept &= frame[column] == value
    return frame[kept]


def _design(turns: pd.DataFrame) -> Draws | None:
    """Columns 1, w_S and, where the two are not collinear, w_R; None where no line is determined.

    The protocol evaluates at the pooled r; with w_R left out the line already stands there.
    """
    if len(turns) < 3 or turns["w_s"].nunique() < 2:
        return None
    full = np.column_stack([np.ones(len(turns)), turns["w_s"], turns["w_r"]]).astype(np.float64)
    return full if np.linalg.matrix_rank(full) == 3 and len(turns) > 3 else full[:, :2]
