"""Playing a round: a hand-out, a draft that the models answer, and the author's judgement where models are judged."""

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from sqlalchemy.orm import Session

from dynabench.collection import drafts, eligibility, handout_storage, handouts, projections, queries, targets
from dynabench.collection.drafts import Draft
from dynabench.collection.handouts import Offer
from dynabench.collection.schemas import ExampleIn, HandoutOut, OutcomeOut
from dynabench.collection.seed_screening import LONGEST_SECONDS, MOST_ASKED
from dynabench.collection.service import record, recorded, sandboxed
from dynabench.collection.tables import Example, Judgement, Standing
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.models.client import Host
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.tasks.rules.base import EnsembleRule, ensemble_fooled


@dataclass(frozen=True)
class DraftOutcome:
    """The answer that the annotator reads: the checked draft and its outcome."""

    draft: Draft
    outcome: OutcomeOut


async def hand_out(
    db: Database,
    host: Host,
    person: Person | None,
    task_id: str,
    *,
    but: int = 0,
    link: Mapping[str, str] = handouts.NO_LINK,
) -> HandoutOut:
    """Another context with an arm, a goal and a start; None as `person` is a visitor, who has context `but` now.

    `link` are the parameters of the address by which a member came.

    A seed comes with what the round's targets say of it: `Unavailable` where one has yet to be asked and is silent.
    Another one is drawn in the place of a seed that fools them.
    """
    run = db.awrite if person else db.aread
    offer = await run(handouts.hand_out, person, task_id, random.Random(), but, link)
    return await _complete(db, host, await _screened(db, host, person, offer, but))


async def current(
    db: Database,
    host: Host,
    person: Person,
    task_id: str,
    *,
    context_id: int = 0,
    handout_id: int = 0,
    link: Mapping[str, str] = handouts.NO_LINK,
) -> HandoutOut | None:
    """Return the last hand-out of a person in the open round; None where there is none.

    Where `context_id` or `handout_id` is given, it is the last one of that context, or that very hand-out.
    None also where the person came by another `link` since. A hand-out whose seed turned out to fool the targets
    before it was shown gets another seed, unless it is asked for by name.
    """
    offer = await db.aread(handouts.current, person, task_id, context_id=context_id, handout_id=handout_id, link=link)
    if offer is None:
        return None
    if not (context_id or handout_id):
        offer = await _screened(db, host, person, offer)
    return await _complete(db, host, offer)


async def perturb(db: Database, host: Host, person: Person, example_id: int, task_id: str = "") -> HandoutOut:
    """One's own example (of this task, where named) again, to be edited minimally so that its answer flips."""
    offer = await db.awrite(handouts.perturb, person, example_id, random.Random(), task_id)
    return await _complete(db, host, offer)


async def _screened(db: Database, host: Host, person: Person | None, offer: Offer, but: int = 0) -> Offer:
    """Return the offer, or another one in its place where its seed fools the targets, which are asked if need be."""
    passed: list[int] = []
    begun = time.monotonic()
    while (screening := offer.screening) is not None and offer.inputs is not None:
        answers = await targets.gather(host, screening.missing, offer.inputs) if screening.missing else ()
        if not screening.fools(answers):
            if answers:
                await db.awrite(handout_storage.keep, offer.seed_id, answers)
            shown_answers = [answer for answer in answers if (answer.model, answer.version) in offer.missing]
            return replace(offer, handout=handout_storage.add_seed_predictions(offer, shown_answers), missing=())
        await db.awrite(handout_storage.keep_fooling, offer, answers)
        passed.append(offer.seed_id)
        seedless = len(passed) >= MOST_ASKED or time.monotonic() - begun > LONGEST_SECONDS
        run = db.awrite if person else db.aread
        offer = await run(
            handouts.replace_seed, person, offer, random.Random(), but=but, passed=passed, seedless=seedless
        )
    return offer


async def _complete(db: Database, host: Host, offer: Offer) -> HandoutOut:
    if not offer.missing or offer.inputs is None:
        return offer.handout
    answers = await targets.gather(host, offer.missing, offer.inputs)  # nothing is held while models think
    await db.awrite(handout_storage.keep, offer.seed_id, answers)
    return handout_storage.add_seed_predictions(offer, answers)


async def play(
    db: Database, host: Host, person: Person | None, task_id: str, body: ExampleIn, key: str, device: str = ""
) -> DraftOutcome:
    """Ask the open round's targets about a draft and record what they said (the sandbox records nothing).

    `device` is the digest of the browser's cookie, where a page sends the draft.
    """
    draft = await db.aread(drafts.draft, person, task_id, body, key)  # field errors end here
    if device:
        draft = replace(draft, writing=replace(draft.writing, device=device))
    if draft.earlier is not None:
        return DraftOutcome(draft, await db.aread(recorded, draft.earlier))
    verdict = await targets.ask(host, draft)  # nothing is held while models think
    if draft.sandbox:
        return DraftOutcome(draft, sandboxed(verdict))
    return DraftOutcome(draft, await db.awrite(record, draft, verdict))  # one short transaction


def judge(session: Session, person: Person, example_id: int, wrong: Sequence[bool]) -> Example:
    """Record what an author says of each answer to their example, in the order of its predictions.

    They may say otherwise until a validator has voted on it. `Conflict` where nobody asked them, or it is too late.
    """
    example = eligibility.own_example(session, person, example_id)
    config = rounds.config_of(session, example.version_id)
    if config.fooled.judged_by != "annotator":
        raise errors.Conflict(_("In this task authors do not judge the models' answers."))
    current = session.get_one(Round, example.round_id, with_for_update={"read": True})
    if current.state == RoundState.RELEASED:
        raise errors.Conflict(
            _("Round %(number)s is released, so its examples can no longer be judged.", number=current.number)
        )
    standing = projections.locked(session, example_id)
    if standing is None or standing.retracted or standing.hidden:
        raise errors.Conflict(_("This example was withdrawn or hidden."))
    _check(standing, example, wrong)
    if [prediction.errs for prediction in example.predictions] == list(wrong):
        return example  # sent again
    session.add_all(
        Judgement(example_id=example.id, prediction_id=prediction.id, by="annotator", person_id=person.id, fooled=flag)
        for prediction, flag in zip(example.predictions, wrong, strict=True)
    )
    session.flush()
    fooled = ensemble_fooled(cast(EnsembleRule, current.fooled_when), wrong)
    projections.count_judgement(session, standing, fooled, list(wrong).count(False), config)
    session.flush()
    session.expire_all()
    return session.scalars(queries.example(example_id)).one()


def _check(standing: Standing, example: Example, wrong: Sequence[bool]) -> None:
    if not example.predictions:
        raise errors.Conflict(_("No model was asked about this example, so there is no answer to judge."))
    if standing.votes:
        raise errors.Conflict(
            _("Validators have already checked this example, so your judgement can no longer change.")
        )
    if len(wrong) != len(example.predictions):
        raise errors.Invalid(
            {"wrong": _("Say for each of the %(n)s answers whether it is wrong.", n=len(example.predictions))}
        )
