"""Whether outputs are the baseline's token for token, and what that says of prediction P4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from draftlaw.margins import Margins

A_A_CONTROLS = ("repeat", "relaunch")
"""The baseline against itself: in one process, and after a relaunch."""

CONTROLS = {"repeat": "in one process", "relaunch": "after a relaunch", "shape": "in other batches"}


@dataclass(frozen=True, slots=True)
class Outputs:
    """What comparing outputs found.

    Attributes:
        identity: the identity table.
        divergences: the divergences table.
    """

    identity: pd.DataFrame
    divergences: pd.DataFrame

    def verdict(
        self, margins: Margins
    ) -> tuple[Literal["supported", "refuted", "inconclusive"], str]:
        """The verdict on P4 and its label (protocol, section 6).

        A platform that does not repeat itself can neither support nor refute it.
        """
        differing = self.differing()
        if not all(self.compared(control) for control in A_A_CONTROLS):
            found = "differing outputs, " if len(differing) else ""
            return "inconclusive", f"{found}A/A control not measured"
        if any(self.count(control) for control in A_A_CONTROLS):
            return "inconclusive", "platform not deterministic"
        if len(differing):
            return "refuted", "numerical tie" if self.ties(margins.tie).all() else "algorithmic"
        if self.fewest_requests() < margins.requests:
            return "inconclusive", "n too small"
        return "supported", ""

    def controls(self) -> str:
        """What the controls found, in words."""
        return ", ".join(
            f"{self.count(name)} of {self.compared(name)} differ {words}"
            if self.compared(name)
            else f"not compared {words}"
            for name, words in CONTROLS.items()
        )

    def compared(self, comparison: str) -> int:
        """Outputs compared."""
        return int(self._of(comparison)["requests"].sum())

    def count(self, comparison: str) -> int:
        """Those that are another one."""
        return int(self._of(comparison)["differing"].sum())

    def fewest_requests(self) -> int:
        """Distinct requests that speculation was compared on, at the batch size with the fewest."""
        requests = self._of("speculation").groupby(["batch", "arm"])["requests"].min()
        return int(requests.groupby("batch").sum().min())

    def differing(self) -> pd.DataFrame:
        """Requests that speculation changed: batch, arm, request_id, each once."""
        return self._changed()[["batch", "arm", "request_id"]].drop_duplicates()

    def ties(self, margin: float) -> pd.Series[bool]:
        """For each output that speculation changed, whether it parted at a numerical tie.

        The target's two best tokens are then at most `margin` nat apart, and one of the two outputs
        went on with the best.
        """
        changed = self._changed()
        best = (changed["target_top1"] == changed["token"]) | (
            changed["target_top1"] == changed["baseline_token"]
        )
        return best.eq(True) & (changed["target_margin"] <= margin)

    def _of(self, comparison: str) -> pd.DataFrame:
        return self.identity[self.identity["comparison"] == comparison]

    def _changed(self) -> pd.DataFrame:
        return self.divergences[self.divergences["comparison"] == "speculation"]
