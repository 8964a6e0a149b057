"""The one family of errors; each message is a sentence for the user that says what is wrong and what to do.

CragError
├── ConfigurationError    a setting cannot be used as it is
├── QuestionError         what was asked is no question
├── QuestionSetError      a file of questions or a report cannot be used as it is
├── EmbeddingError        no vectors can be made
├── EvaluationError       a grade could not be made: the document becomes *ungraded*
├── WebSearchError        the web could not be asked
├── GenerationError       no answer could be written
├── KnowledgeBaseError    the index cannot be read or written
│   ├── EmptyIndexError   there is nothing to ask yet
│   ├── IndexMismatchError  the index was built with another embedding
│   └── BuildLockedError  another process is building
├── PageImageError        the image of a page cannot be shown
├── HistoryError          what people corrected, or a calibration, cannot be read or kept
└── PdfError              one file cannot be read; it never stops the others
    └── LockedPdfError    it needs a password, or another one
"""

from typing import ClassVar


class CragError(Exception):
    """Base of all errors whose text may be shown to the user as it is."""


class ConfigurationError(CragError):
    """A setting has a value that cannot be used."""


class QuestionError(CragError):
    """The question is empty or far too long."""


class QuestionSetError(CragError):
    """A file of questions, or a report on one, cannot be read."""


class EmbeddingError(CragError):
    """The embedding model is missing or failed."""


class EvaluationError(CragError):
    """The evaluator could not grade a document."""


class WebSearchError(CragError):
    """A web search failed: the answer is made without it."""


class GenerationError(CragError):
    """The generator could not write an answer."""


class ModelError(CragError):
    """A language model could not be asked: no server, no such model, a key that is refused, too much at once."""


class InvalidOutputError(ModelError):
    """A model answered, also when asked again, what is not in the form that was asked for."""


class KnowledgeBaseError(CragError):
    """The index cannot be read or written."""


class EmptyIndexError(KnowledgeBaseError):
    """Nothing has been indexed yet."""


class IndexMismatchError(KnowledgeBaseError):
    """The index was built with another embedding than the one configured."""


class BuildLockedError(KnowledgeBaseError):
    """Another process holds the writer lock."""


class PageImageError(CragError):
    """The image of a page cannot be shown; `reason` names the case, so that the page can say it in its language."""

    SENTENCES: ClassVar[dict[str, str]] = {
        "gone": "The file is no longer there: put it back to see its pages.",
        "changed": "The file has changed since it was indexed: rebuild to see its pages.",
        "locked": "The file is protected by a password: give it to see its pages.",
        "slow": "Drawing this page takes too long and was given up: open the file itself.",
        "broken": "This page cannot be drawn: open the file itself.",
    }

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.SENTENCES[self.reason]


class HistoryError(CragError):
    """Labels or calibrations cannot be read or written."""


class PdfError(CragError):
    """One PDF cannot be read; the text is the reason shown in the file's row."""


class LockedPdfError(PdfError):
    """One PDF needs a password, or another one than it was given."""
