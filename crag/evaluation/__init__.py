"""Evaluation: question sets, their run through the real pipeline, metrics, reports and comparisons."""
