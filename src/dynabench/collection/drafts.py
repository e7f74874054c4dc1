"""A draft: what somebody wants to try, checked before any model is asked."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any, cast

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.collection import queries
from dynabench.collection.schemas import ExampleIn
from dynabench.collection.tables import Example, Handout
from dynabench.rounds import arms, people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round
from dynabench.tasks import TaskConfig
from dynabench.tasks.fooling import EnsembleRule


@dataclass(frozen=True)
class Draft:
    """A checked draft with all that asking and recording need, so that nothing stays open while models think.

    `inputs` is what the models get; `targets` are pairs of model and version. `earlier` is the id of the example
    that the same request made before. In the sandbox there is neither author nor handout.
    """

    task_id: str
    round_id: int
    round_number: int
    config: TaskConfig
    version_id: int
    fooled_when: EnsembleRule
    targets: tuple[tuple[str, str], ...]
    context_id: int
    input: dict[str, Any]
    answer: dict[str, Any]
    inputs: dict[str, Any]
    sandbox: bool
    author_id: int = 0
    handout_id: int = 0
    source: str = "person"
    made_from: int | None = None
    edit_distance: int | None = None
    key: str = ""
    request: str = ""
    earlier: int | None = None


def request_digest(task_id: str, body: ExampleIn) -> str:
    """SHA-256 of a request, so that a key used again can be told from a key used for something else."""
    text = json.dumps([task_id, body.model_dump()], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def source_of(role: str | None) -> str:
    """How figures tell an author's examples apart: `owner`, `expert` or `person`."""
    return role if role in ("owner", "expert") else "person"


def earlier(session: Session, person_id: int, key: str, request: str) -> Example | None:
    """The example that this very request made before; `Conflict` where the key stands for another request."""
    found = session.scalar(queries.by_key(person_id, key))
    if found is not None and found.request != request:
        raise errors.Conflict("This Idempotency-Key was used for another example. Use a new key for each example.")
    return found


def draft(session: Session, person: Person | None, task_id: str, body: ExampleIn, key: str) -> Draft:
    """Check what somebody wants to try against the open round's config; every refusal but the models' is here."""
    people.require_seat(session, person, task_id)
    if body.sandbox:
        return _sandbox(session, task_id, body)
    if person is None:
        raise errors.Unauthenticated("Log in to have your example recorded, or try it in the sandbox.")
    request = request_digest(task_id, body)
    if again := earlier(session, person.id, key, request):
        return replace(_plain(session, session.get_one(Round, again.round_id), again), earlier=again.id)
    current = rounds.open_round_of(session, task_id)
    given = _handout(session, person, current, body)
    checked = _checked(session, current, body, goal=given.goal)
    changed = _edit_distance(checked, given)
    if body.made_from is not None and body.made_from != given.made_from:
        _check_origin(session, person, task_id, body.made_from)
    whole = replace(
        checked,
        author_id=person.id,
        handout_id=given.id,
        source=source_of(rounds.role(session, person, task_id)),
        targets=arms.targets_of(current, given.arm),
        made_from=body.made_from or given.made_from,
        edit_distance=changed,
        key=key,
        request=request,
    )
    refuse_repetition(session, whole)
    return whole


def _sandbox(session: Session, task_id: str, body: ExampleIn) -> Draft:
    if body.made_from is not None:
        raise errors.Invalid({"made_from": "The sandbox stores nothing, so leave this out."})
    return _checked(session, rounds.open_round_of(session, task_id), body, goal=None)


def _checked(session: Session, current: Round, body: ExampleIn, goal: dict[str, Any] | None) -> Draft:
    config = rounds.config_of(session, current.version_id)
    context = context_of(session, current.task_id, body.context_id)
    written: dict[str, Any] = {}
    claimed: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    try:
        written = config.clean_input(body.input, context.values)
    except errors.Invalid as problem:
        wrong |= problem.fields
    try:
        claimed = config.clean_answer(body.answer, goal=goal, context=context.values, input=written or body.input)
    except errors.Invalid as problem:
        wrong |= problem.fields
    if wrong:  # messages of both parts at once: the page shows each beside its field
        raise errors.Invalid(wrong)
    inputs = config.model_inputs(context.values, written)
    base = _base(current, config, context.id)
    return replace(base, input=written, answer=claimed, inputs=inputs, sandbox=body.sandbox)


def _base(current: Round, config: TaskConfig, context_id: int) -> Draft:
    return Draft(
        task_id=current.task_id,
        round_id=current.id,
        round_number=current.number,
        config=config,
        version_id=current.version_id,
        fooled_when=cast(EnsembleRule, current.fooled_when),
        targets=tuple((target.model, target.version) for target in current.targets),
        context_id=context_id,
        input={},
        answer={},
        inputs={},
        sandbox=False,
    )


def _plain(session: Session, of: Round, example: Example) -> Draft:
    base = _base(of, rounds.config_of(session, example.version_id), example.context_id)
    return replace(base, input=example.input, answer=example.answer, author_id=example.author_id)


def context_of(session: Session, task_id: str, context_id: int) -> Context:
    """The context, or `NotFound` where the task has no such one."""
    found = session.get(Context, context_id)
    if found is None or found.task_id != task_id:
        raise errors.NotFound(f"Task {task_id!r} has no context {context_id}.")
    return found


def _edit_distance(checked: Draft, given: Handout) -> int | None:
    """How far the text is from the one that it began with; a seed or an own example has to be changed."""
    if given.start == "blank":
        return None
    changed = checked.config.edit_distance(given.initial, checked.input)
    if not changed and given.start in ("seed", "perturb"):
        raise errors.Invalid({f"input.{checked.config.input[0].name}": "Change the text: this is what you began with."})
    return changed


def _handout(session: Session, person: Person, current: Round, body: ExampleIn) -> Handout:
    context_id = body.context_id
    if body.handout is None:
        found = session.scalar(queries.handout(person.id, current.id, context_id))
    else:
        found = session.get(Handout, body.handout)
        if found and (found.person_id, found.round_id, found.context_id) != (person.id, current.id, context_id):
            found = None
    if found is None:
        context_of(session, current.task_id, context_id)  # says so where there is no such context
        raise errors.Conflict(
            f"Context {context_id} was not given to you in round {current.number}. Ask for the next context and "
            "write your example on that one."
        )
    return found


def refuse_repetition(session: Session, new: Draft) -> None:
    """Refuse what its author wrote on the same context already, unless they took it back."""
    for old, text, claim in session.execute(queries.written(new.author_id, new.round_id, new.context_id)):
        if text == new.input and claim == new.answer:
            raise errors.Conflict(
                "You tried exactly this on this context already. Change something, or ask for another context.",
                example=old,
            )


def _check_origin(session: Session, person: Person, task_id: str, made_from: int | None) -> None:
    if made_from is None:
        return
    origin = session.get(Example, made_from)
    of = session.get(Round, origin.round_id) if origin else None
    if origin is None or of is None or of.task_id != task_id:
        raise errors.Invalid({"made_from": "There is no such example of this task."})
    if origin.author_id != person.id and rounds.role(session, person, task_id) != "owner":
        raise errors.Invalid({"made_from": "There is no such example of this task."})  # nor is it told that there is
