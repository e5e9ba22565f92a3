"""A simulated study: a population sampled by a design, in the tables of a measured one.

Every file says that its evidence is simulated, so that no measured study can take it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from draftlaw.arms import MIXED
from draftlaw.files import write_json
from draftlaw.simulation.composition import DRAWS, draw_costs
from draftlaw.simulation.draw import CLASSES, CONSTRAINED, Outputs, draw_outputs, stream
from draftlaw.simulation.population import Design, Population
from draftlaw.simulation.timing import drift, steps_taken, time_steps
from draftlaw.simulation.walk import Walk, walk
from draftlaw.tables.engine import ROUNDS, TRACES
from draftlaw.tables.parquet import SIMULATED
from draftlaw.tables.positions import POSITIONS
from draftlaw.tables.prompts import PROMPTS
from draftlaw.tables.replay import REPLAY, REPLAYED_ROUNDS

EVIDENCE = {"evidence": SIMULATED}
"""The note that every file carries."""

GRAMMAR_ARMS = ("B", MIXED)
"""Arms whose outputs a grammar constrains."""

VOCABULARY = 1000  # tokens a simulated grammar allows everywhere: none is forced
MASKED_AWAY = 0.5  # nat in S: whoever reads the entropy without the mask there is found out


@dataclass(frozen=True, slots=True)
class SimulatedArm:
    """The tables of an arm.

    Attributes:
        prompts: its prompts table.
        positions: its positions table.
        replay: its replay table.
        replayed: its replayed_rounds table.
        traces: the traces table of every depth, 0 included.
        rounds: the rounds table of every depth, 0 included.
        clipped: positions, counted once, whose mismatch probability was clipped at 1.
    """

    prompts: pd.DataFrame
    positions: pd.DataFrame
    replay: pd.DataFrame
    replayed: pd.DataFrame
    traces: dict[int, pd.DataFrame]
    rounds: dict[int, pd.DataFrame]
    clipped: int

    def write(self, folder: Path, arm: str) -> None:
        """Write them where a study keeps those of `arm`."""
        PROMPTS.write(self.prompts, folder / f"prompts/{arm}.parquet", EVIDENCE)
        POSITIONS.write(self.positions, folder / f"positions/{arm}.parquet", EVIDENCE)
        REPLAY.write(self.replay, folder / f"replay/{arm}.parquet", EVIDENCE)
        REPLAYED_ROUNDS.write(self.replayed, folder / f"replay/{arm}-rounds.parquet", EVIDENCE)
        for depth, rounds in self.rounds.items():
            for launch, own in rounds.groupby("launch"):
                cell = f"{arm}-g{depth}-l{launch}"
                traces = self.traces[depth]
                traces = traces[traces["launch"] == launch]
                TRACES.write(traces, folder / f"traces/{cell}.parquet", EVIDENCE)
                ROUNDS.write(own, folder / f"rounds/{cell}.parquet", EVIDENCE)
                record = {"conditions": EVIDENCE, "counters": _counters(own)}
                write_json(folder / f"engine/{cell}.json", record)
        TRACES.write(self.repeat(), folder / f"traces/{arm}-repeat.parquet", EVIDENCE)

    def repeat(self) -> pd.DataFrame:
        """Outputs of the baseline run again in its first launch: at temperature 0 the same."""
        baseline = self.traces[0]
        return baseline[baseline["launch"] == 0]


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulated study.

    Attributes:
        arms: the tables of each arm.
        draws: the draws table of arm D; empty without that arm.
    """

    arms: dict[str, SimulatedArm]
    draws: pd.DataFrame

    def write(self, folder: Path) -> None:
        """Write all tables, marked simulated, where a study with this folder keeps them."""
        for arm, tables in self.arms.items():
            tables.write(folder, arm)
        DRAWS.write(self.draws, folder / "draws.parquet", EVIDENCE)


def simulate(population: Population, design: Design, seed: int) -> Simulated:
    """Draw a study.

    Outputs are those of temperature 0: the same at every depth, batch size and launch. Times are
    drawn anew for each.

    Args:
        population: from which.
        design: arms, sizes, cells.
        seed: 0 or more; equal seeds give equal studies, and no arm, cell or launch that is added
            changes another.
    """
    drawn = {arm: draw_outputs(population, design, arm, seed) for arm in design.clusters}
    arms = {arm: _arm(population, design, outputs, seed) for arm, outputs in drawn.items()}
    draws = pd.DataFrame(columns=[column.name for column in DRAWS.columns])
    if MIXED in drawn:
        draws = draw_costs(population, design, drawn[MIXED], _names(drawn[MIXED]), seed)
    return Simulated(arms, draws)


def _arm(population: Population, design: Design, outputs: Outputs, seed: int) -> SimulatedArm:
    names = _names(outputs)
    walks = {depth: walk(outputs, depth) for depth in (0, *design.depths)}
    traces = _traces(population, design, outputs, names)
    return SimulatedArm(
        _prompts(outputs, names),
        _over_batches(_positions(outputs, names), design),
        _over_batches(_replay(outputs, names), design),
        _over_batches(_replayed(names, walks), design),
        dict.fromkeys(walks, traces),
        {
            depth: _rounds(population, design, outputs, rounds, depth=depth, seed=seed)
            for depth, rounds in walks.items()
        },
        outputs.clipped,
    )


def _names(outputs: Outputs) -> pd.DataFrame:
    """request_id, cluster and turn of each output, in their order."""
    clusters = [f"{outputs.arm}-{number:05d}" for number in outputs.cluster]
    turns = outputs.turn.astype(np.int16)
    single = outputs.arm != MIXED
    requests = clusters if single else [f"{c}.{t}" for c, t in zip(clusters, turns, strict=True)]
    return pd.DataFrame({"request_id": requests, "cluster": clusters, "turn": turns})


def _over_batches(frame: pd.DataFrame, design: Design) -> pd.DataFrame:
    """The same rows at every batch size."""
    frames = [frame.assign(batch=np.int16(batch)) for batch in design.batches]
    return pd.concat(frames, ignore_index=True)


def _grammar(outputs: Outputs) -> bool:
    return outputs.arm in GRAMMAR_ARMS


def _prompts(outputs: Outputs, names: pd.DataFrame) -> pd.DataFrame:
    return names.assign(
        source="simulated",
        licence="CC0-1.0",
        parts="",
        messages="[]",
        tools="[]",
        ground_truth="null",
        prompt_text="",
        prompt_ids=pd.Series([np.zeros(1, np.int32)] * len(names)),
        prompt_tokens=np.int32(1),
        opened=None,
        grammar="{}" if _grammar(outputs) else None,
        rule="simulated",
    )


def _at_positions(outputs: Outputs, names: pd.DataFrame) -> dict[str, object]:
    requests = names["request_id"].array.take(outputs.owner)
    return {"request_id": requests, "position": outputs.position.astype(np.int32)}


def _positions(outputs: Outputs, names: pd.DataFrame) -> pd.DataFrame:
    """All but the batch; a token is named by its position, so that none repeats."""
    allowed = VOCABULARY if _grammar(outputs) else pd.NA
    return pd.DataFrame(
        {
            **_at_positions(outputs, names),
            "token_id": outputs.position.astype(np.int32),
            "position_class": pd.array(list(CLASSES), dtype="str").take(outputs.code),
            "span": outputs.span.astype(np.int32),
            "straddler": False,
            "allowed": pd.array([allowed], dtype="Int32").take(np.zeros_like(outputs.owner)),
            "forced": False,
            "loop": False,
        }
    )


def _replay(outputs: Outputs, names: pd.DataFrame) -> pd.DataFrame:
    """All but the batch; entropies and match are the population's, the rest is neutral."""
    token = outputs.position.astype(np.int32)
    masked_away = np.where(outputs.code == CONSTRAINED, MASKED_AWAY, 0.0)
    return pd.DataFrame(
        {
            **_at_positions(outputs, names),
            "entropy": outputs.entropy + masked_away,
            "entropy_masked": outputs.entropy,
            "target_top1": token,
            "agrees": True,
            "margin": 1.0,
            "margin_raw": 1.0,
            "draft_top1": np.where(outputs.match, token, token + 1).astype(np.int32),
            "match": outputs.match,
            "draft_margin": 1.0,
            "draft_gap": np.where(outputs.match, 0.0, 1.0),
            "p_draft_argmax": 1 - outputs.eps,
            "overlap": 1 - outputs.eps,
        }
    )


def _replayed(names: pd.DataFrame, walks: dict[int, Walk]) -> pd.DataFrame:
    """All but the batch."""
    frames = [
        pd.DataFrame({**_round_columns(names, rounds), "depth": np.int16(depth)})
        for depth, rounds in walks.items()
        if depth
    ]
    return pd.concat(frames, ignore_index=True)


def _round_columns(names: pd.DataFrame, rounds: Walk) -> dict[str, object]:
    """What engine and replay both say of rounds."""
    return {
        "request_id": names["request_id"].array.take(rounds.owner),
        "round": rounds.round.astype(np.int32),
        "start": rounds.start.astype(np.int32),
        "accepted": rounds.accepted.astype(np.int16),
        "emitted": rounds.emitted.astype(np.int16),
        "truncated": rounds.accepted == rounds.left,
    }


def _traces(
    population: Population, design: Design, outputs: Outputs, names: pd.DataFrame
) -> pd.DataFrame:
    number = np.arange(len(names))
    ids = np.arange(int(outputs.length.max()), dtype=np.int32)
    called = np.int16(_grammar(outputs))
    one = pd.DataFrame(
        {
            "request_id": names["request_id"],
            "output_ids": [ids[:tokens] for tokens in outputs.length],
            "output_tokens": outputs.length.astype(np.int32),
            "finish": "stop",
            "cached_tokens": np.int32(0),
            "prefill_seconds": population.prefill_seconds,
            "grammar_held": pd.Series([True if called else None] * len(names), dtype=object),
            "calls": called,
            "valid_calls": called,
            "call_problem": "",
        }
    )
    frames = [
        one.assign(batch=np.int16(batch), launch=np.int16(launch), wave=number // batch)
        for launch in range(design.launches)
        for batch in design.batches
    ]
    return pd.concat(frames, ignore_index=True)


def _rounds(
    population: Population,
    design: Design,
    outputs: Outputs,
    rounds: Walk,
    *,
    depth: int,
    seed: int,
) -> pd.DataFrame:
    """A cell's rounds table: the same rounds in every launch and batch size, with times of each."""
    columns = {**_round_columns(_names(outputs), rounds), **_drafted(rounds, depth)}
    same = pd.DataFrame({**columns, "step_prefill": False})
    frames = []
    for launch in range(design.launches):
        random = stream(seed, outputs.arm, "times", depth, launch)
        shift, taken = drift(population, random), 0
        for batch in design.batches:
            steps = time_steps(population, rounds, random, depth=depth, batch=batch, before=taken)
            taken = steps_taken(steps)
            frames.append(
                same.assign(
                    batch=np.int16(batch),
                    launch=np.int16(launch),
                    wave=steps.wave.astype(np.int32),
                    step=steps.step,
                    step_seconds=shift * steps.seconds,
                    step_draft_seconds=shift * steps.draft_seconds,
                    step_requests=steps.requests.astype(np.int16),
                )
            )
    return pd.concat(frames, ignore_index=True)


def _drafted(rounds: Walk, depth: int) -> dict[str, object]:
    """What the engine says of the draft: where the grammar refused all of it, none was verified."""
    drafted = np.where(rounds.cut, rounds.accepted, depth)
    return {
        "drafted": drafted.astype(np.int16),
        "verified": drafted > 0,
        "grammar_cut": drafted < depth,
    }


def _counters(rounds: pd.DataFrame) -> dict[str, int]:
    """What an engine would have counted."""
    return {
        "drafts": int(rounds["verified"].sum()),
        "draft_tokens": int(rounds["drafted"].sum()),
        "accepted_tokens": int(rounds["accepted"].sum()),
    }
