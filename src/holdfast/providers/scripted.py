"""A test double for models: prepared replies, and a record of the requests."""

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from threading import Event

from holdfast.kernel.errors import ModelError
from holdfast.kernel.forks import brief_lock
from holdfast.kernel.ports import Complete, Reply

Answer = str | Reply | Exception
"""A reply, or an exception to raise."""


class Scripted:
    """A model with prepared replies.

    ``replies`` is one text for every call, several in order (a further call raises ModelError), or
    a function of the prompt. ``calls`` are the requests so far. With a ``gate``, each call waits
    until the gate is set.
    """

    def __init__(
        self,
        replies: str | Iterable[Answer] | Callable[[str], Answer],
        *,
        name: str = "scripted",
        window: int = 0,
        gate: Event | None = None,
    ) -> None:
        self.name, self.window, self.gate = name, window, gate
        self.calls: list[Complete] = []
        self._lock = brief_lock()
        self._function = replies if callable(replies) else None
        listed = repeat(replies) if isinstance(replies, str) else replies
        self._left: Iterator[Answer] = iter(() if callable(listed) else listed)

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> str | Reply:
        """The next reply."""
        with self._lock:
            self.calls.append(Complete(prompt, system, max_tokens))
        if self.gate is not None:
            self.gate.wait()
        with self._lock:
            answer = self._function(prompt) if self._function else next(self._left, None)
        if answer is None:
            raise ModelError(f"the script of {self.name!r} has no reply left")
        if isinstance(answer, Exception):
            raise answer
        return answer


def always(reply: str) -> Scripted:
    """A model with one reply for every call: ``llm="scripted:the reply"``."""
    return Scripted(reply)
