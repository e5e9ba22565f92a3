"""The tables between stages: one module per stage's schemas, and `parquet` to read and write them."""
