"""Simulated studies: a population whose estimands are known, drawn in the tables of a real one."""
