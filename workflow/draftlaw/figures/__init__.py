"""Figures: what is drawn is computed from the law and the tables, then drawn in one style."""
