"""Features that take part when an example is recorded: a conversation or a picture that led to it, files, a program.

A feature takes part where its name is among the `features` of the draft, and not a line of it runs elsewhere. Its
module has `before_record`, which checks what a draft says of it and puts what was done in its place, `recorded`, which
writes down that the draft became an example, or both.
"""

import hashlib
import importlib
import json
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy.orm import Session

from dynabench.collection import eligibility, queries
from dynabench.collection.chat.sending import Conversed
from dynabench.collection.draft_origin import check_origin, context_of, edit_distance
from dynabench.collection.drawing.service import Drawn
from dynabench.collection.queries import Place
from dynabench.collection.schemas import ExampleIn, ProgramIn
from dynabench.collection.tables import Example, ExampleSource
from dynabench.collection.writing_facts import DraftWriting, WritingIn
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.media import service as media
from dynabench.media.store import media_digests
from dynabench.onboarding import admission
from dynabench.onboarding.tables import OnboardingActivity
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import TaskRole
from dynabench.rounds import people, plan
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.tasks import TaskConfig
from dynabench.tasks.rules.base import EnsembleRule

if TYPE_CHECKING:
    from dynabench.collection.targets import TargetVerdict


MODULES = {
    "competition": "dynabench.communities.competitions.taking_part",
    "media": "dynabench.collection.media_uploads",
    "suggestion": "dynabench.collection.assisting.service",
    "assistant": "dynabench.collection.assisting.service",
    "conversation": "dynabench.collection.chat.sending",
    "drawing": "dynabench.collection.drawing.service",
    "program": "dynabench.collection.programs",
    "judge": "dynabench.collection.targets",
    "seed": "dynabench.collection.seeds",
    "near_duplicates": "dynabench.collection.near_duplicates",
}
"""Modules of features, in the order in which they take part."""
BEFORE = ("competition", "media", "suggestion", "conversation", "drawing")
AFTER = ("assistant", "conversation", "program", "media", "judge", "seed", "near_duplicates", "competition")


def features_of(config: TaskConfig, body: ExampleIn, handout: Any) -> frozenset[str]:
    """Return the features that take part in a draft on a handout; the latter is a row of `queries.DRAFT_HANDOUT`."""
    names = config.features
    if handout.arms:
        if not plan.asks_models(handout.arms, handout.handout_arm):
            names -= {"conversation"}
        if plan.offers_assistant(handout.arms, handout.handout_arm):
            names |= {"assistant"}
    present = {"suggestion": body.suggestion is not None, "program": body.program, "seed": handout.handout_seed_id}
    present["competition"] = handout.competition
    if any(present.values()):
        names |= {name for name, value in present.items() if value}
    return names


@cache
def _module(name: str) -> Any:
    return importlib.import_module(MODULES[name])


def before_record(
    features: Set[str], session: Session, person: Person, config: TaskConfig, body: ExampleIn, handout: Any
) -> tuple[ExampleIn, dict[str, Any]]:
    """Return the draft with what was done in the place of its number or digest, and members of a `Draft` about it.

    Raises `Invalid` for what was not done on this handout.
    """
    members: dict[str, Any] = {}
    for name in BEFORE if features else ():
        if name in features:
            body, more = _module(name).before_record(session, person, config, body, handout)
            members |= more
    return body, members


def recorded(session: Session, draft: "Draft", verdict: "TargetVerdict", example_id: int) -> dict[str, Any]:
    """Let the features of a draft write down that it became an example; returns members of its outcome."""
    members: dict[str, Any] = {}
    for name in AFTER if draft.features else ():
        if name in draft.features:
            members |= _module(name).recorded(session, draft, verdict, example_id) or {}
    return members


@dataclass(frozen=True)
class DraftHandout:
    """The handout that a draft was written on."""

    id: int
    start: str
    arm: str
    seed_id: int | None
    at: datetime
    place: Place


@dataclass(frozen=True)
class Draft:
    """A checked draft with all that asking and recording need, so that nothing stays open while models think.

    `inputs` is what the models get; `targets` and `judge` are pairs of model and version. `earlier` is the id of the
    example that the same request made before. In the sandbox there is neither author nor handout. Where the author has
    `conversed` with the targets, or had them draw, these have answered already. `suggestion` is one that
    they used, `features` are those that take part in recording it.
    """

    task_id: str
    round_id: int
    round_number: int
    config: TaskConfig
    version_id: int
    fooled_when: EnsembleRule
    targets: tuple[tuple[str, str], ...]
    judge: tuple[str, str] | None
    context_id: int
    input: dict[str, Any]
    answer: dict[str, Any]
    inputs: dict[str, Any]
    sandbox: bool
    author_id: int = 0
    handout: DraftHandout | None = None
    source: str = "person"
    program: ProgramIn | None = None
    made_from: int | None = None
    edit_distance: int | None = None
    active_seconds: float | None = None
    key: str = ""
    request: str = ""
    earlier: int | None = None
    conversed: Conversed | None = None
    drawn: Drawn | None = None
    suggestion: int | None = None
    features: frozenset[str] = frozenset()
    writing: DraftWriting = field(default_factory=DraftWriting)


def source_of(role: str | None) -> ExampleSource:
    """Return the source of an author's examples in figures."""
    return ExampleSource(role) if role in (TaskRole.OWNER, TaskRole.EXPERT) else ExampleSource.PERSON


def earlier(tries: Sequence[Any], request: str) -> int | None:
    """The id of the example that this very request made before; `Conflict` where the key stands for another request."""
    example = next((row for row in tries if row.same_key), None)
    if example is not None and example.request != request:
        raise errors.Conflict(_("This Idempotency-Key was used for another example. Use a new key for each example."))
    return None if example is None else int(example.id)


def tries(session: Session, person_id: int, round_id: int, context_id: int, key: str) -> Sequence[Any]:
    """Return a person's tries on a context in a round, and the example that their idempotency key stands for.

    See `queries.TRIES`.
    """
    parameters = {"person": person_id, "round": round_id, "context": context_id, "key": key}
    return queries.TRIES.run(session, parameters)


def refuse_repetition(tries: Sequence[Any], new: "Draft") -> None:
    """Refuse what its author wrote on the same context already, unless they took it back."""
    for old in tries:
        if old.input == new.input and old.answer == new.answer and not old.gone and not old.same_key:
            raise errors.Conflict(
                _("You already tried exactly this on this context. Change something or ask for another context."),
                example=old.id,
            )


def _request_digest(task_id: str, body: ExampleIn) -> str:
    """SHA-256 of a request, so that a key used again can be told from a key used for something else.

    What an example took a program is no part of it: the same search takes another time.
    """
    content = body.model_dump(
        exclude={"program", "active_seconds", "writing"} | ({"suggestion"} if body.suggestion is None else set())
    )
    if body.program is not None:
        content["program"] = [body.program.name, body.program.version]
    text = json.dumps([task_id, content], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def draft(session: Session, person: Person | None, task_id: str, body: ExampleIn, key: str) -> Draft:
    """Check what a person wants to try against the open round's config; every refusal but the models' is here."""
    if body.sandbox or person is None:
        people.require_seat(session, person, task_id)
    if body.sandbox:
        return _sandbox(session, person, task_id, body)
    if person is None:
        raise errors.Unauthenticated(_("Log in to record your example, or try it in the sandbox."))
    parameters = {"task": task_id, "person": person.id, "context": body.context_id, "handout": body.handout or 0}
    row = queries.DRAFT_HANDOUT.first(session, parameters)
    collects = row is not None and row.id is not None
    if collects:
        annotators = rounds.config_of(session, row.version_id).annotators
        may.require_admission(annotators, person, row.role, row.banned)
        if row.plan:
            eligibility.admit_to(session, person, task_id, row.id, row.plan, row.role)
            eligibility.admit_program(row.plan, body.program)
            eligibility.admit_writing(row.plan, body)
    else:
        people.require_seat(session, person, task_id)
    request = _request_digest(task_id, body)
    earlier_tries = tries(session, person.id, row.id if collects else 0, body.context_id, key)
    if again := earlier(earlier_tries, request):
        return _again(session, again)
    if not collects or row.context_id is None or row.handout_id is None:
        raise _nothing_given(session, task_id, body.context_id)
    config = rounds.config_of(session, row.version_id)
    if config.onboarding is not None:
        admission.require_qualified(session, person, config, OnboardingActivity.WRITE, begun=True)
    if row.pays:
        eligibility.refuse_unpaid(session, person, row.id, begun=True)
    if row.plan:
        eligibility.refuse_spent(session, person.id, row.id, row.plan)
    new = _written(session, person, task_id, body, row, key=key, request=request)
    refuse_repetition(earlier_tries, new)
    return new


def _written(
    session: Session, person: Person, task_id: str, body: ExampleIn, row: Any, *, key: str, request: str
) -> Draft:
    config = rounds.config_of(session, row.version_id)
    features = features_of(config, body, row)
    body, members = before_record(features, session, person, config, body, row)
    written, claimed = _cleaned(config, row.context, body, goal=row.handout_goal)
    if body.made_from is not None and body.made_from != row.handout_made_from:
        check_origin(session, person, task_id, body.made_from)
    targets = rounds.targets_of(session, row.id)
    return Draft(
        task_id=task_id,
        round_id=row.id,
        round_number=row.number,
        config=config,
        version_id=row.version_id,
        fooled_when=row.fooled_when,
        targets=plan.targets_in(row.arms, row.handout_arm, targets) if row.arms else targets,
        judge=rounds.judge_of(session, row.id) if config.fooled.judged_by == "model" else None,
        context_id=body.context_id,
        input=written,
        answer=claimed,
        inputs=config.model_inputs(row.context, written),
        sandbox=False,
        author_id=person.id,
        handout=_handout(task_id, row),
        source=ExampleSource.PROGRAM if body.program else source_of(may.effective_role(person, row.role)),
        program=body.program,
        made_from=body.made_from or row.handout_made_from,
        edit_distance=(
            None
            if row.handout_start == "blank"
            else edit_distance(config, row.handout_start, row.handout_initial, written)
        ),
        active_seconds=body.active_seconds,
        key=key,
        request=request,
        features=features,
        writing=DraftWriting(body.writing or WritingIn()),
        **members,
    )


def _handout(task_id: str, row: Any) -> DraftHandout:
    return DraftHandout(
        id=row.handout_id,
        start=row.handout_start,
        arm=row.handout_arm,
        seed_id=row.handout_seed_id,
        at=row.handout_at,
        place=Place(task_id, row.number, row.arms, row.context, row.tag),
    )


def _nothing_given(session: Session, task_id: str, context_id: int) -> errors.Problem:
    current = rounds.open_round_of(session, task_id)
    context_of(session, task_id, context_id)
    return errors.Conflict(
        _(
            "You were not given context %(context_id)s in round %(number)s. Ask for the next context "
            "and write your example for it.",
            context_id=context_id,
            number=current.number,
        )
    )


def _sandbox(session: Session, person: Person | None, task_id: str, body: ExampleIn) -> Draft:
    if body.made_from is not None:
        raise errors.Invalid({"made_from": _("The sandbox stores nothing, so leave this out.")})
    current = rounds.open_round_of(session, task_id)
    eligibility.admit(session, person, current, sandbox=True)
    config = rounds.config_of(session, current.version_id)
    if config.chat is not None or config.drawing is not None:
        raise errors.Conflict(_("The sandbox has no conversations and no drawing. Log in and write in the live round."))
    context = context_of(session, current.task_id, body.context_id)
    body = filled(session, person, task_id, config, body, context.values)
    written, claimed = _cleaned(config, context.values, body, goal=None)
    inputs = config.model_inputs(context.values, written)
    base = _base(current, config, context.id)
    return replace(base, input=written, answer=claimed, inputs=inputs, sandbox=True)


def filled(
    session: Session, person: Person | None, task_id: str, config: TaskConfig, body: ExampleIn, visible_values: object
) -> ExampleIn:
    """Return the draft with the facts of its files: those that the author sent, and those among `visible_values`."""
    updates = {}
    for group in ("input", "answer"):
        fields, values = config.fields(group), getattr(body, group)
        person_id = person.id if person else 0
        updates[group] = media.fill_media_values(
            session,
            task_id,
            fields,
            group,
            values,
            person_id=person_id,
            already_shown=media_digests(visible_values) if config.media else (),
        )
    return body.model_copy(update=updates)


def _cleaned(
    config: TaskConfig, context: dict[str, Any], body: ExampleIn, goal: dict[str, Any] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    written, claimed, wrong = dict[str, Any](), dict[str, Any](), dict[str, str]()
    try:
        written = config.clean_input(body.input, context)
    except errors.Invalid as problem:
        wrong |= problem.fields
    try:
        claimed = config.clean_answer(body.answer, goal=goal, context=context, input=written or body.input)
    except errors.Invalid as problem:
        wrong |= problem.fields
    if wrong:  # messages of both parts at once: the page shows each beside its field
        raise errors.Invalid(wrong)
    return written, claimed


def _base(current: Round, config: TaskConfig, context_id: int) -> Draft:
    return Draft(
        task_id=current.task_id,
        round_id=current.id,
        round_number=current.number,
        config=config,
        version_id=current.version_id,
        fooled_when=cast(EnsembleRule, current.fooled_when),
        targets=tuple((target.model, target.version) for target in current.targets),
        judge=(current.judge["model"], current.judge["version"]) if current.judge else None,
        context_id=context_id,
        input={},
        answer={},
        inputs={},
        sandbox=False,
    )


def _again(session: Session, example_id: int) -> Draft:
    example = session.get_one(Example, example_id)
    round_ = session.get_one(Round, example.round_id)
    base = _base(round_, rounds.config_of(session, example.version_id), example.context_id)
    plain: dict[str, Any] = {"input": example.input, "answer": example.answer, "author_id": example.author_id}
    return replace(base, earlier=example_id, **plain)
