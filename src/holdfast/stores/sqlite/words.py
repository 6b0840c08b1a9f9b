"""The full-text index of a store's file: words wait in a table of their own, and are indexed many lines at once.

To index the lines one by one would cost an append nearly as much again as to keep them. What waits and what is
indexed change in one transaction, so that every line is in one of both, whenever a process ends.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from holdfast.stores.utf8 import to_text
from holdfast.text.lexical import Lexical

MOST_WAITING = 64
"""Lines whose words may wait: to index so many takes a search some 3 ms."""

_MOST_TERMS = 200  # words of a question; one of 50,000 tokens asks for its first
_MOST_WEIGHED = 24  # words that a search weighs, the rarest: the others change nearly nothing
_MOST_HOLDERS = 10_000  # lines that one search weighs: some 6 ms, whatever the length of the log
_FINE = 1e10  # parts of a score that count: of equals the earlier line is first, whatever the order of the words

_WAIT = "INSERT INTO waiting_words (number, words) VALUES (?, ?)"
_IS_WAITING = "SELECT 1 FROM waiting_words WHERE number >= ? AND number < ? LIMIT 1"
_WAITING = "SELECT number, words FROM waiting_words WHERE number >= ? AND number < ? ORDER BY number"
_INDEX = "INSERT INTO line_words (rowid, words) SELECT number, words FROM waiting_words ORDER BY number"
_INDEXED = "DELETE FROM waiting_words"
_HOLDERS = (
    "SELECT count(*) FROM (SELECT 1 FROM line_words WHERE line_words MATCH ? AND rowid >= ? AND rowid < ? LIMIT ?)"
)
_BEST = (  # not by FTS5's column rank: that is sorted by a statement made anew each time, and weighs some twice
    "SELECT rowid, CAST(-? * bm25(line_words) AS INTEGER) AS score FROM line_words "
    "WHERE line_words MATCH ? AND rowid >= ? AND rowid < ? ORDER BY score DESC, rowid LIMIT ?"
)

Span = tuple[int, int]
"""The numbers of a log's lines: from the first, up to the second."""


def keep(connection: sqlite3.Connection, number: int, words: str) -> int:
    """Let the words of a line wait; how many lines do now."""
    row = connection.execute(_WAIT, (number, words.encode("utf-8", "replace")))
    return row.lastrowid or 0  # the table is only ever emptied whole, and counts from 1 again


def is_behind(connection: sqlite3.Connection, span: Span) -> bool:
    """Whether the words of any of these lines wait."""
    return connection.execute(_IS_WAITING, span).fetchone() is not None


def index(connection: sqlite3.Connection) -> None:
    """Index all that waits."""
    connection.execute(_INDEX)
    connection.execute(_INDEXED)


def best(
    connection: sqlite3.Connection, span: Span, length: int, terms: Sequence[str], most: int
) -> dict[int, float]:
    """BM25 scores by number, best first; a word that stands nearly everywhere is left out of a long log."""
    words = list(dict.fromkeys(terms))
    if len(words) > _MOST_WEIGHED or len(words) * length > _MOST_HOLDERS:
        words = _telling(connection, span, words)
    rows = connection.execute(_BEST, (_FINE, _quoted(words), *span, most)).fetchall() if words else []
    return {number: score / _FINE for number, score in rows}


def with_waiting(
    connection: sqlite3.Connection, span: Span, terms: Sequence[str], most: int, found: Mapping[int, float]
) -> dict[int, float]:
    """What was found, and the lines that still wait, each scored by what is rare among them."""
    rows = connection.execute(_WAITING, span).fetchall()
    lexical = Lexical()
    for _, words in rows:
        lexical.add(to_text("words", words))
    late = {rows[place][0]: score for place, score in lexical.any_of(terms).items()}
    scores = {**found, **late}
    return {number: scores[number] for number in sorted(scores, key=lambda n: (-scores[n], n))[:most]}


def _telling(connection: sqlite3.Connection, span: Span, terms: Sequence[str]) -> list[str]:
    """The terms that are weighed: the rarest, as long as their holders are not too many; at least one.

    A word that everybody says says nothing, and is what a search over a long log would take its time for.
    """
    holders: dict[str, int] = {
        term: connection.execute(_HOLDERS, (_quoted([term]), *span, _MOST_HOLDERS)).fetchone()[0]
        for term in terms[:_MOST_TERMS]
    }
    chosen: list[str] = []
    left = _MOST_HOLDERS
    rarest = sorted((term for term in holders if holders[term]), key=lambda term: holders[term])
    for term in rarest[:_MOST_WEIGHED]:
        left -= holders[term]
        if left < 0 and chosen:
            break
        chosen.append(term)
    return chosen


def _quoted(words: Sequence[str]) -> str:
    """A query for any of the words; quoted, so that none of them is an operator."""
    query = " OR ".join('"' + word.replace('"', '""').replace("\x00", " ") + '"' for word in words)
    return query.encode("utf-8", "replace").decode()
