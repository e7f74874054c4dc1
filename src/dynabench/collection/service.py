"""The ledger of examples: handing out contexts, recording what targets said, explaining, taking back."""

import random
from datetime import timedelta
from typing import Any

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, lazyload

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.collection import drafts, projections, queries, search
from dynabench.collection.drafts import Draft
from dynabench.collection.schemas import ExampleOut, HandoutOut, OutcomeOut, PredictionOut
from dynabench.collection.tables import Example, Explanation, Handout, Prediction, Retraction, Standing
from dynabench.collection.targets import Verdict
from dynabench.db import now
from dynabench.rounds import contexts
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round
from dynabench.tasks import TaskConfig


def given(config: TaskConfig, context: Context, handout: Handout) -> HandoutOut:
    """A handout as people and programs see it."""
    return HandoutOut(
        id=context.id,
        values=config.shown_context(context.values),
        goal=handout.goal,
        start=handout.start,
        initial=handout.initial,
    )


def _drawn(session: Session, current: Round, rng: random.Random, but: int) -> tuple[Context, Handout]:
    config = rounds.config_of(session, current.version_id)
    context = contexts.pick(session, current.task_id, config.contexts.sampling, rng, but)
    start = config.draw_start(rng)
    initial = config.initial(start, context.values)
    goal = config.draw_goal(rng)
    return context, Handout(round_id=current.id, context_id=context.id, goal=goal, start=start, initial=initial)


def next_context(session: Session, person: Person, task_id: str, rng: random.Random) -> HandoutOut:
    """Give somebody another context, with a goal and a start drawn at random, and record what was given."""
    current = rounds.open_round_of(session, task_id)
    before = session.scalar(queries.current_handout(person.id, current.id))
    context, handout = _drawn(session, current, rng, but=before.context_id if before else 0)
    handout.person_id = person.id
    session.add(handout)
    context.draw = rng.randint(0, round_queries.KEYS)  # see `queries.uniform` of rounds
    session.flush()
    return given(rounds.config_of(session, current.version_id), context, handout)


def visitor_context(session: Session, task_id: str, rng: random.Random, but: int = 0) -> HandoutOut:
    """A context for the sandbox of somebody without an account; nothing is stored."""
    current = rounds.open_round_of(session, task_id)
    context, handout = _drawn(session, current, rng, but)
    return given(rounds.config_of(session, current.version_id), context, handout)


def current_context(session: Session, person: Person, task_id: str, context_id: int = 0) -> HandoutOut | None:
    """What somebody was given last in the open round (of `context_id` where given), so that a reload shows it again."""
    current = rounds.open_round_of(session, task_id)
    handout = session.scalar(queries.handout(person.id, current.id, context_id)) if context_id else None
    handout = handout or session.scalar(queries.current_handout(person.id, current.id))
    if handout is None:
        return None
    config = rounds.config_of(session, current.version_id)
    return given(config, session.get_one(Context, handout.context_id), handout)


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
    session.execute(update(Context).where(Context.id == example.context_id).values(used))
    projections.count_example(
        session,
        example,
        targets=len(verdict.flags),
        targets_right=len(verdict.flags) - sum(verdict.flags),
        config=draft.config,
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
    cleaned = config.clean_ask(values, input=found.input, fooled=found.fooled)
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
    standing = session.get_one(Standing, example.id)
    of = session.get_one(Round, example.round_id)
    said = session.scalar(queries.explanation(example.id))
    config = rounds.config_of(session, example.version_id)
    return ExampleOut(
        **outcome(example).model_dump(),
        task=of.task_id,
        round=of.number,
        context_id=example.context_id,
        context=config.shown_context(session.get_one(Context, example.context_id).values),
        input=example.input,
        answer=example.answer,
        made_from=example.made_from,
        source=example.source,
        start=example.start,
        verdict=standing.verdict,
        retracted=standing.retracted,
        explanation=said.values if said else None,
        at=example.at,
    )
