"""A thread that is open: its parts, which take turns, and how its messages are named."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from holdfast.kernel.errors import NotFoundError
from holdfast.kernel.ports import KeyValueStore
from holdfast.stores.protocols import Closes

from . import arguments
from .arguments import Which
from .exclusive import Exclusive
from .forming import Forming
from .knowing import Knowing
from .likeness import Likeness
from .meaning import Meaning
from .options import Options
from .parts import Desk
from .past import Past
from .settling import settled
from .tending import Tending
from .thread import Thread
from .upkeep import Upkeep


class OpenThread:
    """What the methods of a session work with."""

    def __init__(
        self,
        thread: str,
        store: KeyValueStore,
        options: Options,
        clock: Callable[[], float],
        form: str | None,
        *,
        owns: bool,
    ) -> None:
        self._options, self._clock, self._format, self._owns = options, clock, form, owns
        self._begin(thread, store)

    def close(self) -> None:
        """Keep the state for a quick opening, and let go of a store that was opened here.

        What a model has not answered yet is left; nothing is half written.
        """
        with self._turn:
            self._upkeep.close()
            self._thread.save()
            if self._owns and isinstance(self._thread.store, Closes):
                settled(self._thread.store.close())

    def _begin(self, thread: str, store: KeyValueStore) -> None:
        self._turn = Exclusive(partial(self._open, thread, store))
        self._open(thread, store)

    def _open(self, thread: str, store: KeyValueStore) -> None:
        """Make all that is in memory of what the store has."""
        options = self._options
        clock = arguments.clock(self._clock)
        self._thread = Thread(arguments.thread(thread), store, clock, options.meter, self._format)
        vectors = Meaning.of(self._thread, wanted=options.vectors)
        self._past = Past(self._thread, vectors, redacts=options.redacts)
        self._desk = Desk()
        self._knowing = Knowing(self._thread, redacts=options.redacts)
        likeness = Likeness(options.lineup, options.redacts)
        self._tending = Tending(self._thread, options.tiers, options.condenser, likeness)
        asking = options.asking
        forming = None if asking is None else Forming(asking, options.lineup, options.redacts)
        self._upkeep = Upkeep(self._turn, self._tending, likeness, forming, background=options.background)

    def _known(self, which: Which) -> int:
        """The position of a message. Raises NotFoundError if there is none, or it is deleted."""
        self._thread.refresh()
        position = self._position(which)
        if position is None or position not in self._thread.read([position]):
            raise self._absent(which, position)
        return position

    def _absent(self, which: Which, position: int | None) -> NotFoundError:
        gone = ", where it was deleted; undo brings it back" if position in self._thread.state.deleted else ""
        return NotFoundError(str(which), where=f"thread {self._thread.name!r}{gone}")

    def _position(self, which: Which) -> int | None:
        named = arguments.which(which)
        if isinstance(named, str):
            return self._thread.positions([named]).get(named)
        return named if named >= 0 else named + self._thread.state.messages
