"""What stands on a page beside its text: form fields, the text of annotations, the names of attachments."""

from __future__ import annotations

from typing import Any

from crag.knowledge_base.raw_page import RawPage


def with_fields(page: RawPage, source: Any) -> RawPage:
    return page
