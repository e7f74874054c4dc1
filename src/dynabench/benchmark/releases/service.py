"""The rules of releases: requested, frozen in one transaction, finished once the files are written."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from dynabench.benchmark.releases import planning
from dynabench.benchmark.releases.division import ReleaseReport
from dynabench.benchmark.releases.manifest import ReleaseManifest
from dynabench.benchmark.releases.planning import ReleasePlan
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.collection.tables import WITHHELD, Example, ReleasedExample, Standing
from dynabench.datasets import library
from dynabench.datasets.schemas import DatasetSettings
from dynabench.datasets.stored import WrittenRows
from dynabench.datasets.tables import Dataset
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people import disclosure, may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.people.notices import webhooks
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.tasks.sections import ReleaseSettings as Rules

KIND = "release_round"
DECIDED = (ReleaseState.WRITING, ReleaseState.READY)
"""States in which the round is frozen."""


def release_rules(session: Session, task: str, number: int, changes: dict[str, Any]) -> Rules:
    """Return the rules of the round's config with `changes`. Raises `NotFound`, and `Invalid` for rules that do not
    fit."""
    round_ = rounds.round_of(session, task, number)
    base = rounds.config_of(session, round_.version_id).release.model_dump()
    try:
        return Rules.model_validate(base | changes)
    except ValidationError as problem:
        problems = {
            str((problem_entry["loc"] or ("train",))[0]): problem_entry["msg"].removeprefix("Value error, ")
            for problem_entry in problem.errors()
        }
        raise errors.Invalid(problems) from None


def release_of_round(session: Session, task: str, number: int) -> Release | None:
    """Return the release of a round in any state, or None; raises `NotFound` where there is no such round."""
    round_ = rounds.round_of(session, task, number)
    return session.scalar(select(Release).where(Release.round_id == round_.id))


def visible_release(session: Session, viewer: Person | None, task: str, number: int) -> Release:
    """Return a release that the viewer may see: every viewer a ready one, owners any; raises `NotFound` for others."""
    release = release_of_round(session, task, number)
    if release is None or (
        release.state != ReleaseState.READY and not may.may_in(session, viewer, Action.RELEASE_ROUND, task)
    ):
        raise errors.NotFound(_("Round %(number)s of %(task)s is not released.", number=number, task=task))
    return release


def ready_releases(session: Session, task: str) -> list[tuple[Release, Round]]:
    """Return the ready releases of a task with their rounds, newest round first."""
    rounds.get_task(session, task)
    statement = select(Release, Round).join(Round, Round.id == Release.round_id).where(Release.task_id == task)
    rows = session.execute(statement.where(Release.state == ReleaseState.READY).order_by(Round.number.desc()))
    return [(row[0], row[1]) for row in rows]


def start_release(
    session: Session, person: Person | None, task: str, number: int, rules: Rules, anyway: bool
) -> Release:
    """Start a round's release (owners). Raises `Conflict` unless it is closed, or where a release exists already."""
    release = prepare_release(session, person, task, number, rules, anyway)
    release.job_id = jobs.enqueue(session, KIND, {"release": release.id}, person.id if person else None).id
    return release


def prepare_release(
    session: Session, person: Person | None, task: str, number: int, rules: Rules, anyway: bool
) -> Release:
    """Create the release without a job, for the caller to make; a failed one is prepared anew."""
    rounds.require(session, person, Action.RELEASE_ROUND, task)
    round_row = rounds.round_of(session, task, number)
    locked_round = session.get_one(Round, round_row.id, with_for_update=True)
    release = session.scalar(select(Release).where(Release.round_id == locked_round.id))
    if release is not None and release.state != ReleaseState.FAILED:
        raise errors.Conflict(_("Round %(number)s is already released or being released.", number=number))
    frozen = release is not None and bool(release.report)
    if locked_round.state != RoundState.CLOSED and not frozen:
        raise errors.Conflict(
            _(
                "Round %(number)s is %(state)s; only a closed round is released.",
                number=number,
                state=locked_round.state,
            )
        )
    if release is None:
        release = Release(round_id=locked_round.id, task_id=task, rules={})
        session.add(release)
    release.state, release.reason, release.anyway = ReleaseState.WRITING if frozen else ReleaseState.QUEUED, "", anyway
    release.rules = release.rules if frozen else rules.model_dump(mode="json")
    release.created_by = person.id if person else None
    session.flush()
    return release


def freeze_round(session: Session, release_id: int, plan: ReleasePlan) -> str:
    """Apply the plan if nothing has changed since it was made: from then on the round's data stay as they are.

    Returns `frozen`, or `changed` where a person voted or retracted meanwhile. A second call does nothing. Raises
    `Conflict` for findings of the checks.
    """
    release = session.get_one(Release, release_id, with_for_update=True)
    if release.state in DECIDED:
        return "frozen"
    round_ = session.get_one(Round, release.round_id, with_for_update=True)
    if problems := plan.report.stopped or ([] if release.anyway else plan.report.warnings):
        raise errors.Conflict(" ".join(problems))
    # A request that votes holds a standing's lock: it comes before this, or meets a released round.
    session.execute(select(Standing.example_id).where(Standing.round_id == round_.id).with_for_update()).all()
    if round_.state != RoundState.CLOSED or planning.fingerprint(session, round_.id) != plan.seen:
        return "changed"
    parts = plan.divided.parts
    ids = planning.example_ids(session, round_.id, list(parts))
    rows = [{"example_id": ids[uid], "round_id": round_.id, "part": part} for uid, part in parts.items()]
    if rows:
        session.execute(insert(ReleasedExample), rows)
    hidden_ids = select(ReleasedExample.example_id).where(ReleasedExample.round_id == round_.id)
    hidden_ids = hidden_ids.where(ReleasedExample.part.in_(WITHHELD))
    withheld = update(Standing).where(Standing.example_id.in_(hidden_ids)).values(withheld=True)
    session.execute(withheld.execution_options(synchronize_session=False))
    round_.state = RoundState.RELEASED
    release.state, release.report = ReleaseState.WRITING, plan.report.model_dump(mode="json")
    rounds.record_act(
        session,
        _asker(session, release),
        "round.released",
        task=round_.task_id,
        round=round_.number,
        examples=plan.report.parts,
    )
    return "frozen"


def part_by_uid(session: Session, round_id: int) -> dict[str, str]:
    """Return the part of each of a released round's examples, by uid."""
    statement = select(Example.uid, ReleasedExample.part).join(Example, Example.id == ReleasedExample.example_id)
    return dict(session.execute(statement.where(ReleasedExample.round_id == round_id)).all())


def finish_release(
    session: Session, release_id: int, release_manifest: ReleaseManifest, test: WrittenRows, hidden: WrittenRows
) -> Release:
    """Store the release's manifest, submit the round's targets for the task, and have all models evaluated on both
    test parts. A second call does nothing."""
    release = session.get_one(Release, release_id, with_for_update=True)
    if release.state == ReleaseState.READY:
        return release
    round_ = session.get_one(Round, release.round_id)
    actor = _asker(session, release)
    if test.rows:
        release.test_id = _test(session, actor, round_, test)
    if hidden.rows:
        release.hidden_id = _hidden(session, actor, round_, hidden)
    release.manifest, release.digest = release_manifest.model_dump(mode="json"), release_manifest.digest
    release.state, release.released_at = ReleaseState.READY, now()
    jobs.enqueue(session, "enter_targets", {"task": round_.task_id, "round": round_.number})
    page = f"/tasks/{round_.task_id}/rounds/{round_.number}/release"
    message = {"task": round_.task_id, "round": round_.number, "digest": release_manifest.digest, "page": page}
    webhooks.emit_event(session, round_.task_id, "round.released", message)
    if actor is not None:
        notices.notify_person(
            session,
            actor.id,
            "dataset",
            _("Round %(number)s of %(task_id)s is released.", number=round_.number, task_id=round_.task_id),
            link=page,
        )
    return release


def _asker(session: Session, release: Release) -> Person | None:
    """The person who started it while they own the task; else None, the platform itself."""
    person = session.get(Person, release.created_by) if release.created_by else None
    return person if may.may_in(session, person, Action.RELEASE_ROUND, release.task_id) else None


def _test(session: Session, actor: Person | None, round_: Round, written: WrittenRows) -> int:
    """The public part as the round's dataset. A dataset that was made of the round earlier has rows of the hidden
    part, too: it is retired, and hidden for good unless its rows are public already."""
    previous = session.scalar(library.dataset_of_round(round_.id))
    if previous is not None:
        previous.round_id, previous.retired_at = None, previous.retired_at or now()
        if not library.was_public(session, previous):
            previous.kind, previous.visibility = disclosure.HIDDEN_FOR_GOOD, "hidden"
        session.flush()
    name = library.fresh_name(session, round_.task_id, f"round-{round_.number}{'-test' if previous else ''}")
    return _version(
        session, actor, _add(session, actor, round_, name, "test", "public", kind="round", round_id=round_.id), written
    )


def _hidden(session: Session, actor: Person | None, round_: Round, written: WrittenRows) -> int:
    name = library.fresh_name(session, round_.task_id, f"round-{round_.number}-hidden")
    return _version(
        session, actor, _add(session, actor, round_, name, "hidden", "hidden", kind=disclosure.HIDDEN_FOR_GOOD), written
    )


def _add(
    session: Session, actor: Person | None, round_: Round, name: str, part: str, visibility: Any, **more: Any
) -> Dataset:
    licence = rounds.config_of(session, round_.version_id).data.licence
    title = f"Round {round_.number}, {part} part"
    card = _("The %(part)s part of the release of round %(number)s.", part=part, number=round_.number)
    settings = DatasetSettings(title=title, licence=licence, card=card, visibility=visibility)
    return library.add_dataset(session, actor, round_.task_id, name, settings, **more)


def _version(session: Session, actor: Person | None, dataset: Dataset, written: WrittenRows) -> int:
    return library.publish_version(session, library.draft_version(session, actor, dataset).id, written).id


def fail_release(session: Session, release_id: int, reason: str) -> None:
    """Mark a release as failed and notify its starter; it can be started again."""
    release = session.get_one(Release, release_id, with_for_update=True)
    if release.state != ReleaseState.READY:
        release.state, release.reason = ReleaseState.FAILED, reason[:2000]
        if release.created_by is not None:
            round_ = session.get_one(Round, release.round_id)
            page = f"/tasks/{round_.task_id}/manage/rounds/{round_.number}/release"
            notices.notify_person(
                session,
                release.created_by,
                "dataset",
                _("Round %(number)s is not released.", number=round_.number),
                link=page,
            )


def release_report(release: Release) -> ReleaseReport | None:
    """Return the report of the checks when the round was frozen."""
    return ReleaseReport.model_validate(release.report) if release.report else None


def release_folder(settings: Settings, release_id: int) -> Path:
    """Return the folder of a release's files."""
    return settings.folder / "releases" / str(release_id)
