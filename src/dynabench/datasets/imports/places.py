"""The progress of an import, and the rounds, contexts, people and origins that its rows belong to."""

import secrets
from dataclasses import dataclass, field
from typing import Any, cast

from sqlalchemy import Table, bindparam, func, insert, select, update
from sqlalchemy.orm import Session

from dynabench.collection import search
from dynabench.collection.tables import Example
from dynabench.datasets import rows
from dynabench.datasets.rows import ExampleRow
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.people.accounts.tables import Person
from dynabench.rounds import queries, samplers
from dynabench.rounds.contexts import content_digest, new_keys
from dynabench.rounds.plan import Arm
from dynabench.rounds.tables import Context, Round, RoundState, Target, TaskVersion

KINDS_OF_NOTES = 50


@dataclass
class ImportState:
    """The progress of an import so far; JSON-safe as `vars(state)`, kept from batch to batch.

    `rounds` maps the file's round numbers to rounds here. `waiting` holds pairs of an example and its origin
    that has not come yet. `notes` counts the things that were left out of stored rows.
    """

    created: int = 0
    duplicates: int = 0
    failed: int = 0
    rounds: dict[str, int] = field(default_factory=dict)
    waiting: list[list[str]] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)

    def note(self, text: str, times: int = 1) -> None:
        """Count something that was left out."""
        counted = (
            text if text in self.notes or len(self.notes) < KINDS_OF_NOTES else "Further things that were left out"
        )
        if times:
            self.notes[counted] = self.notes.get(counted, 0) + times


@dataclass(frozen=True)
class NumberedRow:
    """A row with its place in the file."""

    number: int
    row: ExampleRow


EXAMPLES = cast(Table, Example.__table__)
MOST_WAITING = 50_000  # examples whose origin may come later in the file
MISSING = "Examples that were made from one that is not here"


class OriginLinks:
    """The links of a batch, before they are stored."""

    def __init__(self, session: Session, state: ImportState) -> None:
        self.session = session
        self.pending = {pair[0]: pair[1] for pair in state.waiting}
        self.origins = set(self.pending.values())

    def add(self, uid: str, origin: str | None, *, stored: bool = False) -> None:
        """Take a link down, of an example that is new or `stored` without it. Raises `Invalid` for a circle."""
        if origin is None:
            return
        descendants_possible = stored or uid in self.origins  # nothing can have been made from others
        if origin == uid or (descendants_possible and self._leads(origin, uid)):
            raise errors.Invalid(
                {"made_from": _("%(origin)s was perturbed from this example: a circle. Leave one out.", origin=origin)}
            )
        self.pending[uid] = origin
        self.origins.add(origin)

    def _leads(self, start: str, to: str) -> bool:
        at: str | None = start
        while at is not None and at != to:
            at = self.pending.get(at) or self._stored(at)
        return at == to

    def _stored(self, uid: str) -> str | None:
        origin_id = select(Example.made_from).where(Example.uid == uid).scalar_subquery()
        return self.session.scalar(select(Example.uid).where(Example.id == origin_id))


def link_origins(session: Session, task_id: str, links: OriginLinks, state: ImportState) -> None:
    """Point examples to those that they were made from, where these are here; the others wait."""
    uids = sorted({*links.pending, *links.origins})
    ids: dict[str, int] = {}
    for start in range(0, len(uids), 500):
        statement = select(Example.uid, Example.id).join(Round, Round.id == Example.round_id)
        some = statement.where(Round.task_id == task_id, Example.uid.in_(uids[start : start + 500]))
        ids |= {row.uid: row.id for row in session.execute(some)}
    pairs = links.pending.items()
    updates = [{"of": ids[uid], "origin": ids[origin]} for uid, origin in pairs if origin in ids and uid in ids]
    if updates:
        pointing = update(EXAMPLES).where(EXAMPLES.c.id == bindparam("of")).values(made_from=bindparam("origin"))
        session.connection().execute(pointing, updates)
        search.link(session, ((link["of"], link["origin"]) for link in updates))
    waiting = [[uid, origin] for uid, origin in pairs if origin not in ids]
    state.note(MISSING, max(len(waiting) - MOST_WAITING, 0))
    state.waiting = waiting[-MOST_WAITING:]


MOST_ROUNDS, MOST_ARMS = 1_000, 100
NO_AUTHOR = "import"  # stands for the author of examples that name none


def version_numbered(session: Session, task_id: str, number: int) -> tuple[TaskVersion, bool]:
    """The version of the config with this number, and whether there is one; else the newest."""
    config_version = session.scalar(queries.versions(task_id).where(TaskVersion.number == number))
    if config_version is not None:
        return config_version, True
    return session.scalars(queries.versions(task_id).limit(1)).one(), False


def round_for_row(
    session: Session, task_id: str, row: ExampleRow, config_version: TaskVersion, round_ids: dict[str, int]
) -> int:
    """The closed round for a row: one for each number in the file, under the same number where that is free.

    `known` holds those made so far. Targets and arms grow as rows name them.
    """
    key = str(row.round)
    if key in round_ids:
        round_ = session.get_one(Round, round_ids[key])
    else:
        if len(round_ids) >= MOST_ROUNDS:
            raise errors.Invalid(
                {"round": _("A file may have at most %(most_rounds)s rounds.", most_rounds=f"{MOST_ROUNDS:,}")}
            )
        numbers = set(session.scalars(select(Round.number).where(Round.task_id == task_id)))
        number = row.round if row.round and row.round not in numbers else max(numbers, default=0) + 1
        ensemble = row.condition.ensemble
        round_ = Round(
            task_id=task_id, number=number, version_id=config_version.id, state=RoundState.CLOSED,
            fooled_when=ensemble, arms=[], opened_at=now(), closed_at=now(),
        )  # fmt: skip
        session.add(round_)
        session.flush()
        round_ids[key] = round_.id
    _condition(session, round_, row)
    return round_.id


def _condition(session: Session, round_: Round, row: ExampleRow) -> None:
    condition = row.condition
    targets = [(target.model, target.version) for target in condition.targets]
    if targets and not round_.targets:
        round_.targets = [
            Target(position=place, model=model, version=version) for place, (model, version) in enumerate(targets)
        ]
    others = bool(targets) and [(target.model, target.version) for target in round_.targets] != targets
    if others and not condition.arm:
        raise errors.Invalid({"condition.targets": _("Other examples of this round have other targets.")})
    if condition.ensemble != round_.fooled_when:
        raise errors.Invalid({"condition.ensemble": _("Other examples of this round have another rule.")})
    if condition.arm:
        own = [{"model": model, "version": version} for model, version in targets]
        arm: Arm = {"name": condition.arm, "share": condition.share or 1}
        arm["targets"] = (own if others else "round") if targets else "none"
        arm |= {"assistant": True} if condition.assistant else {}
        arms = {entry["name"]: entry for entry in round_.arms}
        if arms.get(condition.arm, arm)["targets"] != arm["targets"]:
            raise errors.Invalid({"condition.targets": _("Other examples of this arm have other settings.")})
        if condition.arm not in arms and len(arms) >= MOST_ARMS:
            raise errors.Invalid(
                {"condition.arm": _("A round may have at most %(most_arms)s arms.", most_arms=MOST_ARMS)}
            )
        if condition.arm not in arms:
            round_.arms = [*round_.arms, arm]


def ensure_contexts(session: Session, task_id: str, tagged_values: list[tuple[dict[str, Any], str]]) -> list[int]:
    """The ids of clean contexts with their tags, in order; those that the task lacks are added."""
    keys = [content_digest(values) for values, _ in tagged_values]
    ids = _context_ids(session, task_id, keys)
    moment = samplers.clock_time(session, task_id)
    new = {
        key: {"task_id": task_id, "digest": key, "values": values, "tag": tag, **new_keys(moment)}
        for key, (values, tag) in zip(keys, tagged_values, strict=True)
        if key not in ids
    }
    if new:
        session.execute(insert(Context), list(new.values()))
        ids |= _context_ids(session, task_id, list(new))
        for key, row in new.items():
            media.bind_media(session, task_id, row["values"], context_id=ids[key])
    return [ids[key] for key in keys]


def _context_ids(session: Session, task_id: str, keys: list[str]) -> dict[str, int]:
    statement = select(Context.digest, Context.id).where(Context.task_id == task_id, Context.digest.in_(set(keys)))
    return {row.digest: row.id for row in session.execute(statement)}


def ensure_people(session: Session, settings: Settings, names: set[str]) -> dict[str, int]:
    """Accounts that nobody can log in to, one for each pseudonym; other names are made pseudonyms first."""
    called = {name: imported_pseudonym(settings, name) for name in names}
    pseudonyms = set(called.values())
    ids = _placeholders(session, pseudonyms)
    if missing := pseudonyms - ids.keys():
        used_names = {name.lower() for name in session.scalars(
            select(Person.username).where(func.lower(Person.username).in_(missing)))}  # fmt: skip
        session.execute(insert(Person), [_placeholder(name, name in used_names) for name in sorted(missing)])
        ids |= _placeholders(session, missing)
    return {name: ids[called[name]] for name in names}


def imported_pseudonym(settings: Settings, name: str) -> str:
    """The pseudonym that stands in a file, or one for whatever else a file calls a person."""
    return name if rows.PSEUDONYM.fullmatch(name) else rows.foreign_pseudonym(settings, name or NO_AUTHOR)


def _placeholders(session: Session, names: set[str]) -> dict[str, int]:
    statement = select(Person.imported_as, Person.id).where(Person.imported_as.in_(names))
    return {str(name): person for name, person in session.execute(statement)}


def _placeholder(name: str, name_used: bool) -> dict[str, Any]:
    """An empty hash is no password's; the address cannot be written to (RFC 2606)."""
    username = f"{name[:30]}-{secrets.token_hex(4)}" if name_used else name
    at = now()
    return {
        "username": username, "email": f"{username}@imported.invalid", "password_hash": "", "pseudonym": "",
        "imported_as": name, "admin": False, "terms": "imported", "agreed_at": at, "created_at": at,
    }  # fmt: skip
