"""The ledger of examples: recording what targets said, explaining, taking back."""

from datetime import timedelta
from typing import Any

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, lazyload

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.collection import drafts, projections, queries, search
from dynabench.collection.drafts import Draft
from dynabench.collection.schemas import ExampleOut, OutcomeOut, PredictionOut
from dynabench.collection.search import Seen
from dynabench.collection.tables import Example, Explanation, Handout, Prediction, Retraction, Seed, Standing
from dynabench.collection.targets import Verdict
from dynabench.db import now
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round


def record(session: Session, draft: Draft, verdict: Verdict) -> OutcomeOut:
    """Write example, predictions and counters; the same request recorded meanwhile is returned instead.

    The round is locked for sharing, so that one that closes is closed for those whose models still thought.
    """
    alone = [lazyload(Round.targets)]  # nobody asks for them here: one statement less
    current = session.get_one(Round, draft.round_id, with_for_update={"read": True}, options=alone)
    handout = session.get_one(Handout, draft.handout_id, with_for_update=True)  # one try at a time: they are numbered
    if again := drafts.earlier(session, draft.author_id, draft.key, draft.request):
        return outcome(again)
    if current.state != "open":
        raise errors.Conflict(f"Round {current.number} closed while the models were thinking. Nothing was recorded.")
    drafts.refuse_repetition(session, draft)
    example = _example(session, draft, verdict, handout)
    try:
        with session.begin_nested():
            session.add(example)
            session.flush()
    except IntegrityError:  # PostgreSQL: the key was used a moment ago, on another handout
        drafts.earlier(session, draft.author_id, draft.key, draft.request)
        raise
    used = {"used": Context.used + 1, "fooled": Context.fooled + int(example.fooled)}
    counted = update(Context).where(Context.id == example.context_id).values(used).returning(Context.tag)
    tag = session.execute(counted, execution_options={"synchronize_session": False}).scalar_one()
    if handout.seed_id:
        session.execute(update(Seed).where(Seed.id == handout.seed_id).values(used=Seed.used + 1))
    projections.count_example(
        session,
        example,
        targets=len(verdict.flags),
        targets_right=len(verdict.flags) - sum(verdict.flags),
        config=draft.config,
        tag=tag,
    )
    return outcome(example)


def _example(session: Session, draft: Draft, verdict: Verdict, handout: Handout) -> Example:
    at = now()
    return Example(
        round_id=draft.round_id,
        context_id=draft.context_id,
        handout_id=handout.id,
        author_id=draft.author_id,
        made_from=draft.made_from,
        version_id=draft.version_id,
        input=draft.input,
        answer=draft.answer,
        fooled=verdict.fooled,
        source=draft.source,
        start=handout.start,
        arm=handout.arm,
        edit_distance=draft.edit_distance,
        attempt=(session.scalar(queries.attempts(handout.id)) or 0) + 1,
        seconds=(at - handout.at) / timedelta(seconds=1),
        latency_ms=verdict.latency_ms,
        key=draft.key,
        request=draft.request,
        at=at,
        predictions=_predictions(verdict),
    )


def _predictions(verdict: Verdict) -> list[Prediction]:
    return [
        Prediction(
            position=position,
            model=answer.model,
            version=answer.version,
            answer=answer.answer,
            probabilities=answer.probabilities,
            fooled=fooled,
            latency_ms=answer.latency_ms,
        )
        for position, (answer, fooled) in enumerate(zip(verdict.answers, verdict.flags, strict=True))
    ]


def outcome(example: Example) -> OutcomeOut:
    """What the targets said about a stored example; the same each time it is asked for."""
    return OutcomeOut(
        id=example.id,
        uid=example.uid,
        arm=example.arm,
        edit_distance=example.edit_distance,
        predictions=_shown(example.predictions),
        fooled=example.fooled,
        latency_ms=round(example.latency_ms, 1),
        attempt=example.attempt,
        seconds=round(example.seconds, 1),
    )


def sandboxed(verdict: Verdict) -> OutcomeOut:
    """What the targets said about a draft that is not stored."""
    return OutcomeOut(
        id=None,
        uid=None,
        arm="",
        edit_distance=None,
        predictions=_shown(_predictions(verdict)),
        fooled=verdict.fooled,
        latency_ms=round(verdict.latency_ms, 1),
        attempt=None,
        seconds=None,
    )


def _shown(predictions: list[Prediction]) -> list[PredictionOut]:
    return [
        PredictionOut(
            model=prediction.model,
            answer=prediction.answer,
            probabilities=prediction.probabilities,
            fooled=prediction.fooled,
            latency_ms=round(prediction.latency_ms, 1),
        )
        for prediction in predictions
    ]


def recorded(session: Session, example_id: int) -> OutcomeOut:
    """The stored outcome of an example."""
    return outcome(session.scalars(queries.example(example_id)).one())


def visible(session: Session, person: Person, example_id: int) -> Example:
    """The example, for its author and the task's owners; for everybody else there is none."""
    found = session.scalar(queries.example(example_id))
    if found is not None:
        if found.author_id == person.id:
            return found
        if rounds.role(session, person, session.get_one(Round, found.round_id).task_id) == "owner":
            return found
    raise errors.NotFound(f"There is no example {example_id} that you may see.")


def own(session: Session, person: Person, example_id: int) -> Example:
    """The example, for its author alone."""
    found = visible(session, person, example_id)
    if found.author_id != person.id:
        raise errors.Forbidden("Only its author may do this.")
    return found


def explain(session: Session, person: Person, example_id: int, values: dict[str, Any]) -> Explanation:
    """Keep what the author says of their example; a later explanation takes the place of this one."""
    found = own(session, person, example_id)
    config = rounds.config_of(session, found.version_id)
    context = session.get_one(Context, found.context_id).values
    cleaned = config.clean_ask(values, input=found.input, fooled=found.fooled, context=context, answer=found.answer)
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
    if current.state == "released":
        raise errors.Conflict(f"Round {current.number} is released, so its examples can no longer be taken back.")
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
        **outcome(example).model_dump(),
        task=seen.round.task_id,
        round=seen.round.number,
        author=author,
        context_id=example.context_id,
        context=seen.config.shown_context(seen.context.values),
        input=example.input,
        answer=example.answer,
        made_from=example.made_from,
        source=example.source,
        start=example.start,
        verdict=standing.verdict,
        retracted=standing.retracted,
        hidden=standing.hidden,
        explanation=seen.explanation,
        at=example.at,
    )
