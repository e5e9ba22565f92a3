"""The registered inference: resampling of sampling units, intervals, decisions on P1-P4."""
