"""Rounds, contexts and people that imported rows belong to, found or created."""

import secrets
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from dynabench.datasets import rows
from dynabench.datasets.rows import Row
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.people.accounts.tables import Person
from dynabench.rounds import queries
from dynabench.rounds.arms import Arm
from dynabench.rounds.contexts import digest, new_keys
from dynabench.rounds.samplers import weighted
from dynabench.rounds.tables import Context, Round, RoundState, Target, TaskVersion

MOST_ROUNDS, MOST_ARMS = 1_000, 100
NOBODY = "import"  # stands for the author of examples that name none


def version(session: Session, task_id: str, number: int) -> tuple[TaskVersion, bool]:
    """The version of the config with this number, and whether there is one; else the newest."""
    found = session.scalar(queries.versions(task_id).where(TaskVersion.number == number))
    if found is not None:
        return found, True
    return session.scalars(queries.versions(task_id).limit(1)).one(), False


def round_of(session: Session, task_id: str, row: Row, of: TaskVersion, known: dict[str, int]) -> int:
    """The closed round for a row: one for each number in the file, under the same number where that is free.

    `known` holds those made so far. Targets and arms grow as rows name them.
    """
    key = str(row.round)
    if key in known:
        found = session.get_one(Round, known[key])
    else:
        if len(known) >= MOST_ROUNDS:
            raise errors.Invalid(
                {"round": _("A file may have up to %(most_rounds)s rounds.", most_rounds=f"{MOST_ROUNDS:,}")}
            )
        taken = set(session.scalars(select(Round.number).where(Round.task_id == task_id)))
        number = row.round if row.round and row.round not in taken else max(taken, default=0) + 1
        ensemble = row.condition.ensemble
        found = Round(
            task_id=task_id, number=number, version_id=of.id, state=RoundState.CLOSED, fooled_when=ensemble, arms=[],
            opened_at=now(), closed_at=now(),
        )  # fmt: skip
        session.add(found)
        session.flush()
        known[key] = found.id
    _condition(session, found, row)
    return found.id


def _condition(session: Session, found: Round, row: Row) -> None:
    condition = row.condition
    asked = [(target.model, target.version) for target in condition.targets]
    if asked and not found.targets:
        found.targets = [
            Target(position=place, model=model, version=version) for place, (model, version) in enumerate(asked)
        ]
    others = bool(asked) and [(target.model, target.version) for target in found.targets] != asked
    if others and not condition.arm:
        raise errors.Invalid({"condition.targets": _("Other examples of this round have other targets.")})
    if condition.ensemble != found.fooled_when:
        raise errors.Invalid({"condition.ensemble": _("Other examples of this round have another rule.")})
    if condition.arm:
        own = [{"model": model, "version": version} for model, version in asked]
        arm: Arm = {"name": condition.arm, "share": condition.share or 1}
        arm["targets"] = (own if others else "round") if asked else "none"
        arm |= {"assistant": True} if condition.assistant else {}
        known = {one["name"]: one for one in found.arms}
        if known.get(condition.arm, arm)["targets"] != arm["targets"]:
            raise errors.Invalid({"condition.targets": _("Other examples of this arm were told otherwise.")})
        if condition.arm not in known and len(known) >= MOST_ARMS:
            raise errors.Invalid(
                {"condition.arm": _("A round may have up to %(most_arms)s arms.", most_arms=MOST_ARMS)}
            )
        if condition.arm not in known:
            found.arms = [*found.arms, arm]


def contexts(session: Session, task_id: str, wanted: list[tuple[dict[str, Any], str]]) -> list[int]:
    """The ids of clean contexts with their tags, in order; those that the task lacks are added."""
    keys = [digest(values) for values, _ in wanted]
    ids = _known(session, task_id, keys)
    moment = weighted.time(session, task_id)
    new = {
        key: {"task_id": task_id, "digest": key, "values": values, "tag": tag, **new_keys(moment)}
        for key, (values, tag) in zip(keys, wanted, strict=True)
        if key not in ids
    }
    if new:
        session.execute(insert(Context), list(new.values()))
        ids |= _known(session, task_id, list(new))
        for key, row in new.items():
            media.bind_media(session, task_id, row["values"], context_id=ids[key])
    return [ids[key] for key in keys]


def _known(session: Session, task_id: str, keys: list[str]) -> dict[str, int]:
    found = select(Context.digest, Context.id).where(Context.task_id == task_id, Context.digest.in_(set(keys)))
    return {row.digest: row.id for row in session.execute(found)}


def people(session: Session, settings: Settings, names: set[str]) -> dict[str, int]:
    """Accounts that nobody can log in to, one for each pseudonym; other names are made pseudonyms first."""
    called = {name: pseudonym(settings, name) for name in names}
    wanted = set(called.values())
    ids = _placeholders(session, wanted)
    if missing := wanted - ids.keys():
        taken = {name.lower() for name in session.scalars(
            select(Person.username).where(func.lower(Person.username).in_(missing)))}  # fmt: skip
        session.execute(insert(Person), [_placeholder(name, name in taken) for name in sorted(missing)])
        ids |= _placeholders(session, missing)
    return {name: ids[called[name]] for name in names}


def pseudonym(settings: Settings, name: str) -> str:
    """The pseudonym that stands in a file, or one for whatever else a file calls somebody."""
    return name if rows.PSEUDONYM.fullmatch(name) else rows.foreign_pseudonym(settings, name or NOBODY)


def _placeholders(session: Session, names: set[str]) -> dict[str, int]:
    statement = select(Person.imported_as, Person.id).where(Person.imported_as.in_(names))
    return {str(name): person for name, person in session.execute(statement)}


def _placeholder(name: str, taken: bool) -> dict[str, Any]:
    """An empty hash is no password's; the address cannot be written to (RFC 2606)."""
    username = f"{name[:30]}-{secrets.token_hex(4)}" if taken else name
    at = now()
    return {
        "username": username, "email": f"{username}@imported.invalid", "password_hash": "", "pseudonym": "",
        "imported_as": name, "admin": False, "terms": "imported", "agreed_at": at, "created_at": at,
    }  # fmt: skip
