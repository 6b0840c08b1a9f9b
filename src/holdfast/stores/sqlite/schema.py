"""What stands in the file, and how a file of an older version becomes one of this version.

The file says whose it is (``application_id``) and how many steps it has been through (``user_version``). A step,
once released, never changes: what comes later is a further step.
"""

from __future__ import annotations

import sqlite3

from .transaction import transaction

Step = tuple[str, ...]

APPLICATION = int.from_bytes(b"Hold", "big")

STEPS: tuple[Step, ...] = (
    (
        # Keys are UTF-8 as bytes: any text, in the order of its code points. ``ends`` is in Unix seconds.
        "CREATE TABLE entries (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL, ends REAL)",
        "CREATE INDEX entries_by_end ON entries (ends) WHERE ends IS NOT NULL",
    ),
    (
        # Names and ids are UTF-8 as bytes too. A line's number says its log and its position: see log.py.
        "CREATE TABLE logs (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, length INTEGER NOT NULL)",
        "CREATE TABLE lines (number INTEGER PRIMARY KEY, log INTEGER NOT NULL, id BLOB, time REAL, body BLOB)",
        "CREATE UNIQUE INDEX lines_by_id ON lines (log, id) WHERE id IS NOT NULL",
        "CREATE INDEX lines_by_time ON lines (log, time)",
        # Without content of its own: the words come from the lines, and are never read back from it.
        "CREATE VIRTUAL TABLE line_words USING fts5 (words, content = '', tokenize = 'porter unicode61')",
    ),
    (
        # Words that the index does not have yet: see words.py. ``id`` counts them.
        "CREATE TABLE waiting_words (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, words BLOB NOT NULL)",
        # Parts of the index of one size that are made one; fewer than by default, for each word is sought in each.
        "INSERT INTO line_words (line_words, rank) VALUES ('crisismerge', 4)",
    ),
    # From here on values and lines are sealed: see seal.py. Those that are there stay as they are.
    (),
)


class SchemaError(Exception):
    """The file is not one that this version can use."""


def version(connection: sqlite3.Connection, steps: tuple[Step, ...] = STEPS) -> int:
    """How many steps the file has been through; 0 is an empty file. To be asked inside a transaction.

    Raises SchemaError if it belongs to another program, or to a Holdfast that knows more steps than this one.
    """
    application, reached, tables = (
        connection.execute(question).fetchone()[0]
        for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    )
    if application != APPLICATION and (application or reached or tables):
        raise SchemaError("the file is the database of another program; give the store a file of its own")
    if reached > len(steps):
        raise SchemaError(
            f"the file was written by a newer Holdfast (schema {reached}, this one knows {len(steps)}); "
            "upgrade with pip install -U holdfast"
        )
    return int(reached)


def migrate(connection: sqlite3.Connection, steps: tuple[Step, ...] = STEPS) -> None:
    """Take the steps that the file lacks, all or none, whoever else opens it at the same time."""
    with transaction(connection, "deferred"):
        if version(connection, steps) == len(steps):
            return
    with transaction(connection, "immediate"):
        for step in steps[version(connection, steps) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(steps)}")
