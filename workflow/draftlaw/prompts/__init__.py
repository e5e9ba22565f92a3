"""Prompt sets: one module per source, each giving a list of `Prompt` records."""
