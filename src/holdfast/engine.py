"""How a compression runs: prepare, ask for a plan, apply and measure it, return the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from holdfast.calls.lineup import Lineup
from holdfast.compressors.pipeline import Pipeline, Stepwise, apply_steps
from holdfast.compressors.summaries import Marks
from holdfast.formats import read
from holdfast.formats.payloads import ROLES, is_object, model_of, objects_in, what_is
from holdfast.kernel.budget import Allowance, Budget, BudgetLike, Meter, is_whole, thresholds
from holdfast.kernel.compressor import Attempt, Compressor, Plan, Status, described, run_batch
from holdfast.kernel.errors import ConfigError, InputError, LockedError, StrategyError
from holdfast.kernel.ports import Secret
from holdfast.kernel.registry import similar
from holdfast.kernel.transcript import Continuing, Format, Transcript, unchanged
from holdfast.kernel.typed import as_config_errors, attributes
from holdfast.options import Options, Pin, check, chosen, costs_of, meter_of
from holdfast.providers import open_model
from holdfast.redact import Redaction, left, mask_transcript
from holdfast.result import (
    INVALID,
    CompressionMetrics,
    CompressionResult,
    Conversation,
    M,
    Net,
    Step,
    TokenUsage,
    bare,
    contained,
    too_large,
)
from holdfast.runtime import Rounds, Runtime
from holdfast.stores import open_store
from holdfast.telemetry import traced
from holdfast.text.keyed import of_thread
from holdfast.tokens import window_of

if TYPE_CHECKING:
    from holdfast.cost import Costs

_FITS = "within_budget"
_MODELS = ("llm", "embedder", "cache", "limits")
"""The options of models and embedders."""
RECALL_TOOL = "recall"
"""The name of the tool that returns originals to a model."""

Progress = Callable[[int, int], object]
"""Called with the number of finished conversations and the number of all."""


def fit(
    messages: M, budget: BudgetLike, options: Options, known: Transcript | None = None
) -> Rounds[CompressionResult[M]]:
    """Fit one conversation: a generator that yields requests and returns the result.

    ``known`` has the messages as read by a caller that keeps each of them, so that they are not
    read again and no history has to be stored.
    """
    with traced("compress_messages") as results:
        job = prepare(messages, budget, options, known)
        plan = job.idle
        if plan is None:
            ((job, plan),) = yield from _planned([job])
        results.append(finish(job, plan))
    return deliver(job, plan, results[0])


def fit_many(
    conversations: Iterable[M], budget: BudgetLike, options: Options, progress: Progress | None
) -> Rounds[list[CompressionResult[M]]]:
    """Fit many conversations in lockstep; the error of one is in its own result.

    Raises ConfigError if one conversation was passed instead of several.
    """
    given = cast("object", conversations)
    if any("role" in each for each in objects_in(given)):
        raise ConfigError(
            "these are the messages of one conversation",
            place="conversations",
            advice="give a list of conversations, each a list of messages, or use compress",
        )
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ConfigError(
            f"{what_is(conversations)} is not a list of conversations",
            place="conversations",
            advice="give a list of conversations, each as compress takes it",
        )
    check(options)
    chosen(options)
    stated = Budget.of(budget)
    llm = options.get("llm")
    if llm is not None:
        options = {**options, "llm": open_model(llm)}
    with traced("compress_many") as results:
        prepared = [_prepared(messages, stated, options) for messages in conversations]
        working = [job for job in prepared if isinstance(job, Job) and not job.idle]
        if working:
            caller = working[0].runtime.calls()
            for job in working:
                job.runtime.caller, job.runtime.ledger.until = caller, inf
        planned = yield from _planned(working, len(prepared), progress)
        done = starmap(finish, planned)
        for each in prepared:
            if isinstance(each, CompressionResult):
                results.append(each)
            else:
                results.append(finish(each, each.idle) if each.idle else next(done))
    return results


def _planned(
    jobs: Sequence[Job], total: int = 1, progress: Progress | None = None
) -> Rounds[list[tuple[Job, Plan]]]:
    """Each job with the secret of its store, and its plan; yields their requests in rounds.

    The secret recognises notes and references.
    """
    secrets = yield [(job.runtime, Secret()) for job in jobs]
    for secret in secrets:
        if isinstance(secret, LockedError):  # any other failure of a store costs only what it kept
            raise secret
    jobs = [job.unlocked(secret) for job, secret in zip(jobs, secrets, strict=True)]
    rounds = run_batch([Attempt(job.compressor, job.start, job.allowance) for job in jobs])

    def report(done: int) -> None:
        if progress:
            with as_config_errors("progress"):
                progress(done, total)

    try:
        asked = next(rounds)
        while True:
            report(total - len(asked))
            asked = rounds.send((yield [(jobs[i].runtime, request) for i, request in asked]))
    except StopIteration as ended:
        report(total)
        return list(zip(jobs, cast("list[Plan]", ended.value), strict=True))
    finally:
        rounds.close()


def _prepared(messages: Any, budget: Budget, options: Options) -> Job | CompressionResult:
    """The job of one conversation, or the result that says why it cannot be read.

    Raises ConfigError for options that are wrong for every conversation.
    """
    try:
        return prepare(messages, budget, options)
    except InputError as fault:
        if isinstance(fault, ConfigError) and not is_of_one(fault, options):
            raise
        return CompressionResult(
            messages=messages,
            metrics=CompressionMetrics(0, 0, 0, 0),
            spent=TokenUsage(0, 0),
            strategy_name="",
            format="",
            status="failed",
            reason=INVALID,
            detail=str(fault),
        )


def is_of_one(fault: ConfigError, options: Options) -> bool:
    """Whether one of many conversations is wrong: a pin, or the model that its body names."""
    return fault.place == "pin" or (fault.place == "model" and not options.get("model"))


class Job(NamedTuple):
    """A compression that is ready to run: options checked, messages read and counted."""

    payload: Any
    """The messages as they are held: in a list, a request body or a Conversation."""
    key: str
    """The field of a request body that holds them; empty for a list."""
    format: Format
    transcript: Transcript
    tokens: int
    allowance: Allowance
    compressor: Compressor
    runtime: Runtime
    budget: Budget
    """As stated, with the headroom of the profile."""
    raises: bool
    redaction: Redaction | None = None
    """The transcript with its secrets masked, and what masks those of what is removed."""
    costs: Costs | None = None
    idle: Plan | None = None
    """The plan that says why no strategy is asked, if none is."""

    @property
    def start(self) -> Transcript:
        """The transcript that the strategies read."""
        return self.redaction.transcript if self.redaction else self.transcript

    def unlocked(self, secret: object) -> Job:
        """The job with its secret set, own notes recognised, and secrets masked if wanted."""
        marks = self.runtime.marks
        marks.secret = ""
        if isinstance(secret, str) and secret:
            marks.secret = of_thread(secret, self.allowance.thread)
        transcript = marks.admit(self.transcript)
        if not self.allowance.redacts:
            return self._replace(transcript=transcript)
        redaction = mask_transcript(transcript)
        if self.allowance.meter.total(redaction.transcript) > self.tokens:
            redaction = mask_transcript(transcript, brief=True)
        return self._replace(transcript=transcript, redaction=redaction)


def prepare(
    messages: Any, budget: BudgetLike, options: Options, known: Transcript | None = None
) -> Job:
    """Check the options, read and count the messages, and choose the strategy.

    Raises InputError for wrong input.
    """
    check(options)
    stated = Budget.of(budget)
    step = options.get("step")
    if step is not None:
        stated = replace(stated, step=step)
    model = options.get("model") or model_of(bare(messages))
    compressor, profile = chosen(options)
    meter = meter_of(options, profile, model)
    if profile.headroom and not stated.headroom:
        stated = replace(stated, headroom=profile.headroom)
    allowed = _allowed(stated, model)
    trigger, target = thresholds(stated, allowed, profile.trigger)
    if known is None:
        payload, form, transcript = read(
            bare(messages), options.get("format"), options.get("tools")
        )
    else:
        payload, form, transcript = messages, cast("Format", known.wire), known
    marks = Marks(options.get("secret") or "")
    pinned = _pinned(transcript, options.get("pin"))
    transcript = replace(transcript, pinned=pinned, prefers=profile.prefers, seal=marks)
    tokens = meter.total(transcript)
    costs = costs_of(options, profile, model) if known is None else None
    idle: Plan | None = None
    if isinstance(form, Continuing) and (field := form.continues(payload)):
        told = f"{field} continues messages that are not here: the request is not changed"
        idle = Plan.skip("goes_on_elsewhere", told)
    elif tokens <= trigger:
        masked = ", so no secret is masked" if profile.redact else ""
        idle = Plan.skip(_FITS, f"the conversation fits and is not changed{masked}")
    elif costs and tokens <= allowed and (waits := _waits(costs, transcript, meter, target)):
        idle = Plan.skip("cheaper_to_wait", waits)
    lineup = lineup_of(options, meter, opens=tokens > trigger)
    share = step if step is not None else stated.step or profile.step
    store = options.get("store")
    if isinstance(store, str) or (store is not None and known is None):  # a session's is open
        store = open_store(store)
    talk = messages if isinstance(messages, Conversation) else None
    return Job(
        payload=talk.holding(payload) if talk else payload,
        key=form.key(payload),
        format=form,
        transcript=transcript,
        tokens=tokens,
        allowance=Allowance(
            limit=allowed,
            target=target,
            window=allowed,
            meter=meter,
            query=options.get("query"),
            stored=store is not None,
            recall_tool=_recall_tool(transcript),
            thread=options.get("thread") or (talk.thread_id if talk else ""),
            writer=lineup.writer,
            writer_window=lineup.writer_window,
            redacts=profile.redact,
            logged=known is not None,
        ),
        compressor=Stepwise(compressor, share) if share else compressor,
        runtime=Runtime(lineup, store, redacts=profile.redact, marks=marks),
        budget=stated,
        raises=options.get("on_failure") == "raise",
        costs=costs,
        idle=idle,
    )


def lineup_of(options: Options, meter: Meter, *, opens: bool = True) -> Lineup:
    """The models of the options; a vendor's package is imported only if one ``opens`` them."""
    if all(options.get(name) is None for name in _MODELS):
        return Lineup(meter.text)
    return Lineup.of(
        meter.text,
        options.get("llm"),
        options.get("embedder"),
        cache=options.get("cache"),
        limits=options.get("limits"),
        opens=opens,
    )


def _waits(costs: Costs, transcript: Transcript, meter: Meter, target: int) -> str:
    """Why it is cheaper not to compress now; empty if compressing pays.

    Assumes that the result is as large as the target and shares only the system messages with what
    the prompt cache holds.
    """
    roles = [message.role for message in transcript.messages]
    stays = next((i for i, role in enumerate(roles) if role != "system"), len(roles))
    net = _gain(costs, transcript, meter, target, stays)
    if net.over(costs.calls) > 0:
        return ""
    pays = f"only with call {net.calls:,.0f}" if net.calls < inf else "never"
    return f"it fits, and compacting now would pay {pays}, of {costs.calls:,} that are expected"


def _gain(
    costs: Costs, before: Transcript, meter: Meter, after: int, stays: int, spent: float = 0.0
) -> Net:
    """What a compression to ``after`` tokens gains that leaves the first ``stays`` messages."""
    sizes = meter.sizes(before)
    return costs.net(
        meter.total(before),
        after,
        shared=sum(sizes[:stays]) + meter.overhead(before.envelope),
        newest=sum(sizes[i] for i in before.newest),
        spent=spent,
    )


def _recall_tool(transcript: Transcript) -> str:
    """The name of the recall tool if the request offers it to the model, else an empty text.

    Tools are beside the messages, or inside a system message.
    """
    named = f'"name":"{RECALL_TOOL}"'
    among = (m.parts for m in transcript.messages if m.role == "system" and not m.is_speech)
    told = any(named in part.text for parts in (transcript.envelope, *among) for part in parts)
    return RECALL_TOOL if told else ""


def _allowed(budget: Budget, model: str | None) -> int:
    """The limit in tokens."""
    window = window_of(model)
    if model and window is None and budget.limit is None and budget.window is None:
        raise ConfigError(
            f"the window of {model!r} is not known",
            place="model",
            advice="check the name, or give a budget",
        )
    return budget.tokens(window)


def _pinned(transcript: Transcript, pin: Pin) -> frozenset[int]:
    """The pinned positions, from indices (negative from the end) or a function."""
    if pin is None:
        return transcript.pinned
    if callable(pin):
        with as_config_errors("pin"):
            return transcript.pinned.union(
                i for i, m in enumerate(transcript.messages) if pin(m.original)
            )
    length, given = len(transcript), positions(pin)
    for i in given:
        if not -length <= i < length:
            there = "is 1 message" if length == 1 else f"are {length} messages"
            raise ConfigError(
                f"there is no message {i}", place="pin", advice=f"there {there}, counted from 0"
            )
    return transcript.pinned.union(i % length for i in given)


def positions(pin: object) -> list[int]:
    """The positions as a list. Raises ConfigError for anything else."""
    given = list(cast("Iterable[object]", pin)) if isinstance(pin, Iterable) else [None]
    if not all(map(is_whole, given)):
        raise ConfigError(
            f"{pin!r:.40} is not a list of positions",
            place="pin",
            advice="give a list of positions, or a function that returns True for messages to keep",
        )
    return cast("list[int]", given)


def finish(job: Job, plan: Plan) -> CompressionResult:
    """Apply the steps of a plan, measure each, and make the result."""
    meter, redaction = job.allowance.meter, job.redaction
    steps, now = measured(job.transcript, meter, _changes(job, plan))
    tokens = steps[-1].after if steps else job.tokens
    met = tokens <= job.allowance.limit
    status, reason = _verdict(job, steps, met=met)
    known = (inner.smallest for _, inner in plan.leaves(job.compressor.name))
    least = min(filter(None, known), default=tokens)
    usage, net = job.runtime.usage(), None
    if job.costs is not None and usage.cost is not None:
        stays = unchanged(job.transcript, now)
        net = _gain(job.costs, job.transcript, meter, tokens, stays, usage.cost)
    return CompressionResult(
        messages=wrapped(job.payload, job.key, now),
        metrics=CompressionMetrics(job.tokens, tokens, len(job.transcript), len(now)),
        spent=TokenUsage(tokens, job.allowance.limit),
        strategy_name=job.compressor.name,
        format=job.format.name,
        steps=steps,
        status=status,
        reason=reason,
        detail=_detail(
            job, steps, tokens, left(now) if redaction else "", met=met, fewer=least < tokens
        ),
        degraded=job.runtime.trouble is not None or any(step.status == "failed" for step in steps),
        smallest=None if met else job.budget.limit_for(min(least, tokens)),
        accuracy=meter.accuracy(job.transcript),
        counter=meter.counter.name,
        strategy=described(job.compressor),
        key=job.key,
        masked=tuple(sorted(redaction.positions)) if redaction else (),
        redacted=dict(sorted(redaction.counts.items())) if redaction else {},
        model_usage=usage,
        net=net,
    )


Change = tuple[str, Plan, Mapping[int, object], Transcript]
"""A step's name and plan, the originals that it removed, and the transcript after it."""


def _changes(job: Job, plan: Plan) -> Iterator[Change]:
    """What each step did, the masking of secrets first."""
    if plan is job.idle:
        given = job.compressor
        inner = given.strategy if isinstance(given, Stepwise) else given
        for step in inner.steps if isinstance(inner, Pipeline) else (inner,):
            yield step.name, plan, {}, job.transcript
        return
    redaction = job.redaction
    if redaction and redaction.edits:
        masked = Plan(redaction.edits, reason="redacted", detail=redaction.detail)
        yield "redact", masked, redaction.taken, redaction.transcript
    for name, leaf, applied in apply_steps(job.start, job.compressor.name, plan):
        taken = redaction.removed(applied) if redaction else applied.taken
        yield name, leaf, taken, applied.transcript


def measured(
    now: Transcript, meter: Meter, changes: Iterable[Change]
) -> tuple[tuple[Step, ...], Transcript]:
    """The steps that made these changes, with their sizes, and the transcript after them."""
    steps: list[Step] = []
    size = meter.total(now)
    messages: tuple[object, ...] | None = None
    for name, plan, taken, after in changes:
        if messages is None or after is not now:  # else nothing changed: share the tuple
            messages = tuple([message.original for message in after.messages])
        before, now, size = size, after, meter.total(after)
        told = attributes(plan, "status reason detail edits")
        steps.append(Step(name, before, size, **told, taken=taken, messages=messages))
    return tuple(steps), now


def deliver(job: Job, plan: Plan, result: CompressionResult) -> CompressionResult:
    """The result, or the error that the caller asked for instead."""
    if job.raises:
        for name, inner in plan.leaves(job.compressor.name):
            if inner.fault is not None:
                raise StrategyError(name, inner.detail) from inner.fault
    if job.budget.hard and result.smallest is not None:
        raise too_large(result)
    return result


def _verdict(job: Job, steps: tuple[Step, ...], *, met: bool) -> tuple[Status, str]:
    """The status and its reason: the first fault if nothing was done, else the outcome."""
    if job.idle:
        return "skipped", job.idle.reason
    if any(step.applied for step in steps):
        return "compacted", "compacted" if met else "budget_not_met"
    for step in steps:
        if step.status == "failed":
            return "failed", step.reason
    return "skipped", steps[0].reason if len(steps) == 1 else "nothing_may_go"


def _detail(
    job: Job, steps: tuple[Step, ...], tokens: int, secrets: str, *, met: bool, fewer: bool
) -> str:
    """What a person should know about the result, in sentences.

    It tells of failed steps, an unmet budget, secrets that are left, and unknown roles. ``fewer``:
    a larger budget than the missed one would leave fewer than ``tokens``.
    """
    if job.idle and job.idle.reason != _FITS:
        return job.idle.detail
    told = [f"{step.name} failed: {step.detail}" for step in steps if step.status == "failed"]
    if len(steps) == 1 and steps[0].reason != "nothing_may_go" and not (steps[0].applied or met):
        told = told or [steps[0].detail]
    trouble = str(job.runtime.trouble or "")
    if trouble and not any(trouble in each for each in told):
        told.append(trouble)
    if job.idle and job.allowance.redacts:
        told.append(job.idle.detail)
    if not met:
        words = ", with a few words of each text that may be cut"
        most = words if fewer else ", and no step removes more"
        told.append(f"{tokens:,} tokens remain{'' if told else most}")
    told.append(secrets)
    known = set(ROLES)
    for place, message in enumerate(job.transcript.messages):
        if message.role != "user":
            continue
        said = message.original
        role = said.get("role") if is_object(said) else None
        if isinstance(role, str) and role not in known:
            known.add(role)  # told of the first message that has it
            near = similar(role, ROLES)
            hint = f" (did you mean {near!r}?)" if near else ""
            told.append(
                f"message {place} has the role {role!r}, which no provider knows{hint}: it is read "
                "as a user's"
            )
    return "; ".join(filter(None, told))


def wrapped(payload: Any, key: str, now: Transcript) -> Any:
    """The messages in the container of the input: a list, a tuple or a request body."""
    return contained(payload, key, [message.original for message in now.messages])
