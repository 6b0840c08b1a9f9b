"""Fits request bodies, for the transport, the proxy and other integrations.

Engine and options are those of ``compress``. If fitting fails, the request is sent unchanged and
the failure is reported; if secrets are to be masked, the request is refused.

The views that were sent stay at the start of what is sent next, so that views grow. Of
conversations only hashes are kept, and the messages that Holdfast wrote.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple, Unpack

import msgspec

from holdfast.agent import smaller_budget
from holdfast.api import TokenBreakdown, compress, count
from holdfast.formats import named
from holdfast.formats.payloads import Object, is_list, is_object
from holdfast.kernel.budget import MOST, Budget
from holdfast.kernel.errors import ContextOverflowError, HoldfastError, problem_of
from holdfast.kernel.messages import Viewing
from holdfast.kernel.transcript import Format
from holdfast.options import Options, check, chosen, lists_options
from holdfast.providers.vendor import refusal
from holdfast.result import CompressionResult
from holdfast.telemetry import log
from holdfast.tokens import window_of

from .requests import (
    Budgets,
    Endpoint,
    Size,
    answer_of,
    endpoint_of,
    model_of_text,
    named_in_body,
    plain,
    read_object,
    thread_of,
    written,
)

_ELSEWHERE = frozenset({"conversation", "previous_response_id"})
"""Fields of a body that continue messages which only the provider has."""

_INSIDE = ("generateContentRequest", "generate_content_request")
"""Fields in which Gemini's ``countTokens`` takes a whole request."""


class RequestRefusedError(HoldfastError):
    """The request was not sent: it could not be fitted, and its secrets must be masked."""


class Given(NamedTuple):
    """A request as it came: where to, its body, the content coding of that, and its origin.

    ``aside``: later requests do not continue this one.
    """

    endpoint: Endpoint
    raw: bytes
    encoding: str = ""
    thread: str = ""
    owner: str = ""
    aside: bool = False


@dataclass(frozen=True)
class Fitted:
    """A fitted body; ``before`` and ``after`` are its tokens, 0 if they were not counted.

    ``body`` is the same object unless it was ``changed``. ``note`` says why it was not fitted, or
    what failed (``fault``). ``grown``: it is the earlier view with the new messages added.
    ``asked`` is the request that was fitted.
    """

    body: bytes
    model: str = ""
    thread: str = ""
    changed: bool = False
    before: int = 0
    after: int = 0
    grown: bool = False
    result: CompressionResult | None = None
    note: str = ""
    fault: bool = False
    asked: Given | None = None


class _Request(NamedTuple):
    """A conversation read from a body; ``note`` says why it is not fitted, or is empty."""

    body: Object
    form: Format
    model: str
    budget: Budget
    options: Options
    asked: Given
    note: str = ""

    @property
    def tokens(self) -> TokenBreakdown:
        """Its messages and what is beside them, counted."""
        model, counter = self.options.get("model"), self.options.get("counter")
        return count(self.body, model=model, format=self.form, counter=counter)


# seconds for which a limit that a refusal stated holds: the client may be given a larger window, or
# else one more request is refused and fitted again
_TRUSTED = 3600


class _Learned(NamedTuple):
    """What a refusal tells of a model's limit, if it states the figures."""

    answer: int
    """The tokens of the answer that was asked for; for less room there is more beside it."""
    accepted: int
    """The tokens that the model accepts beside it."""
    until: float
    """When it ends, by the monotonic clock."""


class Fitter:
    """Fits request bodies; one instance serves any number of conversations and threads.

    ``reads``: also decode bodies that are short enough to fit, so that later requests are
    recognised.
    """

    def __init__(self, budgets: Budgets, options: Options, *, reads: bool = False) -> None:
        check(options)
        self._reads = reads
        self.redacts = chosen(options)[1].redact
        self.budgets, self.views = budgets, Views()
        self.options: Options = {"on_failure": "fit", **options}
        self._learned: dict[tuple[str, str], _Learned] = {}
        """What refusals told a client of a model's limit."""

    def endpoint(self, path: str) -> Endpoint | None:
        """The endpoint of a path, if the bodies of its requests are looked at.

        What counts or compacts is sent as it is, unless secrets are masked.
        """
        found = endpoint_of(path)
        return None if found is None or (found.asks and not self.redacts) else found

    def fit(
        self,
        path: str,
        raw: bytes,
        encoding: str = "",
        *,
        thread: str = "",
        owner: str = "",
        aside: bool = False,
    ) -> Fitted:
        """Return the body to send to this path; ``encoding`` is its content coding.

        ``thread`` is the name of the conversation, if it is known; ``owner`` identifies the client:
        conversations of different owners are kept apart. ``aside``: later requests do not continue
        this one. Raises RequestRefusedError if secrets are to be masked and cannot be.
        """
        endpoint = self.endpoint(path)
        if endpoint is None or not raw:
            return Fitted(raw, note="no conversation")
        asked = Given(endpoint, raw, encoding, thread, owner, aside)
        try:
            return self.at_once(asked) or self._fitted(self._request(asked))
        except Exception as fault:  # noqa: BLE001 - fail open: whatever it is, the request goes on
            return self._failed(asked, fault)

    def fit_body(self, body: Object, endpoint: Endpoint, *, thread: str = "") -> Object:
        """Like ``fit``, for a decoded body; returns the same object if nothing changes.

        Unchanged messages are the same objects. A body that cannot be fitted is handled as in
        ``fit``.
        """
        asked = Given(endpoint, b"", thread=thread)
        try:
            view, fitted = self._view(self._read(body, asked))
        except Exception as fault:  # noqa: BLE001 - as in ``fit``
            self._failed(asked, fault)
            return body
        return view if fitted.changed else body

    def at_once(self, asked: Given) -> Fitted | None:
        """The body unchanged, if it surely fits; None if it must be decoded."""
        if asked.encoding or self._reads or self.redacts or self.options.get("counter"):
            return None
        model = model_of_text(asked.raw)
        if model is None:
            return None
        model = self.options.get("model") or asked.endpoint.model or model
        budget = self._budget(asked.owner, model, {"max_tokens": MOST})
        # no text has more tokens than bytes
        if budget is None or budget.trigger is not None or len(asked.raw) > budget.tokens(MOST):
            return None
        return Fitted(asked.raw, model, note="within the budget", asked=asked)

    def fit_harder(self, fitted: Fitted, status: int, refused: str) -> Fitted | None:
        """Fit the request again, smaller than the body that was refused for its length.

        None for any other refusal, and if it cannot become smaller.
        """
        fault, asked = refusal("the provider", status, refused, {}), fitted.asked
        if not isinstance(fault, ContextOverflowError) or asked is None:
            return None
        try:
            request = self._request(asked)
            if asked.endpoint.asks or any(map(request.body.get, _ELSEWHERE)):
                return None  # what was too long is not in this request, or must stay as it is
            sent, answer = fitted.after or request.tokens.total, answer_of(request.body)
            smaller = smaller_budget(fault, sent, request.budget.limit, answer)
            # the model is not sent as many again; figures of other things teach no limit
            if fault.limit and (fault.size or 0) > fault.limit:
                if len(self._learned) >= REMEMBERED:
                    self._learned.pop(next(iter(self._learned)), None)
                learned = _Learned(answer, smaller.tokens(MOST), monotonic() + _TRUSTED)
                self._learned[asked.owner, request.model] = learned
            found = self._fitted(request._replace(budget=smaller, note=""))
        except Exception as broken:  # noqa: BLE001 - as above
            return self._failed(asked, broken) if self.redacts else None
        return found if found.changed and found.after < sent else None

    def _failed(self, asked: Given, fault: Exception) -> Fitted:
        told = problem_of(fault)
        if isinstance(fault, HoldfastError):
            told = " ".join(f"{fault}".split())
        if self.redacts:
            raise RequestRefusedError(
                f"the request was not sent, for its secrets cannot be masked: {told}"
            ) from fault
        log.warning("a request was sent as it was: %s", told)
        return Fitted(asked.raw, note=told, fault=True, asked=asked)

    def _fitted(self, request: _Request) -> Fitted:
        body, fitted = self._view(request)
        return replace(fitted, body=written(body)) if fitted.changed else fitted

    def _request(self, asked: Given) -> _Request:
        return self._read(read_object(plain(asked.raw, asked.encoding)), asked)

    def _read(self, body: Object, asked: Given) -> _Request:
        """The request of a body."""
        endpoint = asked.endpoint
        model = self.options.get("model") or endpoint.model or str(body.get("model") or "")
        budget = self._budget(asked.owner, model, body)
        note = ""
        if endpoint.asks:
            note = "it asks about the conversation as it is"
        elif body.get("previous_response_id"):
            note = "the provider keeps this conversation"
        elif budget is None:
            note = f"the window of {model!r:.60} is not known, and no budget is given"
        form = named(endpoint.format)
        options: Options = {**self.options, "model": model or None, "format": form}
        budget = budget or Budget(limit=MOST)
        return _Request(body, form, model, budget, options, asked, note)

    def _masked(self, request: _Request, fitted: Fitted) -> tuple[Object, Fitted]:
        """The request as it is, but for its secrets, if these are to be masked."""
        for name in _INSIDE:
            inside: object = request.body.get(name)
            if is_object(inside):
                masked, fitted = self._masked(request._replace(body=inside), fitted)
                request = request._replace(body={**request.body, name: masked})
        body = {name: each for name, each in request.body.items() if name not in _ELSEWHERE}
        said: object = body.get(request.form.key(body)) if self.redacts else None
        if said is None or isinstance(said, str):
            return request.body, fitted
        # without a step, only secrets are masked
        masking: Options = {**request.options, "strategy": [], "redact": True}
        masking.pop("profile", None)
        found = compress(body, Budget(limit=MOST, trigger=0), **masking)
        if not found.redacted:
            return request.body, fitted
        return {**request.body, **found.messages}, replace(fitted, changed=True, result=found)

    def _view(self, request: _Request) -> tuple[Object, Fitted]:
        """The body to send, the same object if nothing changes, and what was done to it."""
        asked, form = request.asked, request.form
        field = form.key(request.body)
        messages: object = request.body.get(field)
        fitted = Fitted(asked.raw, request.model, note=request.note, asked=asked)
        if request.note:
            return self._masked(request, fitted)
        if not is_list(messages) or not messages:
            return self._masked(request, replace(fitted, note="no messages"))
        views = list(map(form.view, messages)) if isinstance(form, Viewing) else messages
        said = asked.thread or named_in_body(request.body)
        # originals that a view names belong to its thread
        of = f"{asked.owner}\0{asked.endpoint.format}\0{said}"
        chain = chain_of(views, of.encode("utf-8", "surrogatepass"))
        sent = self.views.found(chain, request.model)
        if said:
            name = thread_of(asked.owner, said)
        else:
            users = (
                i for i, each in enumerate(views) if is_object(each) and each.get("role") == "user"
            )
            # everything up to the first user message identifies the conversation
            name = sent.thread if sent else self.views.thread(chain, next(users, 0))
        request = request._replace(options={**request.options, "thread": name})
        result, unsent = None, 0
        if sent is not None:  # the view before, with the new messages added
            longer: Object = {**request.body, field: grown(sent, messages)}
            found = compress(longer, request.budget, **request.options)
            if found.reason == "within_budget":
                result, unsent = found, sent.before - sent.after
        again = result is not None
        result = result or compress(request.body, self._roomy(request), **request.options)
        before, after = result.metrics.tokens_before + unsent, result.metrics.tokens_after
        changed = again or result.status == "compacted"
        if changed and not asked.aside:
            view = positions(result.messages[field], messages)
            now = Sent(len(messages), view, name, before, after)
            self.views.keep(chain, request.model, now, sent.length if sent else 0)
        fitted = replace(
            fitted,
            thread=name,
            changed=changed,
            before=before,
            after=after,
            grown=again,
            result=result,
        )
        body = result.messages
        if result.status != "compacted":
            body, fitted = self._masked(request._replace(body=body), fitted)
        return body, fitted if fitted.changed else replace(fitted, note="within the budget")

    def _budget(self, owner: str, model: str, body: Object) -> Budget | None:
        budget = self.budgets.of(model, body)
        learned = self._learned.get((owner, model))
        if learned is None or learned.until < monotonic() or answer_of(body) < learned.answer:
            return budget
        is_less = budget is None or learned.accepted < budget.tokens(learned.accepted)
        return Budget(limit=learned.accepted) if is_less else budget

    def _roomy(self, request: _Request) -> Budget:
        """The budget of a new view, with a target that leaves room to grow if it has none."""
        budget = request.budget
        if budget.target is not None or budget.trigger is not None:
            return budget
        counted = request.tokens
        fixed = sum(message.tokens for message in counted.messages if message.role == "system")
        fixed += counted.overhead  # what no view can change
        allowed = budget.tokens(window_of(request.model))
        if fixed >= allowed:
            return budget
        return replace(budget, target=fixed + int((allowed - fixed) * self.budgets.target))


REMEMBERED = 2_000  # conversations that are remembered, about 20 MB
_MARKER = "cache_control"
"""The field with which clients mark blocks for Anthropic's cache. It moves with every request and
is ignored.
"""


class Sent(NamedTuple):
    """A view that was sent: for each message its position, or the message itself if it is new.

    ``length`` is the number of messages of the whole conversation; ``before`` and ``after`` are
    tokens of the whole and of the view.
    """

    length: int
    view: tuple[int | Any, ...]
    thread: str
    before: int
    after: int


class Views:
    """The latest view of each conversation for each model.

    They are kept by the model and the hash of the messages from which they were made.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[bytes, str], Sent] = OrderedDict()
        self._lock = Lock()

    def found(self, chain: Sequence[bytes], model: str) -> Sent | None:
        """The latest view for this model whose messages begin this conversation."""
        with self._lock:
            for link in reversed(chain):
                sent = self._kept.get((link, model))
                if sent is not None:
                    self._kept.move_to_end((link, model))
                    return sent
        return None

    def thread(self, chain: Sequence[bytes], begins: int) -> str:
        """A name for a conversation that continues no known view for its model.

        It is the name that it has for other models, or the hash of its first messages, up to
        position ``begins``, or the hash of all messages if another active conversation begins
        alike.
        """
        name = chain[begins].hex()
        with self._lock:
            begun = {link: sent.thread for (link, _), sent in self._kept.items()}
        for link in reversed(chain):
            if link in begun:  # it was sent to another model
                return begun[link]
        return chain[-1].hex() if name in begun.values() else name

    def keep(self, chain: Sequence[bytes], model: str, sent: Sent, replaces: int = 0) -> None:
        """Remember a view that was sent. ``replaces`` is the length of the conversation before."""
        with self._lock:
            if replaces:
                self._kept.pop((chain[replaces - 1], model), None)
            self._kept[chain[-1], model] = sent
            while len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)


def chain_of(messages: Sequence[Any], seed: bytes) -> list[bytes]:
    """For each message, the hash of all messages up to it, without cache marks."""
    links: list[bytes] = []
    link = blake2b(seed, digest_size=16)
    for message in messages:
        said = _unmarked(message)
        try:
            link.update(msgspec.json.encode(said, enc_hook=repr))
        except UnicodeEncodeError:  # half of a character
            link.update(repr(said).encode())
        links.append(link.digest())
    return links


def _unmarked(value: Any) -> Any:
    """The message or block without cache marks on it and on its blocks."""
    if not is_object(value):
        return value
    plain = {name: each for name, each in value.items() if name != _MARKER}
    content: object = plain.get("content")
    if is_list(content):
        plain["content"] = list(map(_unmarked, content))
    return plain


def positions(view: Sequence[Any], messages: Sequence[Any]) -> tuple[int | Any, ...]:
    """For each message of the view, its position among the messages, or itself if it is new."""
    known = {id(message): i for i, message in enumerate(messages)}
    return tuple(known.get(id(message), _unmarked(message)) for message in view)


def grown(sent: Sent, messages: Sequence[Any]) -> list[Any]:
    """The earlier view followed by all newer messages."""
    return [
        *(messages[each] if type(each) is int else each for each in sent.view),
        *messages[sent.length :],
    ]


class FitsCalls:
    """Gives an integration, which is a subclass, its ``fitter``.

    The budget is one of ``holdfast.http.client``: tokens, a share of the model's window, a Budget,
    or None for the window; ``budgets`` are budgets by model name. The options are those of
    ``compress``.
    """

    @lists_options
    def __init__(
        self,
        budget: Size = None,
        *,
        budgets: Mapping[str, Size] | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__()
        self.fitter = Fitter(Budgets(budget, budgets or {}), options)
