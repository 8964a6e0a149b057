"""The panels under an answer: functions `(trace, texts) -> None` that draw what the trace holds."""
