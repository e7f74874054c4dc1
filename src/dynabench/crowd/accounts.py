"""The accounts at crowd platforms that a task's owners connect, and the client that calls a platform."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlalchemy.orm import Session

from dynabench.crowd import queries
from dynabench.crowd.provider import CrowdAccount, CrowdProvider, all_providers
from dynabench.crowd.tables import CrowdCredentials, Study
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.outgoing.addresses import AllowedHosts
from dynabench.kit.outgoing.client import OutgoingClient
from dynabench.kit.sealing import seal, unseal
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds

SEALED_FOR = "crowd credentials"
SETTING = "DYNABENCH_CROWD_HOSTS"
LONGEST_SECRET = 500


@contextmanager
def connected(
    settings: Settings, provider: CrowdProvider, credentials: Mapping[str, str] | None
) -> Iterator[CrowdAccount | None]:
    """An account that can be called while the block runs; None for a platform without accounts."""
    if credentials is None:
        yield None
        return
    client = OutgoingClient(AllowedHosts.read(settings.crowd_hosts, SETTING), connections=2)
    try:
        yield CrowdAccount(credentials, settings.crowd_urls.get(provider.name, provider.address), client)
    finally:
        client.close()


def clean_credentials(provider: CrowdProvider, secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets of an account; raises `Invalid` under the name of each that lacks."""
    cleaned = {name: secrets.get(name, "").strip()[:LONGEST_SECRET] for name in provider.credential_fields}
    lacking = [name for name, secret in cleaned.items() if not secret and name not in provider.optional_credentials]
    if lacking:
        raise errors.Invalid({name: _("This is needed.") for name in lacking})
    return cleaned


def check_credentials(settings: Settings, provider_name: str, secrets: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Ask the platform whose account some secrets open; return its name there and the cleaned secrets. Blocks."""
    provider = all_providers().get(provider_name)
    if provider is None or not provider.credential_fields:
        raise errors.Invalid({"provider": _("Choose a crowd platform that has accounts.")})
    cleaned = clean_credentials(provider, secrets)
    with connected(settings, provider, cleaned) as account:
        if account is None:
            raise errors.Invalid({"provider": _("Choose a crowd platform that has accounts.")})
        return provider.check_account(account), cleaned


def connect_account(
    session: Session,
    owner: Person | None,
    task_id: str,
    key: bytes,
    provider_name: str,
    name: str,
    secrets: Mapping[str, str],
) -> CrowdCredentials:
    """Keep an account at a platform, encrypted, for the studies of a task; it takes the place of an earlier one.

    Studies under way go on with the new secrets: they are of the same platform account or will be refused there.
    """
    rounds.require(session, owner, Action.RUN_STUDIES, task_id)
    sealed = seal(key, SEALED_FOR, json.dumps(dict(secrets)).encode())
    credentials = session.scalars(queries.credentials(task_id, provider_name)).first()
    if credentials is None:
        credentials = CrowdCredentials(task_id=task_id, provider=provider_name)
        session.add(credentials)
    credentials.name, credentials.sealed = name[:100], sealed
    credentials.created_by = owner.id if owner else None
    session.flush()
    rounds.record_act(session, owner, "crowd.connected", task=task_id, provider=provider_name, account=name[:100])
    return credentials


def disconnect_account(session: Session, owner: Person | None, task_id: str, provider_name: str) -> None:
    """Forget the account of a task at a platform; its secrets are overwritten."""
    rounds.require(session, owner, Action.RUN_STUDIES, task_id)
    for credentials in session.scalars(queries.credentials(task_id, provider_name)):
        credentials.sealed, credentials.removed_at = "", now()
    rounds.record_act(session, owner, "crowd.disconnected", task=task_id, provider=provider_name)


def secrets_of_task(session: Session, key: bytes, task_id: str, provider_name: str) -> dict[str, str] | None:
    """Return the secrets of the account that a task has at a platform; None where it has none that opens."""
    credentials = session.scalars(queries.credentials(task_id, provider_name)).first()
    opened = unseal(key, SEALED_FOR, credentials.sealed) if credentials else None
    return json.loads(opened) if opened else None


def secrets_of_study(session: Session, key: bytes, study: Study) -> dict[str, str] | None:
    """Return the secrets that the calls of a study need; None for a platform without accounts.

    Raises `Conflict` where the platform needs an account and the task has none.
    """
    provider = all_providers().get(study.provider)
    if provider is None or not provider.credential_fields:
        return None
    secrets = secrets_of_task(session, key, study.task_id, study.provider)
    if secrets is None:
        raise errors.Conflict(
            _("Connect a %(platform)s account to this task first: Manage, Crowd studies.", platform=provider.title)
        )
    return secrets
