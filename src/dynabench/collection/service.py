"""The ledger of examples: recording what targets said, explaining, taking back."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from sqlalchemy.orm import Session

from dynabench.collection import drafts, eligibility, participants, projections, queries, search, statements
from dynabench.collection.drafts import Draft, Given
from dynabench.collection.program_schemas import ProgramIn
from dynabench.collection.schemas import ExampleOut, OutcomeOut, PredictionOut
from dynabench.collection.search import Seen
from dynabench.collection.tables import Example, Explanation, Retraction, Standing
from dynabench.collection.targets import Verdict
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.media import service as media
from dynabench.people import disclosure, may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round, RoundState


def record(session: Session, draft: Draft, verdict: Verdict) -> OutcomeOut:
    """Write example, predictions and counters; the same request recorded meanwhile is returned instead.

    The round is locked for sharing, so that one that closes is closed for those whose models still thought.
    """
    connection, given = session.connection(), draft.handout
    if given is None:
        raise ValueError("a draft of the sandbox is not recorded")
    state, plan = connection.execute(statements.ROUND_LOCK, {"round": draft.round_id}).one()
    if connection.dialect.name != "sqlite":  # there the whole writing transaction is alone
        connection.execute(statements.HANDOUT_LOCK, {"handout": given.id})
    known = drafts.tries(session, draft.author_id, draft.round_id, draft.context_id, draft.key)
    if again := drafts.earlier(known, draft.request):
        return recorded(session, again)
    if state != RoundState.OPEN or (plan and eligibility.over(plan)):
        raise errors.Conflict(
            _(
                "Round %(round_number)s closed while the models were thinking. Nothing was recorded.",
                round_number=draft.round_number,
            )
        )
    drafts.refuse_repetition(known, draft)
    if plan:
        eligibility.take(session, draft.author_id, draft.round_id, plan)
    row = _row(draft, verdict, given, attempt=1 + sum(old.handout_id == given.id for old in known))
    made = connection.execute(statements.new_example(connection.dialect.name), row).scalar_one_or_none()
    if made is None:  # PostgreSQL: the key was used a moment ago, on another handout
        known = drafts.tries(session, draft.author_id, draft.round_id, draft.context_id, draft.key)
        return recorded(session, drafts.earlier(known, draft.request) or 0)
    predictions = _said(verdict)
    if predictions:
        connection.execute(statements.NEW_PREDICTION, [{"example_id": made, **row} for row in predictions])
    example: Any = SimpleNamespace(id=made, **row)  # not of the session, which need not know it
    projections.count_example(
        session,
        example,
        targets=len(verdict.flags),
        targets_right=verdict.flags.count(False),
        config=draft.config,
        place=given.place,
        doubt=verdict.doubt,
    )
    outcome = _told(example, verdict.fooled, _shown(predictions))
    members = participants.recorded(session, draft, verdict, made)
    return outcome.model_copy(update=members) if members else outcome


def _row(draft: Draft, verdict: Verdict, given: Given, attempt: int) -> dict[str, Any]:
    at = now()
    return {
        "uid": uuid4().hex,
        "round_id": draft.round_id,
        "context_id": draft.context_id,
        "handout_id": given.id,
        "author_id": draft.author_id,
        "made_from": draft.made_from,
        "version_id": draft.version_id,
        "input": draft.input,
        "answer": draft.answer,
        "fooled": verdict.fooled,
        "source": draft.source,
        "start": given.start,
        "arm": given.arm,
        "edit_distance": draft.edit_distance,
        "attempt": attempt,
        "seconds": (at - given.at) / timedelta(seconds=1),
        "latency_ms": verdict.latency_ms,
        "key": draft.key,
        "request": draft.request,
        "at": at,
    }


def _said(verdict: Verdict) -> list[dict[str, Any]]:
    """Return the targets' answers as rows of predictions."""
    return [
        {
            "position": position,
            "model": answer.model,
            "version": answer.version,
            "answer": answer.answer,
            "probabilities": answer.probabilities,
            "fooled": fooled,
            "latency_ms": answer.latency_ms,
        }
        for position, (answer, fooled) in enumerate(zip(verdict.answers, verdict.flags, strict=True))
    ]


def outcome(example: Example, fooled: bool | None) -> OutcomeOut:
    """Return the targets' answers to a stored example; `fooled` is what is known of the outcome now."""
    names = ("model", "answer", "probabilities", "latency_ms")
    said = [{name: getattr(row, name) for name in names} | {"fooled": row.errs} for row in example.predictions]
    return _told(example, fooled, _shown(said))


def _told(example: Example, fooled: bool | None, predictions: list[PredictionOut]) -> OutcomeOut:
    return OutcomeOut(
        id=example.id,
        uid=example.uid,
        arm=example.arm,
        edit_distance=example.edit_distance,
        predictions=predictions,
        fooled=fooled,
        latency_ms=round(example.latency_ms, 1),
        attempt=example.attempt,
        seconds=round(example.seconds, 1),
    )


def sandboxed(verdict: Verdict) -> OutcomeOut:
    """Return the targets' answers to a draft that is not stored."""
    return OutcomeOut(
        id=None,
        predictions=_shown(_said(verdict)),
        fooled=verdict.fooled,
        latency_ms=round(verdict.latency_ms, 1),
        attempt=None,
        seconds=None,
    )


def _shown(said: list[dict[str, Any]]) -> list[PredictionOut]:
    return [
        PredictionOut(
            model=row["model"],
            answer=row["answer"],
            probabilities=row["probabilities"],
            fooled=row["fooled"],
            latency_ms=round(row["latency_ms"], 1),
        )
        for row in said
    ]


def recorded(session: Session, example_id: int) -> OutcomeOut:
    """The stored outcome of an example."""
    return outcome(session.scalars(queries.example(example_id)).one(), fooled(session, example_id))


def fooled(session: Session, example_id: int) -> bool | None:
    """Return whether an example fooled its models, as far as it is known now; None while unknown."""
    return session.get_one(Standing, example_id).fooled


def visible(session: Session, person: Person, example_id: int) -> Example:
    """The example, for its author and the task's owners; for everybody else there is none."""
    found = session.scalar(queries.example(example_id))
    if found is not None:
        if found.author_id == person.id:
            return found
        task_id = session.get_one(Round, found.round_id).task_id
        if may.may_in(session, person, Action.READ_EXAMPLE, task_id) and not disclosure.is_withheld(
            session.get_one(Standing, found.id)
        ):
            return found
    raise errors.NotFound(_("There is no example %(example_id)s that you may see.", example_id=example_id))


def own(session: Session, person: Person, example_id: int) -> Example:
    """The example, for its author alone."""
    found = visible(session, person, example_id)
    if found.author_id != person.id:
        raise errors.Forbidden(_("Only its author may do this."))
    return found


def explain(session: Session, person: Person, example_id: int, values: dict[str, Any]) -> Explanation:
    """Keep what the author says of their example; a later explanation takes the place of this one."""
    found = own(session, person, example_id)
    current = session.get_one(Round, found.round_id, with_for_update={"read": True})
    if current.state == RoundState.RELEASED:
        raise errors.Conflict(
            _("Round %(number)s is released, so nothing is added to its examples any more.", number=current.number)
        )
    config = rounds.config_of(session, found.version_id)
    context = session.get_one(Context, found.context_id).values
    known = fooled(session, found.id)
    task_id = current.task_id
    values = media.fill_media_values(session, task_id, config.ask, "ask", values, person_id=person.id)
    cleaned = config.clean_ask(values, input=found.input, fooled=known, context=context, answer=found.answer)
    media.bind_media(session, task_id, cleaned, example_id=found.id)
    made = Explanation(example_id=found.id, values=cleaned)
    session.add(made)
    session.flush()
    search.say(session, made)
    return made


def retract(session: Session, person: Person, example_id: int) -> None:
    """Take an example back; twice changes nothing. After the release of its round it is in the world."""
    found = own(session, person, example_id)
    current = session.get_one(Round, found.round_id, with_for_update={"read": True})
    session.get_one(Standing, found.id, with_for_update=True)  # two retractions at once count as one
    if session.get(Retraction, found.id):
        return
    if current.state == RoundState.RELEASED:
        raise errors.Conflict(
            _("Round %(number)s is released, so its examples can no longer be taken back.", number=current.number)
        )
    session.add(Retraction(example_id=found.id))
    session.flush()
    projections.count_retraction(session, found)


def full(session: Session, example: Example) -> ExampleOut:
    """An example with all that its author and the owners may know."""
    return told(search.seen(session, [example.id])[0])


def told(seen: Seen, *, author: str | None = None) -> ExampleOut:
    """The same of an example that was found; `author` is the name that whoever asks knows them by."""
    example, standing = seen.example, seen.standing
    return ExampleOut(
        **outcome(example, standing.fooled).model_dump(),
        task=seen.round.task_id,
        round=seen.round.number,
        author=author,
        context_id=example.context_id,
        context=seen.config.shown_context(seen.context.values),
        input=example.input,
        answer=example.answer,
        made_from=example.made_from,
        source=example.source,
        program=ProgramIn.model_validate(seen.program, from_attributes=True) if seen.program else None,
        start=example.start,
        verdict=standing.verdict,
        retracted=standing.retracted,
        hidden=standing.hidden,
        explanation=seen.explanation,
        at=example.at,
    )
