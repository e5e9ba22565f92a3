"""What each arm of the protocol is for (section 4)."""

CONTROL = "A"
"""Free-form prose, which calibrates the law."""

MIXED = "D"
"""Turns of agent loops, whose composition varies."""

ARM_OF = {"F": CONTROL, "S": "B", "R": "C"}
"""The arm whose positions a class is estimated on."""
