"""Text to vectors: one Protocol (base) and a file per engine."""
