"""Where the tables of a study lie, and reading those of several arms as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from draftlaw.files import read_json
from draftlaw.tables.engine import ROUNDS, TRACES
from draftlaw.tables.parquet import SIMULATED, Table
from draftlaw.tables.positions import POSITIONS
from draftlaw.tables.prompts import PROMPTS
from draftlaw.tables.replay import REPLAY, REPLAYED_ROUNDS


@dataclass(frozen=True, slots=True)
class Results:
    """The folder of a study.

    Attributes:
        folder: where it is.
        simulated: whether it holds a simulated study; the tables of one are refused elsewhere, and
            what is written beside them is marked as they are.
    """

    folder: Path
    simulated: bool = False

    def traces(self, arm: str, depth: int, launch: int = 0) -> pd.DataFrame:
        """Outputs of a launch of a cell."""
        path = self.folder / f"traces/{arm}-g{depth}-l{launch}.parquet"
        return TRACES.read(path, self.simulated)

    def rounds(self, arm: str, depth: int, launch: int = 0) -> pd.DataFrame:
        """Rounds of a launch of a cell, as the engine counted them."""
        path = self.folder / f"rounds/{arm}-g{depth}-l{launch}.parquet"
        return ROUNDS.read(path, self.simulated)

    def record(self, arm: str, depth: int, launch: int = 0) -> dict[str, Any]:
        """What a launch of a cell said of itself: conditions, counts, seconds."""
        found: dict[str, Any] = read_json(self.folder / f"engine/{arm}-g{depth}-l{launch}.json")
        return found

    def repeat(self, arm: str) -> pd.DataFrame:
        """Outputs of an arm's baseline run a second time in its first launch; may be empty."""
        return TRACES.read(self.folder / f"traces/{arm}-repeat.parquet", self.simulated)

    def prompts(self, arm: str) -> pd.DataFrame:
        """Frozen prompts of an arm."""
        return PROMPTS.read(self.folder / f"prompts/{arm}.parquet", self.simulated)

    def positions(self, arm: str) -> pd.DataFrame:
        """Labelled output positions of an arm's baseline."""
        return POSITIONS.read(self.folder / f"positions/{arm}.parquet", self.simulated)

    def replay(self, arm: str) -> pd.DataFrame:
        """Both models at those positions."""
        return REPLAY.read(self.folder / f"replay/{arm}.parquet", self.simulated)

    def replayed_rounds(self, arm: str) -> pd.DataFrame:
        """Rounds that the replay implies, at every depth."""
        return REPLAYED_ROUNDS.read(self.folder / f"replay/{arm}-rounds.parquet", self.simulated)

    def clusters(self, arm: str) -> Mapping[str, str]:
        """Sampling unit of each request of an arm."""
        prompts = self.prompts(arm)
        return dict(zip(prompts["request_id"], prompts["cluster"], strict=True))

    def table(self, table: Table) -> pd.DataFrame:
        """One of the study's own tables."""
        return table.read(self.path(table), self.simulated)

    def write(self, table: Table, frame: pd.DataFrame, evidence: str) -> None:
        """Write one of the study's own tables, with its evidence grade in the file."""
        grade = SIMULATED if self.simulated else evidence
        table.write(frame, self.path(table), {"evidence": grade})

    def path(self, table: Table) -> Path:
        """Where one of the study's own tables lies."""
        return self.folder / f"{table.name}.parquet"


def by_arm(arms: Sequence[str], read: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    """Tables of several arms as one, with a column arm."""
    return pd.concat([read(arm).assign(arm=arm) for arm in arms], ignore_index=True)
