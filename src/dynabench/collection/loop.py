"""The live loop: check a draft, ask the models, record what they said. Pages and the JSON API both come here."""

from dataclasses import dataclass

from dynabench.accounts.tables import Person
from dynabench.collection import drafts, service, targets
from dynabench.collection.drafts import Draft
from dynabench.collection.schemas import ExampleIn, OutcomeOut
from dynabench.db import Database
from dynabench.models.client import Host


@dataclass(frozen=True)
class Told:
    """What the annotator reads: the checked draft and its outcome."""

    draft: Draft
    outcome: OutcomeOut


async def play(db: Database, host: Host, person: Person | None, task_id: str, body: ExampleIn, key: str) -> Told:
    """Ask the open round's targets about a draft and record what they said (the sandbox records nothing)."""
    draft = await db.aread(drafts.draft, person, task_id, body, key)  # field errors end here
    if draft.earlier is not None:
        return Told(draft, await db.aread(service.recorded, draft.earlier))
    verdict = await targets.ask(host, draft)  # nothing is held while models think
    if draft.sandbox:
        return Told(draft, service.sandboxed(verdict))
    return Told(draft, await db.awrite(service.record, draft, verdict))  # one short transaction
