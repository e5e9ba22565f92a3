"""The tables between stages: schemas by stage, and `parquet` to read and write them."""
