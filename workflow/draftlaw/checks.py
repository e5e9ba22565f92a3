"""What must hold of measured cells: counting rules, conditions, and the replay's account.

Broken counting rules and unequal engine conditions stop the run. Outputs that speculation changed,
and rounds that the replay does not explain, are listed with the margins that decide whether they
are numerical ties; nothing is tolerated by a threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from draftlaw.errors import DraftLawError
from draftlaw.outputs import first_difference

KEY = ["request_id", "batch", "launch"]
OUTPUT = ["request_id", "batch"]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CellTables:
    """A launch of a measured cell, as its files hold it."""

    arm: str
    depth: int
    traces: pd.DataFrame
    rounds: pd.DataFrame
    record: Mapping[str, Any]
    launch: int = 0

    @property
    def name(self) -> str:
        """As the files are named."""
        return f"{self.arm}-g{self.depth}-l{self.launch}"


def check_counts(cell: CellTables) -> None:
    """The counting rules of protocol section 4.

    Raises:
        DraftLawError: a rule is broken; the message names cell, rule and request.
    """
    rounds = cell.rounds.sort_values([*KEY, "round"])
    by_request = rounds.groupby(KEY, sort=False)
    last = ~rounds.duplicated(KEY, keep="last")
    before = by_request["emitted"].cumsum() - rounds["emitted"]
    tokens = cell.traces.set_index(KEY)["output_tokens"]
    emitted = by_request["emitted"].sum().reindex(tokens.index, fill_value=0)
    excess = rounds["accepted"] + 1 - rounds["emitted"]
    ungrammatical = rounds["request_id"].isin(_free_requests(cell.traces))
    _demand(cell, "0 <= accepted <= drafted <= depth", rounds, _in_bounds(rounds, cell.depth))
    _demand(cell, "a round emits accepted + 1 tokens", rounds, (excess == 0) | rounds["truncated"])
    _demand(cell, "a truncated round emits fewer", rounds, (excess > 0) | ~rounds["truncated"])
    _demand(cell, "only the last round is truncated", rounds, last | ~rounds["truncated"])
    _demand(cell, "rounds follow on each other", rounds, rounds["start"] == 1 + before)
    _demand(
        cell, "what is drafted is verified", rounds, rounds["verified"] | (rounds["drafted"] == 0)
    )
    _demand(cell, "no grammar, no cut", rounds, ~(ungrammatical & rounds["grammar_cut"]))
    _demand(cell, "rounds and prefill make the output", tokens.reset_index(), emitted + 1 == tokens)
    _check_counters(cell)


def _in_bounds(rounds: pd.DataFrame, depth: int) -> pd.Series[bool]:
    return (
        (rounds["accepted"] >= 0)
        & (rounds["accepted"] <= rounds["drafted"])
        & (rounds["drafted"] <= depth)
    )


def _free_requests(traces: pd.DataFrame) -> pd.Series[str]:
    return traces.loc[traces["grammar_held"].isna(), "request_id"]


def _demand(cell: CellTables, rule: str, frame: pd.DataFrame, holds: pd.Series[bool]) -> None:
    broken = frame[~holds.to_numpy(dtype=bool)]
    if len(broken):
        first = broken.iloc[0]
        where = ", ".join(f"{name} {first[name]}" for name in (*KEY, "round") if name in first)
        raise DraftLawError(
            f"cell {cell.name}: counting rule '{rule}' is broken {len(broken)} times, first at "
            f"{where}",
            "Its tables cannot be trusted: delete them and measure the cell again",
        )


def _check_counters(cell: CellTables) -> None:
    """Sums over the rounds equal the engine's own counters."""
    if cell.depth == 0:
        return
    sums = {
        "drafts": int(cell.rounds["verified"].sum()),
        "draft_tokens": int(cell.rounds["drafted"].sum()),
        "accepted_tokens": int(cell.rounds["accepted"].sum()),
    }
    for name, value in sums.items():
        counted = cell.record["counters"].get(name)
        if counted != value:
            raise DraftLawError(
                f"cell {cell.name}: the rounds hold {value} {name}, the engine counted {counted}",
                "Its tables cannot be trusted: delete them and measure the cell again",
            )


def check_conditions(cells: list[CellTables]) -> Mapping[str, Any]:
    """The conditions that were active, the same in every cell.

    Raises:
        DraftLawError: two cells differ; the message names both, the condition and its values.
    """
    first = cells[0]
    for cell in cells[1:]:
        for name, value in first.record["conditions"].items():
            other = cell.record["conditions"].get(name)
            if other != value:
                raise DraftLawError(
                    f"engine condition {name} is {value!r} in cell {first.name} but {other!r} in "
                    f"cell {cell.name}",
                    "Pin it in the study's engine: and measure both again",
                )
    return dict(first.record["conditions"])


def compare_outputs(
    comparison: str, cell: CellTables, reference: pd.DataFrame, replay: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Outputs of a cell against the baseline's, at every batch size.

    Args:
        comparison: one of `tables.checks.COMPARISONS`.
        cell: what is compared.
        reference: traces of the same requests without speculation.
        replay: the target's argmax and margin at the baseline's positions.

    Returns:
        Rows of the identity table, and rows of the divergences table.
    """
    both = cell.traces.merge(reference, on=OUTPUT, suffixes=("", "_baseline"))
    of_cell: Row = {
        "comparison": comparison,
        "arm": cell.arm,
        "depth": cell.depth,
        "launch": cell.launch,
    }
    columns = [*OUTPUT, "position", "token", "baseline_token"]
    found = pd.DataFrame(_differences(both), columns=columns)
    target = replay[[*OUTPUT, "position", "target_top1", "margin"]]
    found = found.merge(target, on=[*OUTPUT, "position"], how="left")
    found = found.rename(columns={"margin": "target_margin"}).assign(**of_cell)
    differing = found.groupby("batch").size()
    counts = both.groupby("batch").size().rename("requests").reset_index()
    counts["differing"] = counts["batch"].map(differing).fillna(0).astype(int)
    return counts.assign(**of_cell), found


def _differences(outputs: pd.DataFrame) -> Iterator[Row]:
    """The first difference of each pair of outputs that has one."""
    for row in outputs.to_dict("records"):
        ours, theirs = row["output_ids"].tolist(), row["output_ids_baseline"].tolist()
        place = first_difference(ours, theirs)
        if place is not None:
            yield {
                "request_id": row["request_id"],
                "batch": row["batch"],
                "position": place,
                "token": ours[place] if place < len(ours) else None,
                "baseline_token": theirs[place] if place < len(theirs) else None,
            }


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def at_other_batches(cell: CellTables) -> tuple[CellTables, pd.DataFrame]:
    """The shape control: a baseline at its other batch sizes, and its smallest as their reference.

    Args:
        cell: a baseline.

    Returns:
        The cell without its smallest batch size, and that one's traces at each of the others.
    """
    batches = sorted(set(cell.traces["batch"]))
    smallest = cell.traces[cell.traces["batch"] == batches[0]]
    others = cell.traces[cell.traces["batch"] != batches[0]]
    reference = pd.concat([smallest.assign(batch=b) for b in batches[1:]] or [smallest[:0]])
    return replace(cell, traces=others), reference


def unexplained_rounds(
    cell: CellTables, baseline: pd.DataFrame, replayed: pd.DataFrame, replay: pd.DataFrame
) -> list[Row]:
    """Rounds of undiverged requests that differ from the replayed ones, with the draft's gap.

    In a truncated round the engine may count accepted tokens beyond the end of the output, which
    no replay can see: there start and emitted tokens are compared.

    Args:
        cell: speculative.
        baseline: traces whose outputs were replayed.
        replayed: rounds that the replay implies, at every depth.
        replay: the draft's log-probability gaps at every position.
    """
    same = _undiverged(cell.traces, baseline)
    keys = ["request_id", "batch", "round"]
    engine = cell.rounds.merge(same, on=OUTPUT)
    expected = replayed[replayed["depth"] == cell.depth].merge(same, on=OUTPUT)
    pairs = engine.merge(expected, on=keys, how="outer", suffixes=("", "_replay"))
    agree = (
        (pairs["start"] == pairs["start_replay"])
        & (pairs["emitted"] == pairs["emitted_replay"])
        & (pairs["truncated"] == pairs["truncated_replay"])
        & (pairs["truncated"].eq(True) | (pairs["accepted"] == pairs["accepted_replay"]))
    )
    first = pairs[~agree].drop_duplicates(["request_id", "batch"])  # later ones follow from it
    near = replay.set_index(["request_id", "batch", "position"])
    return [_explained(cell.name, dict(row), near) for _, row in first.iterrows()]


def _undiverged(traces: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    """Keys of the requests whose output is the baseline's."""
    both = traces.merge(baseline, on=OUTPUT, suffixes=("", "_baseline"))
    pairs = zip(both["output_ids"], both["output_ids_baseline"], strict=True)
    return both.loc[[ours.tolist() == theirs.tolist() for ours, theirs in pairs], OUTPUT]


def _explained(cell: str, row: Row, replay: pd.DataFrame) -> Row:
    """A differing round, with the position where engine and replay part and how close it was."""
    ours, theirs = _number(row["accepted"]), _number(row["accepted_replay"])
    start = _number(row["start"]) or _number(row["start_replay"]) or 0.0
    place = int(start + min(number for number in (ours, theirs) if number is not None))
    key = (row["request_id"], row["batch"], place)
    here = replay.loc[[key]].iloc[0] if key in replay.index else None
    return {
        "cell": cell,
        "request_id": row["request_id"],
        "batch": int(row["batch"]),
        "round": int(row["round"]),
        "position": place,
        "engine_accepted": None if ours is None else int(ours),
        "replay_accepted": None if theirs is None else int(theirs),
        "draft_margin": None if here is None else float(here["draft_margin"]),
        "draft_gap": None if here is None else float(here["draft_gap"]),
    }


def summary(cell: CellTables) -> list[Row]:
    """What a cell holds, per batch size."""
    rows = []
    for batch in sorted(set(cell.traces["batch"])):
        rounds = cell.rounds[cell.rounds["batch"] == batch]
        traces = cell.traces[cell.traces["batch"] == batch]
        rows.append(
            {
                "cell": cell.name,
                "batch": int(batch),
                "requests": len(traces),
                "output_tokens": int(traces["output_tokens"].sum()),
                "calls": int(traces["calls"].sum()),
                "valid_calls": int(traces["valid_calls"].sum()),
                "rounds": len(rounds),
                "drafted": int(rounds["drafted"].sum()),
                "accepted": int(rounds["accepted"].sum()),
                "truncated": int(rounds["truncated"].sum()),
                "grammar_cuts": int(rounds["grammar_cut"].sum()),
            }
        )
    return rows
