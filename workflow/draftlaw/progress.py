"""Progress of a long stage, as lines that read well beside other jobs' and in a saved log.

Rules send a stage's output to their log and pass the terminal on as another file descriptor, whose
number is in DRAFTLAW_PROGRESS, so that the libraries' chatter is kept apart from what a person
watches. Run by hand, a stage prints its progress with everything else.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from typing import TextIO

DESCRIPTOR = "DRAFTLAW_PROGRESS"
WIDTH = 20
SECONDS_BETWEEN_LINES = 15.0


def terminal() -> TextIO:
    """Where a person watches."""
    number = os.environ.get(DESCRIPTOR)
    return sys.stderr if number is None else os.fdopen(os.dup(int(number)), "w", encoding="utf-8")


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
    _out: TextIO = field(default_factory=terminal)

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
