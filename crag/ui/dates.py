"""Dates and times as a person writes them: in the language of the page, the order of their region, their time zone.

Numbers need no such help: thousands and decimals are written alike in both languages of the catalog.
"""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime, tzinfo
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crag.ui.texts import Texts

if TYPE_CHECKING:
    from babel import Locale

log = logging.getLogger(__name__)

PLAIN: Final = {"en": "en_US", "zh": "zh_CN"}
"""Where the browser names no region of the language."""


def day(stamp: str, t: Texts) -> str:
    """`Mar 4, 2026`, `4 Mar 2026`, `2026年3月4日` of a day in ISO 8601; what is none comes back as it is."""
    from babel.dates import format_date

    try:
        found = date.fromisoformat(stamp[:10])
    except ValueError:
        return stamp
    return format_date(found, "medium", locale=_locale(t))


def moment(stamp: str, t: Texts) -> str:
    """A moment in ISO 8601 in the zone of `t`, to the minute; UTC is named, the person's own zone is not."""
    from babel.dates import format_date, format_time

    try:
        found = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    zone = zone_of(t)
    there = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(zone)
    locale = _locale(t)
    said = f"{format_date(there, 'medium', locale=locale)} {format_time(there, 'short', locale=locale)}"
    return f"{said} UTC" if zone is UTC else said


def zone_of(t: Texts) -> tzinfo:
    """The zone that the browser names; UTC where it names none that is known."""
    if not t.zone:
        return UTC
    try:
        return ZoneInfo(t.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        log.info("this time zone is not known: %s", t.zone[:60])
        return UTC


def _locale(t: Texts) -> Locale:
    from babel import Locale, UnknownLocaleError

    try:
        found = Locale.parse(t.locale, sep="-") if t.locale else None
    except (UnknownLocaleError, ValueError):
        found = None
    fits = found is not None and found.language == t.language
    return found if fits and found is not None else Locale.parse(PLAIN[t.language])
