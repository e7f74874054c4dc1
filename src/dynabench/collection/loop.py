"""The live loop: hand out, check a draft, ask the models, record what they said. Pages and the JSON API come here."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from dynabench.collection import drafts, handouts, service, targets
from dynabench.collection.drafts import Draft
from dynabench.collection.handouts import Offer
from dynabench.collection.schemas import ExampleIn, HandoutOut, OutcomeOut
from dynabench.kit.db import Database
from dynabench.models.client import Host
from dynabench.people.accounts.tables import Person


@dataclass(frozen=True)
class Told:
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
    """
    run = db.awrite if person else db.aread
    return await _complete(db, host, await run(handouts.hand_out, person, task_id, random.Random(), but, link))


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
    None also where the person came by another `link` since.
    """
    offer = await db.aread(handouts.current, person, task_id, context_id=context_id, handout_id=handout_id, link=link)
    return await _complete(db, host, offer) if offer else None


async def perturb(db: Database, host: Host, person: Person, example_id: int, task_id: str = "") -> HandoutOut:
    """One's own example (of this task, where named) again, to be edited minimally so that its answer flips."""
    offer = await db.awrite(handouts.perturb, person, example_id, random.Random(), task_id)
    return await _complete(db, host, offer)


async def _complete(db: Database, host: Host, offer: Offer) -> HandoutOut:
    """The handout with what models say of its seed, asked where nobody has asked before."""
    if not offer.missing or offer.inputs is None:
        return offer.given
    answers = await targets.gather(host, offer.missing, offer.inputs)  # nothing is held while models think
    await db.awrite(handouts.keep, offer.seed_id, answers)
    return handouts.told(offer, answers)


async def play(db: Database, host: Host, person: Person | None, task_id: str, body: ExampleIn, key: str) -> Told:
    """Ask the open round's targets about a draft and record what they said (the sandbox records nothing)."""
    draft = await db.aread(drafts.draft, person, task_id, body, key)  # field errors end here
    if draft.earlier is not None:
        return Told(draft, await db.aread(service.recorded, draft.earlier))
    verdict = await targets.ask(host, draft)  # nothing is held while models think
    if draft.sandbox:
        return Told(draft, service.sandboxed(verdict))
    return Told(draft, await db.awrite(service.record, draft, verdict))  # one short transaction
