"""CRAG: a chatbot on your own PDFs that checks its evidence before it answers (Yan et al., arXiv 2401.15884)."""

__version__ = "0.1.0"
