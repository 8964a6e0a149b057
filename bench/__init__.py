"""Measurements: each module prints its figures; run as `python -m bench.NAME`."""
