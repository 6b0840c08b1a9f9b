"""Times: when something was said, and which time a question means."""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from holdfast.text.words import READ

_MONTHS = (
    "january february march april may june july august september october november december".split()
)
# a name, or its first three letters
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|sept|{'|'.join(name[:3] for name in _MONTHS)})\.?"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DATES = (
    re.compile(rf"(?<!\d){_YEAR}[-/.](?P<month>\d\d)[-/.](?P<day>\d\d)(?!\d)"),
    re.compile(rf"(?<![\w.]){_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<!\w){_MONTH} {_DAY}(?:,? {_YEAR})?(?!\w)", re.IGNORECASE),
)
"""Patterns of dates, with or without a year."""

_NAMED = re.compile(
    r"(?<!\w)(?P<lead>(?:in|last|this|during|since|of|early|late|mid|by|year) )?"
    rf"(?:{_MONTH}(?:,?(?: of)? {_YEAR})?|(?P<alone>(?:19|20)\d\d))(?!\w)",
    re.IGNORECASE,
)
"""A month or a year: "may" alone is a verb, and 2023 alone a number."""

_CLOCK = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?:[.,]\d{1,9})?(?: "
    r"?(?P<half>[ap])\.?m\b)?",
    re.IGNORECASE,
)
_COUNTS = {"a": 1, "an": 1} | {
    name: number
    for number, name in enumerate("zero one two three four five six seven eight nine ten".split())
}
"""The number that a word counts."""
_RELATIVE = re.compile(
    rf"\b(?:(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)}|a few|several|couple of)"
    r" (?P<many>day|week|month|year)s? (?:ago|back|earlier)"
    rf"|(?P<which>last|past|previous|this) (?P<unit>week|month|year|weekend|night"
    rf"|{'|'.join(_WEEKDAYS)})"
    r"|(?P<word>(?:day before )?yesterday|today|tonight)"
    rf"|on (?P<weekday>{'|'.join(_WEEKDAYS)}))\b",
    re.IGNORECASE,
)
# before today
_DAYS_BACK = {"today": 0, "tonight": 0, "yesterday": 1, "night": 1, "day before yesterday": 2}
_LENGTH = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}  # days, about
ORDER = re.compile(
    r"\b(?:(?P<first>first|earliest|initially|originally|at the (?:start|beginning))"
    r"|latest|most recent(?:ly)?|currently|last time|newest|nowadays|right now)\b",
    re.IGNORECASE,
)
"""Words that ask for the first of several, or for the latest."""

# a ``datetime`` begins with the year 1
_FIRST_MOMENT = datetime.min.replace(tzinfo=UTC).timestamp()
# a ``datetime`` ends with the year 9999
_LATEST_MOMENT = datetime.max.replace(microsecond=0, tzinfo=UTC).timestamp()

DAY = 86_400.0
"""Seconds; POSIX time has no leap seconds."""


class Period(NamedTuple):
    """A period of time, in seconds since 1970 UTC."""

    first: float
    last: float

    def nearness(self, said: float) -> float:
        """1.0 within the period, falling after it, and 0.0 before it.

        People report things after they happened. It is 0.5 after three days, or after half the
        length of the period if that is longer.
        """
        if self.first <= said <= self.last:
            return 1.0
        return 0.0 if said < self.first else float(0.5 ** ((said - self.last) / self._half))

    @property
    def reach(self) -> float:
        """The time after which ``nearness`` is almost 0."""
        return self.last + 4 * self._half

    @property
    def _half(self) -> float:
        return max(3 * DAY, (self.last - self.first) / 2)


def moment(text: str) -> float | None:
    """The first full date in the text, with its time of day or midnight UTC; None without one."""
    day, clock = _first_day(text, None), _CLOCK.search(text)
    if day is None or clock is None:
        return day
    hour, half = int(clock["hour"]), (clock["half"] or "").lower()
    if half:
        hour = hour % 12 + 12 * (half == "p")
    return day + (hour * 3600.0 + int(clock["minute"]) * 60 + int(clock["second"] or 0))


def period(question: str, now: float | None) -> Period | None:
    """The period that the question means; words like "yesterday" are relative to ``now``."""
    text = question[:READ]
    day = _first_day(text, now)
    if day is not None:
        return Period(day, day + DAY)
    for match in _NAMED.finditer(text):
        year = match["year"] or (match["alone"] if match["lead"] else None)
        month = match["month"]
        if year:
            return _months(int(year), _number(month)) if month else _months(int(year), 1, 12)
        if month and match["lead"] and now is not None:
            today = _date(now)
            return _months(today.year - (_number(month) > today.month), _number(month))
    relative = _RELATIVE.search(text)
    return None if relative is None or now is None else _relative(relative, now)


def dates(text: str) -> tuple[str, list[str]]:
    """The text without its dates, and these dates, since "28" alone would mean nothing."""
    plain, rest = text[:READ], text[READ:]
    found: list[str] = []
    for form in _DATES:
        found += [match.group() for match in form.finditer(plain)]
        plain = form.sub(" ", plain)
    return plain + rest, found


def direction(question: str) -> int:
    """-1 if the question asks for the first of several, 1 for the latest, 0 for neither."""
    match = ORDER.search(question[:READ])
    return 0 if match is None else -1 if match["first"] else 1


def day_name(said: float) -> str:
    """The day in words: ``8 May 2023``."""
    day = _date(said)
    return f"{day.day} {_MONTHS[day.month - 1].capitalize()} {day.year}"


def _first_day(text: str, now: float | None) -> float | None:
    """The start of the first day that the text names by a date."""
    days = (_day_of(match, now) for form in _DATES for match in form.finditer(text))
    return next((day for day in days if day is not None), None)


def _relative(match: re.Match[str], now: float) -> Period:
    if match["count"]:
        word, unit = match["count"].lower(), _LENGTH[match["many"].lower()] * DAY
        middle = now - unit * (int(word) if word.isdigit() else _COUNTS.get(word, 3))
        return Period(middle - unit / 2, middle + unit / 2)
    today, day = now - now % DAY, _date(now)
    word = (match["word"] or match["unit"] or match["weekday"]).lower()
    back = _DAYS_BACK.get(word)
    if word in _WEEKDAYS:
        back = (day.weekday() - _WEEKDAYS.index(word)) % 7 or 7
    if back is not None:
        return Period(today - back * DAY, today - (back - 1) * DAY)
    length = _LENGTH[word] * DAY
    if match["which"].lower() == "this":
        return Period(now - length, now)
    if word == "year":
        return _months(day.year - 1, 1, 12)
    if word == "month":
        return _months(day.year, day.month - 1)
    return Period(now - 2 * length, now - length / 4)


def _months(year: int, month: int, count: int = 1) -> Period:
    """So many months from this one on; month 0 is the December before."""
    number = 12 * year + month - 1
    first, last = (_midnight(n // 12, n % 12 + 1, 1) for n in (number, number + count))
    return Period(first, last)


def _number(month: str) -> int:
    if month.isdigit():
        return int(month)
    return [name[:3] for name in _MONTHS].index(month.lower()[:3]) + 1


def _day_of(match: re.Match[str], now: float | None) -> float | None:
    """The start of the matched day; without a year, the latest before ``now``."""
    month, day = _number(match["month"]), int(match["day"])
    try:
        if match["year"]:
            return _midnight(int(match["year"]), month, day)
        if now is None:
            return None
        this = _date(now).year
        candidate = _midnight(this, month, day)
        return candidate if candidate <= now else _midnight(this - 1, month, day)
    except ValueError:  # not a valid date
        return None


def _midnight(year: int, month: int, day: int) -> float:
    return datetime(year, month, day, tzinfo=UTC).timestamp()


def _date(said: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(
        seconds=min(max(said, _FIRST_MOMENT), _LATEST_MOMENT)
    )
