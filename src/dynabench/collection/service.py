"""The ledger of examples: recording what targets said, explaining, taking back."""

from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from sqlalchemy.orm import Session

from dynabench.collection import drafts, eligibility, projections, queries, search
from dynabench.collection.drafts import Draft, DraftHandout
from dynabench.collection.schemas import ExampleOut, OutcomeOut, PredictionOut, ProgramIn
from dynabench.collection.search import FoundExample
from dynabench.collection.tables import Example, Explanation, Retraction, Standing
from dynabench.collection.targets import TargetVerdict
from dynabench.collection.writing_facts import DraftWriting
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.media import service as media
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round, RoundState


def record(session: Session, draft: Draft, verdict: TargetVerdict) -> OutcomeOut:
    """Write example, predictions and counters; the same request recorded meanwhile is returned instead.

    The round is locked for sharing, so that one that closes is closed for those whose models still thought.
    """
    handout = draft.handout
    if handout is None:
        raise ValueError("a draft of the sandbox is not recorded")
    state, plan = queries.ROUND_LOCK.first(session, {"round": draft.round_id})
    if session.get_bind().dialect.name != "sqlite":  # there the whole writing transaction is alone
        queries.HANDOUT_LOCK.run(session, {"handout": handout.id})
    tries = drafts.tries(session, draft.author_id, draft.round_id, draft.context_id, draft.key)
    if again := drafts.earlier(tries, draft.request):
        return recorded(session, again)
    if state != RoundState.OPEN or (plan and eligibility.over(plan)):
        raise errors.Conflict(
            _(
                "Round %(round_number)s closed while the models were answering. Nothing was recorded.",
                round_number=draft.round_number,
            )
        )
    drafts.refuse_repetition(tries, draft)
    if plan:
        eligibility.take(session, draft.author_id, draft.round_id, plan)
    row = _row(draft, verdict, handout, attempt=1 + sum(old.handout_id == handout.id for old in tries))
    inserted_row = queries.NEW_EXAMPLE.first(session, row)
    if inserted_row is None:  # PostgreSQL: the key was used a moment ago, on another handout
        tries = drafts.tries(session, draft.author_id, draft.round_id, draft.context_id, draft.key)
        return recorded(session, drafts.earlier(tries, draft.request) or 0)
    predictions = _prediction_rows(verdict)
    for prediction in predictions:
        queries.NEW_PREDICTION.run(session, {"example_id": inserted_row.id, **prediction})
    example: Any = SimpleNamespace(id=inserted_row.id, **row)  # not of the session, which need not know it
    projections.count_example(
        session,
        example,
        targets=len(verdict.flags),
        targets_right=verdict.flags.count(False),
        config=draft.config,
        place=handout.place,
        doubt=verdict.doubt,
    )
    queries.NEW_FACTS.run(session, _facts_row(draft.writing, example, handout.place.task_id))
    outcome = _outcome_out(example, verdict.fooled, _predictions_out(predictions))
    members = drafts.recorded(session, draft, verdict, inserted_row.id)
    return outcome.model_copy(update=members) if members else outcome


def _row(draft: Draft, verdict: TargetVerdict, handout: DraftHandout, attempt: int) -> dict[str, Any]:
    at = now()
    elapsed = (at - handout.at) / timedelta(seconds=1)
    return {
        "uid": uuid4().hex,
        "round_id": draft.round_id,
        "context_id": draft.context_id,
        "handout_id": handout.id,
        "author_id": draft.author_id,
        "made_from": draft.made_from,
        "version_id": draft.version_id,
        "input": draft.input,
        "answer": draft.answer,
        "fooled": verdict.fooled,
        "source": draft.source,
        "start": handout.start,
        "arm": handout.arm,
        "edit_distance": draft.edit_distance,
        "attempt": attempt,
        "seconds": elapsed,
        "active_seconds": None if draft.active_seconds is None else min(draft.active_seconds, elapsed),
        "latency_ms": verdict.latency_ms,
        "key": draft.key,
        "request": draft.request,
        "at": at,
    }


def _facts_row(writing: DraftWriting, example: Any, task_id: str) -> dict[str, Any]:
    return {
        "example_id": example.id,
        "task_id": task_id,
        "person_id": example.author_id,
        "typed": writing.claims.typed,
        "pasted": writing.claims.pasted,
        "model_written": writing.claims.model_written,
        "device": writing.device or None,
        "inspired": None,
        "at": example.at,
        "checked_at": None,
    }


def _prediction_rows(verdict: TargetVerdict) -> list[dict[str, Any]]:
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
    prediction_rows = [
        {name: getattr(row, name) for name in names} | {"fooled": row.errs} for row in example.predictions
    ]
    return _outcome_out(example, fooled, _predictions_out(prediction_rows))


def _outcome_out(example: Example, fooled: bool | None, predictions: list[PredictionOut]) -> OutcomeOut:
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
        active_seconds=None if example.active_seconds is None else round(example.active_seconds, 1),
    )


def sandboxed(verdict: TargetVerdict) -> OutcomeOut:
    """Return the targets' answers to a draft that is not stored."""
    return OutcomeOut(
        id=None,
        predictions=_predictions_out(_prediction_rows(verdict)),
        fooled=verdict.fooled,
        latency_ms=round(verdict.latency_ms, 1),
        attempt=None,
        seconds=None,
    )


def _predictions_out(prediction_rows: list[dict[str, Any]]) -> list[PredictionOut]:
    return [
        PredictionOut(
            model=row["model"],
            answer=row["answer"],
            probabilities=row["probabilities"],
            fooled=row["fooled"],
            latency_ms=round(row["latency_ms"], 1),
        )
        for row in prediction_rows
    ]


def recorded(session: Session, example_id: int) -> OutcomeOut:
    """The stored outcome of an example."""
    return outcome(session.scalars(queries.example(example_id)).one(), fooled(session, example_id))


def fooled(session: Session, example_id: int) -> bool | None:
    """Return whether an example fooled its models, as far as it is known now; None while unknown."""
    return session.get_one(Standing, example_id).fooled


@dataclass(frozen=True)
class SavedExplanation:
    """An explanation as it was saved, with how many of the answers that the task requires it has.

    An optional answer that was begun is required, too.
    """

    explanation: Explanation
    answered: int
    required: int


def explain(
    session: Session, person: Person, example_id: int, values: dict[str, Any], *, draft: bool = False
) -> SavedExplanation:
    """Keep what the author says of their example; a later explanation takes the place of this one.

    A `draft` may lack required answers and parts of them: it is kept for its author, and counts once it has them all.
    """
    example = eligibility.own_example(session, person, example_id)
    current = session.get_one(Round, example.round_id, with_for_update={"read": True})
    if current.state == RoundState.RELEASED:
        raise errors.Conflict(
            _("Round %(number)s is released, so its examples can no longer be edited.", number=current.number)
        )
    config = rounds.config_of(session, example.version_id)
    context = session.get_one(Context, example.context_id).values
    model_fooled = fooled(session, example.id)
    task_id = current.task_id
    values = media.fill_media_values(session, task_id, config.ask, "ask", values, person_id=person.id)
    facts = {"input": example.input, "context": context, "answer": example.answer}
    cleaned = config.clean_ask(values, fooled=model_fooled, draft=draft, **facts)
    around = {**context, **example.input, **example.answer}
    required = config.required_questions(cleaned, fooled=model_fooled, around=around)
    unfinished = set(config.unfinished_answers(cleaned, around=around))
    required = [*required, *sorted(unfinished.difference(required))]
    answered = sum(name in cleaned and name not in unfinished for name in required)
    latest = session.scalar(queries.explanation(example.id))
    if latest is not None and latest.values == cleaned:
        return SavedExplanation(latest, answered, len(required))  # pages save each field when it is left
    media.bind_media(session, task_id, cleaned, example_id=example.id)
    explanation = Explanation(example_id=example.id, values=cleaned, complete=answered == len(required))
    session.add(explanation)
    session.flush()
    if explanation.complete:
        search.say(session, explanation)
    return SavedExplanation(explanation, answered, len(required))


def explained_values(session: Session, example_id: int) -> dict[str, Any]:
    """Return what the author has said of their example so far, also as a draft; {} for nothing."""
    latest = session.scalar(queries.explanation(example_id))
    return latest.values if latest else {}


def retract(session: Session, person: Person, example_id: int) -> None:
    """Take an example back; twice changes nothing. After the release of its round it is in the world."""
    example = eligibility.own_example(session, person, example_id)
    current = session.get_one(Round, example.round_id, with_for_update={"read": True})
    session.get_one(Standing, example.id, with_for_update=True)  # two retractions at once count as one
    if session.get(Retraction, example.id):
        return
    if current.state == RoundState.RELEASED:
        raise errors.Conflict(
            _("Round %(number)s is released, so its examples can no longer be withdrawn.", number=current.number)
        )
    session.add(Retraction(example_id=example.id))
    session.flush()
    projections.count_retraction(session, example)


def full(session: Session, example: Example) -> ExampleOut:
    """An example with all that its author and the owners may know."""
    return example_out(search.seen(session, [example.id])[0])


def example_out(seen: FoundExample, *, author: str | None = None) -> ExampleOut:
    """Return the same of an example that was read; `author` is the name that the reader knows them by."""
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
