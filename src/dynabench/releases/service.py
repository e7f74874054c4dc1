"""Releasing a round: asked for, frozen in one transaction, finished once its files are written."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from dynabench import errors, jobs
from dynabench.accounts.tables import Person
from dynabench.collection.released_tables import WITHHELD, ReleasedExample
from dynabench.collection.tables import Example, Standing
from dynabench.datasets import library, library_queries
from dynabench.datasets.library_schemas import Settled
from dynabench.datasets.stored import Written
from dynabench.datasets.tables import Dataset
from dynabench.db import now
from dynabench.language import _
from dynabench.notices import service as notices
from dynabench.notices import webhooks
from dynabench.people import may
from dynabench.people.may import Action
from dynabench.releases import planning
from dynabench.releases.checks import ReleaseReport
from dynabench.releases.manifest import Manifest
from dynabench.releases.planning import Plan
from dynabench.releases.tables import Release, ReleaseState
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.settings import Settings
from dynabench.tasks.sections import ReleaseSettings as Rules

KIND = "release_round"
DECIDED = (ReleaseState.WRITING, ReleaseState.READY)
"""States in which the round is frozen."""


def rules_of(session: Session, task: str, number: int, changes: dict[str, Any]) -> Rules:
    """The rules of the round's config with `changes`. Raises `NotFound`, and `Invalid` where they make no whole."""
    found = rounds.round_of(session, task, number)
    base = rounds.config_of(session, found.version_id).release.model_dump()
    try:
        return Rules.model_validate(base | changes)
    except ValidationError as problem:
        wrong = {
            str((each["loc"] or ("train",))[0]): each["msg"].removeprefix("Value error, ") for each in problem.errors()
        }
        raise errors.Invalid(wrong) from None


def of_round(session: Session, task: str, number: int) -> Release | None:
    """The release of a round, in whatever state; `NotFound` where there is no such round."""
    found = rounds.round_of(session, task, number)
    return session.scalar(select(Release).where(Release.round_id == found.id))


def visible(session: Session, viewer: Person | None, task: str, number: int) -> Release:
    """The release, ready for everybody, else for owners alone; `NotFound` for others."""
    found = of_round(session, task, number)
    if found is None or (
        found.state != ReleaseState.READY and not may.may_in(session, viewer, Action.RELEASE_ROUND, task)
    ):
        raise errors.NotFound(_("Round %(number)s of %(task)s is not released.", number=number, task=task))
    return found


def listed(session: Session, task: str) -> list[tuple[Release, Round]]:
    """The releases of a task that are ready, newest round first."""
    rounds.task(session, task)
    found = select(Release, Round).join(Round, Round.id == Release.round_id).where(Release.task_id == task)
    rows = session.execute(found.where(Release.state == ReleaseState.READY).order_by(Round.number.desc()))
    return [(row[0], row[1]) for row in rows]


def start(session: Session, person: Person | None, task: str, number: int, rules: Rules, anyway: bool) -> Release:
    """Ask for a round's release (owners). Raises `Conflict` unless it is closed, or where it was asked for already."""
    made = begin(session, person, task, number, rules, anyway)
    made.job_id = jobs.enqueue(session, KIND, {"release": made.id}, person.id if person else None).id
    return made


def begin(session: Session, person: Person | None, task: str, number: int, rules: Rules, anyway: bool) -> Release:
    """The release as somebody wants it, for whoever makes it; one that failed is begun anew."""
    rounds.require(session, person, Action.RELEASE_ROUND, task)
    found = rounds.round_of(session, task, number)
    of = session.get_one(Round, found.id, with_for_update=True)
    made = session.scalar(select(Release).where(Release.round_id == of.id))
    if made is not None and made.state != ReleaseState.FAILED:
        raise errors.Conflict(_("Round %(number)s is released, or about to be.", number=number))
    frozen = made is not None and bool(made.report)
    if of.state != RoundState.CLOSED and not frozen:
        raise errors.Conflict(
            _("Round %(number)s is %(state)s; only a closed round is released.", number=number, state=of.state)
        )
    if made is None:
        made = Release(round_id=of.id, task_id=task, rules={})
        session.add(made)
    made.state, made.reason, made.anyway = ReleaseState.WRITING if frozen else ReleaseState.QUEUED, "", anyway
    made.rules = made.rules if frozen else rules.model_dump(mode="json")
    made.created_by = person.id if person else None
    session.flush()
    return made


def freeze(session: Session, release_id: int, plan: Plan) -> str:
    """Let the plan hold, if nothing has changed since it was made: from now on the round's data stay as they are.

    `frozen`, or `changed` where somebody voted or retracted meanwhile. Done twice it is done once. Raises `Conflict`
    for what the checks found.
    """
    release = session.get_one(Release, release_id, with_for_update=True)
    if release.state in DECIDED:
        return "frozen"
    of = session.get_one(Round, release.round_id, with_for_update=True)
    if problems := plan.report.stopped or ([] if release.anyway else plan.report.warnings):
        raise errors.Conflict(" ".join(problems))
    # Whoever votes holds a standing's lock: they come before this, or find the round released.
    session.execute(select(Standing.example_id).where(Standing.round_id == of.id).with_for_update()).all()
    if of.state != RoundState.CLOSED or planning.fingerprint(session, of.id) != plan.seen:
        return "changed"
    parts = plan.divided.parts
    ids = planning.ids_of(session, of.id, list(parts))
    rows = [{"example_id": ids[uid], "round_id": of.id, "part": part} for uid, part in parts.items()]
    if rows:
        session.execute(insert(ReleasedExample), rows)
    away = select(ReleasedExample.example_id).where(ReleasedExample.round_id == of.id)
    away = away.where(ReleasedExample.part.in_(WITHHELD))
    withheld = update(Standing).where(Standing.example_id.in_(away)).values(withheld=True)
    session.execute(withheld.execution_options(synchronize_session=False))
    of.state = RoundState.RELEASED
    release.state, release.report = ReleaseState.WRITING, plan.report.model_dump(mode="json")
    rounds.act(
        session,
        _asker(session, release),
        "round.released",
        task=of.task_id,
        round=of.number,
        examples=plan.report.parts,
    )
    return "frozen"


def parts_of(session: Session, round_id: int) -> dict[str, str]:
    """The part of each of a released round's examples, by uid."""
    found = select(Example.uid, ReleasedExample.part).join(Example, Example.id == ReleasedExample.example_id)
    return dict(session.execute(found.where(ReleasedExample.round_id == round_id)).all())


def finish(session: Session, release_id: int, made: Manifest, test: Written, hidden: Written) -> Release:
    """Let the release stand with its files, enter the round's targets for the task, and have every model of the task
    evaluated on both parts. Done twice it is done once."""
    release = session.get_one(Release, release_id, with_for_update=True)
    if release.state == ReleaseState.READY:
        return release
    of = session.get_one(Round, release.round_id)
    actor = _asker(session, release)
    if test.rows:
        release.test_id = _test(session, actor, of, test)
    if hidden.rows:
        release.hidden_id = _hidden(session, actor, of, hidden)
    release.manifest, release.digest = made.model_dump(mode="json"), made.digest
    release.state, release.released_at = ReleaseState.READY, now()
    jobs.enqueue(session, "enter_targets", {"task": of.task_id, "round": of.number})
    page = f"/tasks/{of.task_id}/rounds/{of.number}/release"
    told = {"task": of.task_id, "round": of.number, "digest": made.digest, "page": page}
    webhooks.emit(session, of.task_id, "round.released", told)
    if actor is not None:
        notices.tell(
            session,
            actor.id,
            "dataset",
            _("Round %(number)s of %(task_id)s is released.", number=of.number, task_id=of.task_id),
            link=page,
        )
    return release


def _asker(session: Session, release: Release) -> Person | None:
    """Who asked for it, as long as they own the task; else it is the platform's own act."""
    person = session.get(Person, release.created_by) if release.created_by else None
    return person if may.may_in(session, person, Action.RELEASE_ROUND, release.task_id) else None


def _test(session: Session, actor: Person | None, of: Round, written: Written) -> int:
    """The public part as the round's dataset. One that was made of the round before has rows of the hidden part, too:
    it is retired, and hidden for good unless everybody has its rows already."""
    earlier = session.scalar(library_queries.of_round(of.id))
    if earlier is not None:
        earlier.round_id, earlier.retired_at = None, earlier.retired_at or now()
        if not library.was_public(session, earlier):
            earlier.kind, earlier.visibility = "secret", "hidden"
        session.flush()
    name = library.fresh_name(session, of.task_id, f"round-{of.number}{'-test' if earlier else ''}")
    return _version(
        session, actor, _add(session, actor, of, name, "test", "public", kind="round", round_id=of.id), written
    )


def _hidden(session: Session, actor: Person | None, of: Round, written: Written) -> int:
    """The hidden part as a dataset that nobody reads."""
    name = library.fresh_name(session, of.task_id, f"round-{of.number}-hidden")
    return _version(session, actor, _add(session, actor, of, name, "hidden", "hidden", kind="secret"), written)


def _add(
    session: Session, actor: Person | None, of: Round, name: str, part: str, visibility: Any, **more: Any
) -> Dataset:
    licence = rounds.config_of(session, of.version_id).data.licence
    title = f"Round {of.number}, {part} part"
    card = _("The part %(part)s of the release of round %(number)s.", part=part, number=of.number)
    settled = Settled(title=title, licence=licence, card=card, visibility=visibility)
    return library.add(session, actor, of.task_id, name, settled, **more)


def _version(session: Session, actor: Person | None, dataset: Dataset, written: Written) -> int:
    return library.ready(session, library.draft(session, actor, dataset).id, written).id


def fail(session: Session, release_id: int, reason: str) -> None:
    """Let a release fail; it can be asked for again."""
    release = session.get_one(Release, release_id, with_for_update=True)
    if release.state != ReleaseState.READY:
        release.state, release.reason = ReleaseState.FAILED, reason[:2000]
        if release.created_by is not None:
            of = session.get_one(Round, release.round_id)
            page = f"/tasks/{of.task_id}/manage/rounds/{of.number}/release"
            notices.tell(
                session,
                release.created_by,
                "dataset",
                _("Round %(number)s is not released.", number=of.number),
                link=page,
            )


def report_of(release: Release) -> ReleaseReport | None:
    """What the checks found when the round was frozen."""
    return ReleaseReport.model_validate(release.report) if release.report else None


def folder(settings: Settings, release_id: int) -> Path:
    """Where the files of a release lie."""
    return settings.folder / "releases" / str(release_id)
