"""E of the paper: one Protocol (base) and a file per evaluator."""
