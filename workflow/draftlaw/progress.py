"""Progress of a long stage, as lines that read well beside other jobs' and in a saved log.

Rules send a stage's output to their log and pass the terminal on as file descriptor 3, so that the
libraries' chatter is kept apart from what a person watches.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TextIO

TERMINAL = 3
WIDTH = 20
SECONDS_BETWEEN_LINES = 15.0


def _terminal() -> TextIO | None:
    try:
        return os.fdopen(os.dup(TERMINAL), "w", encoding="utf-8")
    except OSError:
        return None


@dataclass(slots=True)
class Progress:
    """A bar: `advance` it, and at most every 15 seconds it prints a line with the time left.

    Args:
        label: what is being done.
        total: units of work in all.
    """

    label: str
    total: int
    done: int = 0
    _begin: float = field(default_factory=time.monotonic)
    _last: float = field(default_factory=time.monotonic)
    _out: TextIO | None = field(default_factory=_terminal)

    def advance(self, units: int = 1, note: str = "") -> None:
        """Count `units` as done; `note` is shown behind the bar."""
        self.done += units
        now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        left = (now - self._begin) * (self.total - self.done) / max(self.done, 1)
        filled = WIDTH * self.done // self.total
        bar = "█" * filled + "░" * (WIDTH - filled)
        line = f"  {bar} {self.label}: {self.done}/{self.total}, {left:.0f} s left {note}"
        print(line.rstrip(), file=self._out, flush=True)
