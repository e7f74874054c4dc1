"""Submissions of models: who may submit for a task, how often, and what may be changed later. Knows no web
framework."""

import re
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.registry import future_targets, queries, submission_quota, submission_sources
from dynabench.benchmark.registry.tables import ModelListing, Submission, SubmissionState
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import catalog, check_report, validity
from dynabench.models.protocol import ModelCard
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.contributions import note_person
from dynabench.people.disclosure import Disclosure, SubmissionVisibility, model_visibility
from dynabench.people.may import Action
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.service import record_act
from dynabench.rounds.tables import Task
from dynabench.tasks import TaskConfig

MODELS = ("hub", "endpoint", "archive", "adapter", "predictions")
KINDS = (*MODELS, "training_set", "installed")
VISIBILITIES = tuple(SubmissionVisibility)
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
README = 64 * 1024


@dataclass(frozen=True)
class SubmissionDraft:
    """A submission as its submitter describes it.

    `card` may hold `licence`, `languages`, `parameters`, `paper` and `link`, which are shown beside the model's
    own card.
    """

    kind: str
    name: str
    visibility: str = "public"
    readme: str = ""
    card: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SubmissionView:
    """A submission as one viewer sees it; `submitter` is empty where the viewer may not know or the submitter left."""

    submission: Submission
    submitter: str
    disclosure: Disclosure

    @property
    def mine(self) -> bool:
        """True where the viewer may change it."""
        return self.disclosure.own

    @property
    def title(self) -> str:
        """The title in lists."""
        return self.submission.name if self.disclosure.name else f"#{self.submission.id}"


def offered_kinds(config: TaskConfig) -> tuple[str, ...]:
    """The kinds of submission that people may send: where the platform trains the models, training sets alone."""
    return ("training_set",) if config.training else MODELS


def may_submit(session: Session, person: Person, task_id: str) -> TaskConfig:
    """The task's config for a person who may enter models; raises `Forbidden` for banned people, `NotFound`."""
    rounds.get_task(session, task_id)
    config = rounds.newest_config(session, task_id)
    role, banned = session.execute(round_queries.SEAT, {"task": task_id, "person": person.id}).one()
    if banned is not None:
        raise errors.Forbidden(f"You were banned from this task: {banned}")
    if config.annotators == "invited" and not may.may(person, Action.JOIN_INVITED_TASK, role=role):
        raise errors.Forbidden(_("This task is by invitation. Ask its owner for an invitation."))
    return config


def submit_model(
    session: Session, settings: Settings, person: Person, task_id: str, draft: SubmissionDraft, fields: dict[str, Any]
) -> Submission:
    """Enter what is described, under its own name; its check begins once this is committed.

    `fields` say where it comes from, as `submission_sources` reads it; `round` whether it becomes a target
    (`future_targets`), and `key` names the request: one that is sent again gets the same submission. Raises `Invalid`
    by field, `TooMany` past the day's number, `Forbidden`, `NotFound`.
    """
    config = may_submit(session, person, task_id)
    key = str(fields.get("key") or "")[:100]
    if key:  # of two clicks the second waits here, and finds what the first has submitted
        session.get_one(Person, person.id, with_for_update=True)
        mine = session.scalars(queries.submissions_of_person(person.id))
        if (earlier := next((entry for entry in mine if entry.source.get("key") == key), None)) is not None:
            return earlier
    wrong = _wrong(session, settings, person, config, draft)
    target_round = future_targets.clean_choice(session, person, task_id, str(fields.get("round") or ""), wrong)
    if wrong:
        raise errors.Invalid(wrong)
    submission_quota.require_quota(session, person, config)
    source = submission_sources.source_of(session, settings, person.id, config, draft.kind, fields)
    source |= {name: value for name, value in (("key", key), ("round", target_round)) if value}
    submission = Submission(
        task_id=task_id,
        kind=draft.kind,
        name=draft.name,
        reference=str(source.get("hub") or source.get("url") or source.get("name") or "")[:500],
        source=source,
        card=draft.card,
        readme=draft.readme,
        visibility=draft.visibility,
        person_id=person.id,
    )
    session.add(submission)
    session.flush()
    begin_check(session, submission, person)
    record_act(
        session,
        person,
        "submission.sent",
        task=task_id,
        submission=submission.id,
        name=submission.name,
        as_=submission.kind,
    )
    return submission


def begin_check(session: Session, submission: Submission, person: Person | None) -> None:
    """List the model of a new submission for those who may see it, and ask for its check; None is the platform."""
    if submission.kind != "predictions":
        _list(session, submission)
    _check(session, submission, person)


def submit_installed(session: Session, actor: Person | None, task_id: str, card: ModelCard) -> Submission:
    """Enter a model that the deployment has anyway (owners; None is the operator); ready at once.

    Raises `Invalid` where it does not fit the task, `Conflict` where this version is entered already.
    """
    config = rounds.require_config(session, actor, Action.ENTER_MODEL, task_id)
    if wrong := validity.answer_problems(config, card):
        raise errors.Invalid({key: check_report.in_words(problem) for key, problem in wrong.items()})
    if session.scalar(queries.submission_of_model(task_id, card.name, card.version)) is not None:
        raise errors.Conflict(
            _("%(name)s %(version)s was already submitted for this task.", name=card.name, version=card.version)
        )
    submission = Submission(task_id=task_id, kind="installed", name=card.name, person_id=actor.id if actor else None)
    session.add(submission)
    session.flush()
    mark_ready(session, submission, card.name, card.version, card.inside, submission_sources.board_fields(card))
    record_act(
        session,
        actor,
        "submission.entered",
        task=task_id,
        submission=submission.id,
        name=card.name,
        version=card.version,
    )
    return submission


def enterable_tasks(session: Session, viewer: Person | None, card: ModelCard | None) -> list[str]:
    """The tasks for which a person may enter a model: their own that it fits, where this version is not entered yet."""
    if viewer is None or card is None:
        return []
    own = dict.fromkeys([card.task, *session.scalars(round_queries.owned_tasks(viewer.id))])
    return [task for task in own if _fits(session, viewer, task, card)]


def _fits(session: Session, viewer: Person, task: str, card: ModelCard) -> bool:
    if session.get(Task, task) is None or not may.may_in(session, viewer, Action.ENTER_MODEL, task):
        return False
    if session.scalar(queries.submission_of_model(task, card.name, card.version)) is not None:
        return False
    return not validity.answer_problems(rounds.newest_config(session, task), card)


def mark_ready(
    session: Session, submission: Submission, model: str, version: str, inside: bool, card: dict[str, Any]
) -> None:
    """Note that a submission passed its check, and ask for its evaluations in the same transaction."""
    submission.state, submission.code, submission.reason, submission.ready_at = SubmissionState.READY, "", "", now()
    submission.model, submission.version, submission.inside = model, version, inside
    submission.card = card | {name: value for name, value in submission.card.items() if value not in ("", [], None)}
    jobs.enqueue(session, "queue_evaluations", {"submission": submission.id}, submission.person_id)
    if submission.person_id is not None:
        note_person(session, submission.person_id)


def find_submission(session: Session, viewer: Person, id: int, write: bool = False) -> SubmissionView:
    """A submission for its submitter and admins, a public one also for the task's owners; else `NotFound`.

    With `write`, locked, and for its submitter and admins alone.
    """
    submission = session.get(Submission, id, with_for_update=write)
    if submission is None:
        raise errors.NotFound(_("There is no such submission."))
    disclosure = Disclosure.of(viewer, None, submission)
    owning = disclosure.name and may.may_in(session, viewer, Action.LIST_SUBMISSIONS, submission.task_id)
    if not disclosure.own and (write or not owning):
        if owning:
            raise errors.Forbidden(_("Only the person who submitted this can do that."))
        raise errors.NotFound(_("There is no such submission."))
    sender = session.get(Person, submission.person_id) if submission.person_id else None
    return SubmissionView(submission, sender.username if sender else "", disclosure)


def list_submissions(session: Session, viewer: Person, task_id: str, before: int, limit: int) -> list[SubmissionView]:
    """A task's submissions that `viewer` may see, newest first: their own; owners see the others' that are public, and
    that there are anonymous ones; admins see all."""
    rounds.get_task(session, task_id)
    owner = may.may_in(session, viewer, Action.LIST_SUBMISSIONS, task_id)
    views: list[SubmissionView] = []
    while len(views) < limit:
        rows = session.execute(queries.submissions_of_task(task_id, before, limit)).all()
        for submission, username in rows:
            disclosure = Disclosure.of(viewer, None, submission)
            if disclosure.own or (owner and disclosure.scores):
                views.append(SubmissionView(submission, username or "" if disclosure.name else "", disclosure))
        if len(rows) < limit:
            break
        before = rows[-1][0].id
    return views[:limit]


def cancel_check(session: Session, person: Person, id: int) -> Submission:
    """End a check that waits or runs; it can be tried again."""
    submission = find_submission(session, person, id, write=True).submission
    if submission.state not in queries.GOING:
        raise errors.Conflict(_("The check has already ended."))
    submission.state, submission.code, submission.reason = (
        SubmissionState.FAILED,
        "cancelled",
        _("You cancelled the check."),
    )
    record_act(session, person, "submission.cancelled", task=submission.task_id, submission=id)
    return submission


def retry_check(session: Session, settings: Settings, person: Person, id: int) -> Submission:
    """Check again what failed; counts as an attempt. Raises `Conflict` where its files were thrown away by now."""
    submission = find_submission(session, person, id, write=True).submission
    if submission.state != SubmissionState.FAILED:
        raise errors.Conflict(_("Only a failed submission can be tried again."))
    if not all(
        submission_sources.taken_path(settings, name).is_file()
        for name in submission_sources.file_names(submission.source)
    ):
        raise errors.Conflict(_("Files of failed submissions are kept for a day. Submit it again under the same name."))
    sender = session.get(Person, submission.person_id) if submission.person_id else person
    config = may_submit(session, sender or person, submission.task_id)
    submission_quota.require_quota(session, sender or person, config)
    submission.attempt += 1
    submission.state, submission.code, submission.reason, submission.log, submission.report = (
        SubmissionState.QUEUED,
        "",
        "",
        "",
        {},
    )
    _check(session, submission, person)
    record_act(session, person, "submission.retried", task=submission.task_id, submission=id)
    return submission


def withdraw_submission(session: Session, settings: Settings, person: Person, id: int) -> Submission:
    """Take a submission back: it is evaluated no more and answers nobody; the ledger keeps what was scored.

    What was queued or runs is cancelled by a job, asked for in this transaction.
    """
    submission = find_submission(session, person, id, write=True).submission
    if submission.state == SubmissionState.WITHDRAWN:
        raise errors.Conflict(_("This submission is already withdrawn."))
    submission.state, submission.withdrawn_at = SubmissionState.WITHDRAWN, now()
    if submission.kind not in ("predictions", "installed") and not _others(session, submission):
        _list(session, submission, "private")
    submission_sources.delete_files(settings, submission.source, token=True)
    jobs.enqueue(session, "queue_evaluations", {"withdrawn": id}, person.id)
    record_act(session, person, "submission.withdrawn", task=submission.task_id, submission=id, name=submission.name)
    return submission


def change_visibility(session: Session, person: Person, id: int, visibility: str) -> Submission:
    """Say who may see a submission; boards and ledgers follow, and the tries behind a number stay counted."""
    submission = find_submission(session, person, id, write=True).submission
    if visibility not in VISIBILITIES:
        raise errors.Invalid({"visibility": _("Choose one of %(visibilities)s.", visibilities=", ".join(VISIBILITIES))})
    if submission.state == SubmissionState.WITHDRAWN and visibility != submission.visibility:
        raise errors.Conflict(_("This submission is withdrawn, so its visibility can no longer change."))
    was, submission.visibility = submission.visibility, visibility
    if submission.kind not in ("predictions", "installed"):
        _list(session, submission)
    record_act(
        session, person, "submission.shown", task=submission.task_id, submission=id, visibility=visibility, was=was
    )
    if submission.person_id is not None:
        note_person(session, submission.person_id)
    return submission


def change_baseline(session: Session, person: Person, id: int, baseline: bool) -> Submission:
    """Set whether a submission is a baseline, which boards show beside the ranked ones without a rank."""
    submission = find_submission(session, person, id, write=True).submission
    if submission.baseline != baseline:
        submission.baseline = baseline
        record_act(session, person, "submission.baseline", task=submission.task_id, submission=id, baseline=baseline)
    return submission


def detach_person(session: Session, settings: Settings, person_id: int) -> None:
    """Remove a person who leaves from their submissions; the ledger keeps these with their scores.

    Open checks are ended. Uploaded files and tokens of endpoints are deleted, since the person could not withdraw
    them later.
    """
    for submission in session.scalars(queries.submissions_of_person(person_id)):
        if submission.state in queries.GOING:
            reason = _("The submitter's account was closed before the check ended.")
            submission.state, submission.code, submission.reason = SubmissionState.FAILED, "cancelled", reason
        submission_sources.delete_files(settings, submission.source, token=True)
    submission_sources.delete_uploads(settings, person_id)
    session.execute(queries.remove_person(person_id))


def _wrong(
    session: Session, settings: Settings, person: Person, config: TaskConfig, draft: SubmissionDraft
) -> dict[str, str]:
    wrong = {}
    if draft.kind not in offered_kinds(config):
        wrong["kind"] = _("This task accepts %(value)s.", value=", ".join(offered_kinds(config)))
    if draft.visibility not in VISIBILITIES:
        wrong["visibility"] = _("Choose one of %(visibilities)s.", visibilities=", ".join(VISIBILITIES))
    if len(draft.readme.encode()) > README:
        wrong["readme"] = _("Shorten it to %(readme)s KiB.", readme=README // 1024)
    if not NAME.fullmatch(draft.name):
        wrong["name"] = _(
            "Start with a lowercase letter or digit; then use lowercase letters, digits, dots and hyphens, up to 64."
        )
    elif _is_name_taken(session, settings, person, draft.name):
        wrong["name"] = _(
            "A model called %(name)s already exists here. Submit it to a matching task of yours from "
            "its page; for a new model, choose another name.",
            name=draft.name,
        )
    return wrong


def _is_name_taken(session: Session, settings: Settings, person: Person, name: str) -> bool:
    """True if the name belongs to another person's model: the first submitter may add further versions under it."""
    before = session.scalars(queries.submissions_named(name)).first()
    if before is not None:
        return before.person_id != person.id or before.kind == "installed"
    return session.get(ModelListing, name) is not None or name in catalog.names(settings)


def _check(session: Session, submission: Submission, person: Person | None) -> None:
    payload = {"submission": submission.id, "attempt": submission.attempt}
    submission.job_id = jobs.enqueue(session, "check_submission", payload, person.id if person else None).id


def _others(session: Session, submission: Submission) -> bool:
    """True if another submission under the same name is not withdrawn."""
    same = session.scalars(queries.submissions_named(submission.name))
    return any(other.id != submission.id and other.state != SubmissionState.WITHDRAWN for other in same)


def _list(session: Session, submission: Submission, visibility: str = "") -> None:
    """Make the model's page visible to those who may see the submission and its submitter."""
    listing = session.get(ModelListing, submission.name)
    if listing is None:
        listing = ModelListing(name=submission.name, keeper_id=submission.person_id)
        session.add(listing)
    listing.visibility = visibility or model_visibility(submission)
    listing.changed_at = now()
