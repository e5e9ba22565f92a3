"""Thin commands, one per step of the workflow: read files, call the package, write files."""
