"""When something was said, and which time a question means."""

from __future__ import annotations

import re
from calendar import timegm
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_OF = {form: number for number, name in enumerate(_MONTHS, 1) for form in (name, name[:3])} | {"sept": 9}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTH_OF, key=lambda form: (-len(form), form)))})\.?"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?(?: ?(?P<half>[ap])\.?m\b\.?)?"
_DATE_FORMS = (
    re.compile(rf"(?<!\d){_YEAR}[-/.](?P<month>\d\d)[-/.](?P<day>\d\d)(?!\d)"),
    re.compile(rf"(?<![\w.]){_DAY}(?: of)? {_MONTH},? {_YEAR}(?!\d)", re.IGNORECASE),
    re.compile(rf"(?<!\w){_MONTH} {_DAY},? {_YEAR}(?!\d)", re.IGNORECASE),
)
_YEARLESS = (
    re.compile(rf"(?<![\w.]){_DAY}(?: of)? {_MONTH}(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<!\w){_MONTH} {_DAY}(?!\w)", re.IGNORECASE),
)
_MONTH_AND_YEAR = re.compile(rf"(?<!\w){_MONTH},?(?: of)? {_YEAR}(?!\d)", re.IGNORECASE)
_NAMED_MONTH = re.compile(rf"\b(?:in|last|this|during|since|of|early|late|mid|by) {_MONTH}(?!\w)", re.IGNORECASE)
_NAMED_YEAR = re.compile(rf"\b(?:in|during|since|of|year|early|late|mid) {_YEAR}(?!\d)", re.IGNORECASE)
_TIME_OF_DAY = re.compile(_CLOCK, re.IGNORECASE)
_AGO = re.compile(
    r"\b(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|several|couple of)"
    r" (?P<unit>day|week|month|year)s? (?:ago|back|earlier)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    rf"\b(?:(?P<which>last|past|previous|this) (?P<unit>week|month|year|weekend|night|{'|'.join(_DAYS)})"
    rf"|(?P<word>yesterday|today|tonight)|on (?P<weekday>{'|'.join(_DAYS)}))\b",
    re.IGNORECASE,
)
_NUMBERS = "zero one two three four five six seven eight nine ten".split()
_LENGTH = {"day": 1, "week": 7, "month": 30, "year": 365}
_FIRST = re.compile(r"\b(?:first|earliest|initially|originally|at the (?:start|beginning))\b", re.IGNORECASE)
_LATEST = re.compile(
    r"\b(?:latest|most recent(?:ly)?|currently|last time|newest|nowadays|right now)\b", re.IGNORECASE
)
_DIGIT = re.compile(r"\d")
_LONGEST_QUESTION = 4_000  # characters that are read for words of time

_LATEST_MOMENT = 253_402_300_799.0  # the end of the year 9999

DAY = 86_400.0
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Period:
    """From ``first`` to ``last``, in seconds since 1970 UTC."""

    first: float
    last: float

    def nearness(self, said: float) -> float:
        """1.0 within the period, less the longer after it, 0.0 before it: one tells of things once they happened.

        Half is left after three days, or after half the length of a longer period.
        """
        if self.first <= said <= self.last:
            return 1.0
        if said < self.first:
            return 0.0
        return float(0.5 ** ((said - self.last) / self._half))

    @property
    def reach(self) -> float:
        """The moment after which next to nothing is left."""
        return self.last + 4 * self._half

    @property
    def _half(self) -> float:
        return max(3 * DAY, (self.last - self.first) / 2)


def moment(text: str) -> float | None:
    """The first full date of the text with the time of day beside it; midnight UTC where there is none."""
    found = next((match for form in _DATE_FORMS if (match := form.search(text))), None)
    day = _day_of(found, None) if found else None
    if day is None:
        return None
    clock = _TIME_OF_DAY.search(text)
    return day + (_seconds(clock) if clock else 0.0)


def period(question: str, now: float | None) -> Period | None:
    """The time that the question means; ``now`` is what words such as "yesterday" are told from."""
    text = question[:_LONGEST_QUESTION]
    dated = _dated(text, now) if _DIGIT.search(text) else None
    if dated is not None or now is None:
        return dated
    if match := _NAMED_MONTH.search(text):
        month, today = _number(match["month"]), _date(now)
        return _month(today.year - (month > today.month), month)
    return _of_year(text) or _ago(text, now) or _relative(text, now)


def _dated(text: str, now: float | None) -> Period | None:
    """The day, or else the month and year, that the text names; without ``now`` also a year alone."""
    for form in _DATE_FORMS:
        if (match := form.search(text)) and (day := _day_of(match, None)) is not None:
            return Period(day, day + DAY)
    if match := _MONTH_AND_YEAR.search(text):
        return _month(int(match["year"]), _number(match["month"]))
    if now is None:
        return _of_year(text)
    for form in _YEARLESS:
        if (match := form.search(text)) and (day := _day_of(match, now)) is not None:
            return Period(day, day + DAY)
    return None


def dates(text: str) -> tuple[str, list[str]]:
    """The text without the days that it names, and these: the 28 of "28 July" says nothing alone."""
    plain, rest = text[:_LONGEST_QUESTION], text[_LONGEST_QUESTION:]
    if not _DIGIT.search(plain):
        return text, []
    found: list[str] = []
    for form in (*_DATE_FORMS, *_YEARLESS):
        found += [match.group() for match in form.finditer(plain)]
        plain = form.sub(" ", plain)
    return plain + rest, found


def direction(question: str) -> int:
    """-1 if the question asks for the first of several, 1 for the latest, 0 for neither."""
    text = question[:_LONGEST_QUESTION]
    return (_LATEST.search(text) is not None) - (_FIRST.search(text) is not None)


def day_name(said: float) -> str:
    """The day as a reader writes it: ``8 May 2023``."""
    return _name_of(int(said // DAY))


@lru_cache(maxsize=1 << 12)
def _name_of(days: int) -> str:
    day = _date(days * DAY)
    return f"{day.day} {_MONTHS[day.month - 1].capitalize()} {day.year}"


def _of_year(text: str) -> Period | None:
    match = _NAMED_YEAR.search(text)
    if match is None:
        return None
    year = int(match["year"])
    return Period(_seconds_of(year, 1, 1), _seconds_of(year + 1, 1, 1))


def _ago(text: str, now: float) -> Period | None:
    match = _AGO.search(text)
    if match is None:
        return None
    word, unit = match["count"].lower(), _LENGTH[match["unit"].lower()]
    if word.isdigit():
        count = int(word)
    else:
        count = _NUMBERS.index(word) if word in _NUMBERS else 1 if word in {"a", "an"} else 3
    middle = now - count * unit * DAY
    return Period(middle - unit * DAY / 2, middle + unit * DAY / 2)


def _relative(text: str, now: float) -> Period | None:
    match = _RELATIVE.search(text)
    if match is None:
        return None
    today = now - now % DAY
    word = (match["word"] or match["unit"] or match["weekday"]).lower()
    if word in _DAYS:
        back = (_date(now).weekday() - _DAYS.index(word)) % 7 or 7
        return Period(today - back * DAY, today - (back - 1) * DAY)
    if word in {"today", "tonight"}:
        return Period(today, today + DAY)
    if word in {"yesterday", "night"}:
        return Period(today - DAY, today)
    length = _LENGTH.get(word, 7) * DAY
    if (match["which"] or "").lower() == "this":
        return Period(now - length, now)
    day = _date(now)
    if word == "year":
        return Period(_seconds_of(day.year - 1, 1, 1), _seconds_of(day.year, 1, 1))
    if word == "month":
        return _month(day.year - (day.month == 1), (day.month - 2) % 12 + 1)
    return Period(now - 2 * length, now - length / 4)


def _month(year: int, month: int) -> Period:
    return Period(_seconds_of(year, month, 1), _seconds_of(year + month // 12, month % 12 + 1, 1))


def _number(month: str) -> int:
    return _MONTH_OF[month.lower()] if month.isalpha() else int(month)


def _day_of(match: re.Match[str], now: float | None) -> float | None:
    """The day that the match names, in the year that it names or else the latest year in which it is past."""
    month, day = _number(match["month"]), int(match["day"])
    try:
        if now is None:
            return _seconds_of(int(match["year"]), month, day)
        this = _date(now).year
        candidate = _seconds_of(this, month, day)
        return candidate if candidate <= now else _seconds_of(this - 1, month, day)
    except ValueError:  # there is no such day
        return None


def _seconds(clock: re.Match[str]) -> float:
    hour, half = int(clock["hour"]), (clock["half"] or "").lower()
    if half:
        hour = hour % 12 + 12 * (half == "p")
    return hour * 3600.0 + int(clock["minute"]) * 60 + int(clock["second"] or 0)


def _seconds_of(year: int, month: int, day: int) -> float:
    return float(timegm(datetime(year, month, day, tzinfo=UTC).timetuple()))


def _date(said: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=min(max(said, 0.0), _LATEST_MOMENT))
