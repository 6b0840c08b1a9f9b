"""A store in Redis or Valkey, for many machines; everything is in the server's memory.

An append is one script, which the server runs as a whole or not at all. It has a unique number, so
that a repeated call after a lost connection gets the first answer again.

The server decides how durable a write is: with ``appendfsync always`` an acknowledged write is on
its disk; with ``everysec``, a common default, a crash of the machine may lose the last second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from struct import Struct
from time import time
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import uuid4

from msgspec import msgpack

from holdfast.kernel.errors import StoreError
from holdfast.kernel.forks import cached_property
from holdfast.kernel.registry import needed_by

from .entries import EntryStore
from .postings import counted, scores
from .protocols import Line, as_text, shown, to_bytes, to_text, unusable

with needed_by("a Redis store", "redis"):
    import redis
    from redis.backoff import ExponentialBackoff, NoBackoff
    from redis.retry import Retry

T = TypeVar("T")

_PREFIX = "holdfast:"
# attempts after a lost connection, and most seconds between them: about half a minute together, as
# stores on PostgreSQL wait
_TRIES, _LONGEST_PAUSE = 30, 1.0
_REMEMBERED = 600  # seconds for which an append may be repeated: many times what attempts take
_BLOCK = 1_024  # lines whose postings of one term are stored together: up to 10 kB in a field

_ENTRY, _LINES, _IDS, _TIMES, _WORDS, _DONE = (b"e:", b"l:", b"i:", b"t:", b"w:", b"n:")
"""Prefixes of the keys of an entry, of the four parts of a log, and of an append."""

_TEXT_COUNT, _TERM_COUNT = b"=lines", b"=terms"  # no term's field begins like these
_PATTERN = re.compile(rb"[*?\[\]\\^]")  # bytes with a meaning in a pattern of keys

# KEYS: lines, ids, times, words, done. ARGV: the expected length or "", the number of lines, and
# for each its id, its content, its time, its number of terms or "", its number of distinct terms,
# and these, each with its count.
_APPEND = f"""
local done = redis.call('GET', KEYS[5])
if done then return cjson.decode(done) end
local next = redis.call('HLEN', KEYS[1])
if ARGV[1] ~= '' and tonumber(ARGV[1]) ~= next then return {{}} end
local places, at = {{}}, 3
for line = 1, tonumber(ARGV[2]) do
  local id, kept, time, length = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local terms = at + 5
  at = terms + 2 * tonumber(ARGV[at + 4])
  local place = id ~= '' and redis.call('HGET', KEYS[2], id)
  if place then
    places[line] = tonumber(place)
  else
    places[line] = next
    redis.call('HSET', KEYS[1], next, kept)
    redis.call('ZADD', KEYS[3], time, string.format('%012d', next))
    if id ~= '' then redis.call('HSET', KEYS[2], id, next) end
    if length ~= '' then
      redis.call('HINCRBY', KEYS[4], '{_TEXT_COUNT.decode()}', 1)
      redis.call('HINCRBY', KEYS[4], '{_TERM_COUNT.decode()}', length)
    end
    local block = string.format('%08x', math.floor(next / {_BLOCK}))
    for term = terms, at - 1, 2 do
      redis.call('HINCRBY', KEYS[4], '#' .. ARGV[term], 1)
      local field = block .. ARGV[term]
      local held = redis.call('HGET', KEYS[4], field) or ''
      local posting = struct.pack('>I4I2I4', next, ARGV[term + 1], length)
      redis.call('HSET', KEYS[4], field, held .. posting)
    end
    next = next + 1
  end
end
redis.call('SET', KEYS[5], cjson.encode(places), 'EX', {_REMEMBERED})
return places
"""

# KEYS: the entry, done. ARGV: the value, the time
_CLAIM = f"""
if redis.call('EXISTS', KEYS[2]) == 1 then return 1 end
local held = redis.call('GET', KEYS[1])
if held and (string.byte(held) == 0 or struct.unpack('>d', string.sub(held, 2)) > tonumber(ARGV[2]))
then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], '', 'EX', {_REMEMBERED})
return 1
"""

_END = Struct(">d")
_KEPT = tuple[float, bytes, bytes]


class RedisLog:
    """A log on the server of a store."""

    def __init__(self, server: Connections, name: str) -> None:
        self._server = server
        self.keys = [server.key(part, name) for part in (_LINES, _IDS, _TIMES, _WORDS)]
        self._lines, self._ids, self._times, self._words = self.keys

    def length(self) -> int:
        """The number of lines."""
        with self._server.asking() as client:
            return int(client.hlen(self._lines))

    def append(
        self, lines: Sequence[Line], at: int | None = None, *, flush: bool = True
    ) -> list[int]:
        """Append all of the lines, or none; return their positions.

        The server's settings decide when it writes them to its disk.
        """
        if not lines:
            return []
        facts: list[bytes | str | int] = ["" if at is None else at, len(lines)]
        for line in lines:
            kept = msgpack.encode((line.time, to_bytes(line.id), to_bytes(line.body)))
            terms, length = counted(line.words)
            words = length if line.words else ""
            facts += [to_bytes(line.id), kept, repr(float(line.time)), words, len(terms)]
            for term, times in terms.items():
                facts += [term, times]
        done = self._server.key(_DONE, uuid4().hex)
        with self._server.asking() as client:
            places: list[int] = client.register_script(_APPEND)([*self.keys, done], facts)
        return places

    def read(self, positions: Sequence[int]) -> dict[int, Line]:
        """The existing lines at these positions, in order."""
        wanted = {place: b"%d" % place for place in sorted(positions) if place >= 0}
        return {place: _line(row) for place, row in self._held(self._lines, wanted).items()}

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The positions of the known ones among the ids."""
        wanted = {name: to_bytes(name) for name in ids if name}
        return {name: int(row) for name, row in self._held(self._ids, wanted).items()}

    def _held(self, of_log: bytes, wanted: Mapping[T, bytes]) -> dict[T, bytes]:
        """What one part of the log has in these fields, without those that it does not have."""
        if not wanted:
            return {}
        with self._server.asking() as client:
            rows: list[bytes | None] = client.hmget(of_log, list(wanted.values()))
        return {key: row for key, row in zip(wanted, rows, strict=True) if row is not None}

    def between(self, first: float, last: float, most: int) -> list[int]:
        """The positions of the lines in this period, the earliest first."""
        with self._server.asking() as client:
            rows = client.zrangebyscore(self._times, first, last, start=0, num=most)
        return [int(row) for row in rows]

    def search(self, terms: Sequence[str], most: int) -> Mapping[int, float]:
        """BM25 scores by position, best first.

        Of many words, or of words in many lines, the rarest are used.
        """
        with self._server.asking() as client:
            return scores(terms, _RedisPostings(client, self._lines, self._words), most)


@dataclass
class _RedisPostings:
    """The index of one log."""

    client: Any
    log: bytes
    words: bytes
    lines: int = 0
    terms: int = 0

    def holders(self, keys: Sequence[bytes]) -> Iterable[tuple[bytes, int]]:
        fields = [_TEXT_COUNT, _TERM_COUNT, *(b"#" + key for key in keys)]
        numbers = [int(row or 0) for row in self.client.hmget(self.words, fields)]
        self.lines, self.terms, *found = numbers
        return zip(keys, found, strict=True)

    def blocks(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        if keys:
            last = int(self.client.hlen(self.log)) // _BLOCK
            spans = [b"%08x" % block for block in range(last + 1)]
            wanted = [span + key for key in keys for span in spans]
            rows = iter(self.client.hmget(self.words, wanted))
            for key in keys:
                yield key, b"".join(filter(None, islice(rows, len(spans))))


def _line(row: bytes) -> Line:
    time, name, body = msgpack.decode(row, type=_KEPT)
    return Line(to_text("", body), to_text("", name), time)


class RedisStore(EntryStore):
    """One database of a Redis server, 6.2 or newer, or of Valkey.

    Keys begin with ``prefix``. ``clock``: Unix seconds; a value expires by it or by the server's
    clock, whichever is first. A lost connection is retried for about 30 s. Errors are StoreError.
    """

    def __init__(
        self, url: str, *, prefix: str = _PREFIX, clock: Callable[[], float] = time
    ) -> None:
        super().__init__(clock)
        self._server = Connections(url, to_bytes(prefix))

    @classmethod
    def from_url(cls, url: str) -> RedisStore:
        """The store of ``redis://user:password@host:port/0?prefix=holdfast:``.

        ``rediss://`` for TLS; ``valkey://`` and ``valkeys://`` are the same.
        """
        parts = urlsplit(url)
        if not parts.hostname:
            raise unusable(f"{shown(url)!r} names no host", "write 'redis://host:6379/0'")
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        prefix = options.pop("prefix", _PREFIX)
        scheme = parts.scheme.lower().replace("valkey", "redis")
        plain = urlunsplit(parts._replace(scheme=scheme, query=urlencode(options)))
        return cls(plain, prefix=prefix)

    def get_bytes(self, key: str) -> bytes | None:
        """The value as bytes, or None; text is encoded as UTF-8."""
        with self._server.asking() as client:
            return self._values([client.get(self._name(key))])[0]

    def put_bytes_if_absent(self, key: str, value: bytes) -> bool:
        """Store the bytes if the key is free; whether it was. One of many callers gets True."""
        keys = [self._name(key), self._server.key(_DONE, uuid4().hex)]
        facts = [b"\0" + value, repr(self._clock())]
        with self._server.asking() as client:
            return bool(client.register_script(_CLAIM)(keys, facts))

    def delete(self, key: str) -> None:
        """Delete the key."""
        with self._server.asking() as client:
            client.delete(self._name(key))

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with the prefix, in order; reads all keys of the server."""
        found = self._server.names(_ENTRY, prefix)
        if not found:
            return []
        with self._server.asking() as client:
            values = self._values(client.mget([self._name(key) for key in found]))
        return [key for key, value in zip(found, values, strict=True) if value is not None]

    def log(self, name: str) -> RedisLog:
        """The log of this name, which may be empty."""
        return RedisLog(self._server, name)

    def glance(
        self, keys: Sequence[str], logs: Sequence[str]
    ) -> tuple[list[str | None], list[int]]:
        """The values of the keys and the lengths of the logs."""
        with self._server.asking() as client, client.pipeline(transaction=False) as asked:
            for key in keys:
                asked.get(self._name(key))
            for name in logs:
                asked.hlen(self._server.key(_LINES, name))
            found: list[Any] = asked.execute()
        values = self._values(found[: len(keys)])
        return list(map(as_text, keys, values)), found[len(keys) :]

    def logs(self, prefix: str = "") -> list[str]:
        """The names of the non-empty logs that start with the prefix, in order."""
        return self._server.names(_LINES, prefix)

    def erase_log(self, name: str) -> None:
        """Remove the log with all its lines and their index."""
        with self._server.asking() as client:
            client.unlink(*self.log(name).keys)

    def check(self) -> list[str]:
        """The server settings that weaken the guarantees of the store, one text for each."""
        wanted = {
            "appendonly": ("yes", "what is acknowledged is in memory alone"),
            "appendfsync": ("always", "a crash of the machine may lose what was acknowledged last"),
            "maxmemory-policy": ("noeviction", "the server may throw entries away"),
        }
        found: list[str] = []
        with self._server.asking() as client:
            for name, (value, problem) in wanted.items():
                try:
                    is_now = client.config_get(name).get(name)
                except redis.ResponseError:
                    found.append(f"the server does not tell {name}; it should be {value}")
                else:
                    if is_now != value:
                        found.append(f"the server runs with {name} {is_now}: {problem}")
        return found

    leftovers = "what the append-only file holds until it is rewritten, and copies of it"

    def close(self) -> None:
        """Close the connections; the next use opens them again."""
        self._server.close()

    def _name(self, key: str) -> bytes:
        return self._server.key(_ENTRY, key)

    def _values(self, rows: Sequence[bytes | None]) -> list[bytes | None]:
        now = self._clock()
        return [None if row is None else _value(row, now) for row in rows]

    def _write(self, values: Mapping[str, bytes], ends: float | None = None) -> None:
        named = {self._name(key): value for key, value in values.items()}
        with self._server.asking() as client:
            if ends is not None:
                left = max(1, round((ends - self._clock()) * 1_000))  # milliseconds
                for name, value in named.items():
                    client.set(name, b"\1" + _END.pack(ends) + value, px=left)
            elif named:
                client.mset({name: b"\0" + value for name, value in named.items()})


def _value(row: bytes, now: float) -> bytes | None:
    """The value after its mark: 0, or 1 and the time of its expiry; None if it has expired."""
    if row[0] == 0:
        return row[1:]
    ends: float = _END.unpack_from(row, 1)[0]
    return row[1 + _END.size :] if ends > now else None


_REDIS: Any = redis.Redis
"""Without its types, in which each answer might be awaitable."""


@dataclass(repr=False)
class Connections:
    """Connections to one database, opened at the first use."""

    url: str
    prefix: bytes

    @cached_property
    def client(self) -> Any:
        """The client, whose pool serves many threads, and is renewed after a fork."""
        try:
            with _REDIS.from_url(self.url, retry=Retry(NoBackoff(), 0)) as first:
                first.ping()  # raises configuration errors at once
        except ValueError as fault:
            raise unusable(str(fault), f"look at {shown(self.url)}") from fault
        return _REDIS.from_url(
            self.url,
            retry=Retry(ExponentialBackoff(cap=_LONGEST_PAUSE, base=0.05), _TRIES),
            retry_on_error=[redis.ConnectionError, redis.TimeoutError, redis.BusyLoadingError],
            socket_timeout=10,
            socket_connect_timeout=10,
            health_check_interval=0,
        )

    @contextmanager
    def asking(self) -> Generator[Any]:
        """The client. Raises StoreError if the server refuses, or cannot be reached."""
        try:
            yield self.client
        except redis.RedisError as fault:
            problem = str(fault).split("\n")[0] or type(fault).__name__
            raise StoreError(f"redis store {shown(self.url)}: {problem}") from fault

    def key(self, part: bytes, name: str) -> bytes:
        """The key of one part of the entry or log with this name."""
        return self.prefix + part + to_bytes(name)

    def names(self, part: bytes, prefix: str) -> list[str]:
        """The names with the prefix of everything that has this part, in order."""
        plain = _PATTERN.sub(rb"\\\g<0>", self.key(part, prefix))
        with self.asking() as client:
            found = set(client.scan_iter(match=plain + b"*", count=1_000))
        stem = len(self.prefix + part)
        return [to_text("", name[stem:]) for name in sorted(found)]

    def close(self) -> None:
        """Close the connections."""
        if "client" in self.__dict__:
            self.client.close()
