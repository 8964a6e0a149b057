"""Answers to hand on: as Markdown, as the JSON of their traces, or as a report that somebody else can check."""
