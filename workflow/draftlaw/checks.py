"""What must hold of measured cells: counting rules, one set of conditions, and the replay's account.

Broken counting rules and unequal engine conditions stop the run. Outputs that speculation changed,
and rounds that the replay does not explain, are listed with the margins that decide whether they
are numerical ties; nothing is tolerated by a threshold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from draftlaw.errors import DraftLawError

KEY = ["request_id", "batch", "launch"]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CellTables:
    """A measured cell as its files hold it."""

    arm: str
    depth: int
    traces: pd.DataFrame
    rounds: pd.DataFrame
    record: Mapping[str, Any]

    @property
    def name(self) -> str:
        """As the files are named."""
        return f"{self.arm}-g{self.depth}"


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
        "drafts": len(cell.rounds),
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


def divergences(cell: CellTables, baseline: pd.DataFrame, replay: pd.DataFrame) -> list[Row]:
    """Outputs that differ from the baseline's at the same batch size, at their first difference.

    Args:
        cell: speculative, or the baseline against itself at another batch size.
        baseline: traces of the same requests without speculation.
        replay: the target's margins at the baseline's positions.
    """
    both = cell.traces.merge(baseline, on=KEY, suffixes=("", "_baseline"))
    margins = replay.set_index(["request_id", "batch", "position"])["margin"]
    found = []
    for row in both.itertuples():
        ours, theirs = list(row.output_ids), list(row.output_ids_baseline)
        if ours == theirs:
            continue
        shared = min(len(ours), len(theirs))
        place = next((i for i in range(shared) if ours[i] != theirs[i]), shared)
        margin = margins.get((row.request_id, row.batch, place))
        found.append(
            {
                "cell": cell.name,
                "request_id": row.request_id,
                "batch": int(row.batch),
                "position": place,
                "token": int(ours[place]) if place < len(ours) else None,
                "baseline_token": int(theirs[place]) if place < len(theirs) else None,
                "target_margin": None if margin is None or pd.isna(margin) else float(margin),
            }
        )
    return found


def across_batches(cell: CellTables, replay: pd.DataFrame) -> list[Row]:
    """Baseline outputs that differ from those at the smallest batch size: a shape control."""
    smallest = cell.traces["batch"].min()
    reference = cell.traces[cell.traces["batch"] == smallest]
    found = []
    for batch in sorted(set(cell.traces["batch"]) - {smallest}):
        as_if = reference.assign(batch=batch)
        found += divergences(cell, as_if, replay)
    return found


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
    both = cell.traces.merge(baseline, on=KEY, suffixes=("", "_baseline"))
    same = both[
        [
            list(a) == list(b)
            for a, b in zip(both["output_ids"], both["output_ids_baseline"], strict=True)
        ]
    ]
    rounds = cell.rounds.merge(same[KEY], on=KEY)
    expected = replayed[
        (replayed["depth"] == cell.depth)
        & replayed["request_id"].isin(set(same["request_id"]))
        & replayed["batch"].isin(set(rounds["batch"]))
    ]
    pairs = rounds.merge(
        expected, on=["request_id", "batch", "round"], how="outer", suffixes=("", "_replay")
    )
    agree = (
        (pairs["start"] == pairs["start_replay"])
        & (pairs["emitted"] == pairs["emitted_replay"])
        & (pairs["truncated"].eq(pairs["truncated_replay"]))
        & (pairs["truncated"].eq(True) | (pairs["accepted"] == pairs["accepted_replay"]))
    )
    gaps = replay.set_index(["request_id", "batch", "position"])
    wrong = pairs[~agree].drop_duplicates(["request_id", "batch"])  # later ones follow from it
    return [_explained(cell, row, gaps) for row in wrong.to_dict("records")]


def _explained(cell: CellTables, row: Row, gaps: pd.DataFrame) -> Row:
    """A differing round, with the position where engine and replay part and how close it was."""
    accepted = [row[name] for name in ("accepted", "accepted_replay") if not pd.isna(row[name])]
    start = row["start"] if not pd.isna(row["start"]) else row["start_replay"]
    place = int(start) + int(min(accepted))
    key = (row["request_id"], row["batch"], place)
    near = gaps.loc[key] if key in gaps.index else None
    return {
        "cell": cell.name,
        "request_id": row["request_id"],
        "batch": int(row["batch"]),
        "round": int(row["round"]),
        "position": place,
        "engine_accepted": None if pd.isna(row["accepted"]) else int(row["accepted"]),
        "replay_accepted": (
            None if pd.isna(row["accepted_replay"]) else int(row["accepted_replay"])
        ),
        "draft_margin": None if near is None else float(near["draft_margin"]),
        "draft_gap": None if near is None else float(near["draft_gap"]),
    }


def summary(cell: CellTables) -> list[Row]:
    """What a cell holds, per batch size."""
    rows = []
    for batch, rounds in cell.rounds.groupby("batch"):
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
