"""Drafts of new tasks: texts of the editor that their author alone sees, stored as proposals that are not sent yet."""

import re
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Proposal, ProposalState

MOST_DRAFTS = 20
"""Drafts of one person."""


def list_drafts(session: Session, person: Person) -> Sequence[Proposal]:
    """Return the drafts of a person, the one saved last first."""
    own = (Proposal.person_id == person.id, Proposal.state == ProposalState.DRAFT)
    return session.scalars(select(Proposal).where(*own).order_by(Proposal.created_at.desc(), Proposal.id.desc())).all()


def draft_name(draft: Proposal) -> str:
    """Return the name that a draft's text gives the task, its id where there is no name, or ""."""
    return _setting(draft.source, "name") or draft.task_id


def get_draft(session: Session, person: Person, id: int) -> Proposal:
    """Return a draft of the person; raises `NotFound`."""
    draft = session.get(Proposal, id)
    if draft is None or draft.person_id != person.id or draft.state != ProposalState.DRAFT:
        raise errors.NotFound(_("There is no such draft."))
    return draft


def save_draft(session: Session, person: Person, source: str, note: str = "", id: int = 0) -> Proposal:
    """Save the text of the editor in the draft `id`, or in a new one where the author has no such draft.

    A text that is sent twice is saved once. Raises `Conflict` for too many drafts.
    """
    session.get(Person, person.id, with_for_update=True)  # counted one at a time
    drafts = list_drafts(session, person)
    draft = next((saved for saved in drafts if saved.id == id or (not id and saved.source == source)), None)
    if draft is None:
        if len(drafts) >= MOST_DRAFTS:
            raise errors.Conflict(_("You have %(most)s drafts. Delete one first.", most=MOST_DRAFTS))
        draft = Proposal(person_id=person.id, state=ProposalState.DRAFT)
        session.add(draft)
    draft.task_id = _setting(source, "id")[:60]
    draft.source, draft.note, draft.created_at = source, note.strip()[:1000], now()
    session.flush()
    return draft


def delete_draft(session: Session, person: Person, id: int) -> None:
    """Delete a draft of the person; raises `NotFound`."""
    session.delete(get_draft(session, person, id))


def forget_draft(session: Session, person: Person, id: int) -> None:
    """Delete the draft whose task was created or proposed, where there is one."""
    for draft in list_drafts(session, person):
        if draft.id == id:
            session.delete(draft)


def _setting(source: str, name: str) -> str:
    """Return a setting at the first level of a YAML text that may be wrong elsewhere."""
    match = re.search(rf"^{name}:[ \t]*([^\n#]+)", source, re.MULTILINE)
    return match[1].strip().strip("\"'") if match else ""
