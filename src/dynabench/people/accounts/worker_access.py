"""Workers of crowd platforms: accounts without registration, and the pages that such an account reaches.

A worker is a person who came by a study's address. The account has no password and no mail address; it reaches the
pages on which the worker writes and checks for one task, reads the pay and answers decisions, and everywhere else
counts as a visitor.
"""

import re
import secrets
from base64 import b32encode

from sqlalchemy.orm import Session

from dynabench.kit.db import now
from dynabench.people.accounts.tables import Person

WORKER_SCOPES = frozenset({"read", "annotate"})
"""What a worker may do by the JSON API, as the scopes of a token."""
_NAME = "worker-"
_PAGES = re.compile(
    r"/tasks/([^/]+)(?:/(?:create|context|chat|drawings|suggestions|validate|warning|onboarding)(?:/.*)?)?"
    r"|/api/v1/tasks/([^/]+)/.+"
)
_SHARED = re.compile(
    r"(?:/api/v1)?/(?:examples|conversations|handouts|media|drawings)/.+|/api/v1/attributions|/studies/.+|/language|/pay"
    r"|/api/v1/me/pay|(?:/api/v1)?/me/(?:decisions|appeals)(?:/.*)?|/me/data\.json"
)


def register_worker(session: Session, task_id: str, consent: str) -> Person:
    """Make the account of a worker who came for a task; `consent` names the terms that apply."""
    name = _NAME + b32encode(secrets.token_bytes(10)).decode().lower()
    person = Person(
        username=name,
        email=f"{name}@worker.invalid",
        password_hash="",
        terms=consent,
        agreed_at=now(),
        worker_task=task_id,
    )
    session.add(person)
    session.flush()
    return person


def may_reach(person: Person, path: str) -> bool:
    """Return whether a person's account counts on the page at `path`: everywhere but for workers."""
    if not person.worker_task:
        return True
    match = _PAGES.fullmatch(path)
    if match:
        return person.worker_task in (match[1], match[2])
    return _SHARED.fullmatch(path) is not None
