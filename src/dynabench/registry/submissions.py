"""Who may enter a model for a task, how often, and what may become of it afterwards. Knows no web framework."""

import re
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from dynabench import errors, jobs
from dynabench.accounts.tables import Person
from dynabench.benchmark.disclosure import Disclosure, model_visibility
from dynabench.benchmark.visibilities import SubmissionVisibility
from dynabench.db import now
from dynabench.language import _
from dynabench.models import catalog, check_words, fit
from dynabench.models.protocol import Card
from dynabench.people import may
from dynabench.people.may import Action
from dynabench.registry import quotas, submission_cards, submission_files, submission_queries, submission_sources
from dynabench.registry.tables import ModelListing, Submission, SubmissionState
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.service import act
from dynabench.rounds.tables import Task
from dynabench.settings import Settings
from dynabench.tasks import TaskConfig

MODELS = ("hub", "endpoint", "archive", "adapter", "predictions")
KINDS = (*MODELS, "training_set", "installed")
VISIBILITIES = tuple(SubmissionVisibility)
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
README = 64 * 1024


@dataclass(frozen=True)
class Draft:
    """What somebody says of what they send; `card` may hold `licence`, `languages`, `parameters`, `paper` and
    `link`, which stand beside what the model says."""

    kind: str
    name: str
    visibility: str = "public"
    readme: str = ""
    card: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Seen:
    """A submission as one viewer sees it; `who` is empty where the viewer may not know or the submitter left."""

    submission: Submission
    who: str
    disclosure: Disclosure

    @property
    def mine(self) -> bool:
        """True where the viewer may change it."""
        return self.disclosure.own

    @property
    def title(self) -> str:
        """What lists call it."""
        return self.submission.name if self.disclosure.name else f"#{self.submission.id}"


def offered(config: TaskConfig) -> tuple[str, ...]:
    """The kinds of submission that people may send: where the platform trains the models, training sets alone."""
    return ("training_set",) if config.training else MODELS


def may_submit(session: Session, person: Person, task_id: str) -> TaskConfig:
    """The task's config for somebody who may enter models; raises `Forbidden` for banned people, `NotFound`."""
    rounds.task(session, task_id)
    config = rounds.newest_config(session, task_id)
    role, banned = session.execute(round_queries.SEAT, {"task": task_id, "person": person.id}).one()
    if banned is not None:
        raise errors.Forbidden(f"You were banned from this task: {banned}")
    if config.annotators == "invited" and not may.may(person, Action.JOIN_INVITED_TASK, role=role):
        raise errors.Forbidden(_("This task is for invited people. Ask its owner for an invitation."))
    return config


def submit(
    session: Session, settings: Settings, person: Person, task_id: str, draft: Draft, given: dict[str, Any]
) -> Submission:
    """Enter what is described, under its own name; its check begins once this is committed.

    `given` says where it comes from, as `submission_sources` reads it. Raises `Invalid` by field, `TooMany` past the
    day's number, `Forbidden`, `NotFound`.
    """
    config = may_submit(session, person, task_id)
    if wrong := _wrong(session, settings, person, config, draft):
        raise errors.Invalid(wrong)
    quotas.within_the_day(session, person, config)
    source = submission_sources.of(session, settings, person.id, config, draft.kind, given)
    made = Submission(
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
    session.add(made)
    session.flush()
    begin(session, made, person)
    act(session, person, "submission.sent", task=task_id, submission=made.id, name=made.name, as_=made.kind)
    return made


def begin(session: Session, made: Submission, person: Person | None) -> None:
    """List the model of a new submission for whoever may see it, and ask for its check; None is the platform."""
    if made.kind != "predictions":
        _list(session, made)
    _check(session, made, person)


def enter(session: Session, actor: Person | None, task_id: str, card: Card) -> Submission:
    """Enter a model that the deployment has anyway (owners; None is the operator); ready at once.

    Raises `Invalid` where it does not fit the task, `Conflict` where this version is entered already.
    """
    rounds.require(session, actor, Action.ENTER_MODEL, task_id)
    if wrong := fit.problems(rounds.newest_config(session, task_id), card):
        raise errors.Invalid({key: check_words.in_words(told) for key, told in wrong.items()})
    if session.scalar(submission_queries.twin(task_id, card.name, card.version)) is not None:
        raise errors.Conflict(
            _("%(name)s %(version)s is entered for this task already.", name=card.name, version=card.version)
        )
    made = Submission(task_id=task_id, kind="installed", name=card.name, person_id=actor.id if actor else None)
    session.add(made)
    session.flush()
    ready(session, made, card.name, card.version, card.inside, submission_cards.told(card))
    act(session, actor, "submission.entered", task=task_id, submission=made.id, name=card.name, version=card.version)
    return made


def enterable(session: Session, viewer: Person | None, card: Card | None) -> list[str]:
    """The tasks for which somebody may enter a model: their own that it fits, where this version is not entered yet."""
    if viewer is None or card is None:
        return []
    own = dict.fromkeys([card.task, *session.scalars(round_queries.owned(viewer.id))])
    return [task for task in own if _fits(session, viewer, task, card)]


def _fits(session: Session, viewer: Person, task: str, card: Card) -> bool:
    if session.get(Task, task) is None or not may.may_in(session, viewer, Action.ENTER_MODEL, task):
        return False
    if session.scalar(submission_queries.twin(task, card.name, card.version)) is not None:
        return False
    return not fit.problems(rounds.newest_config(session, task), card)


def ready(session: Session, made: Submission, model: str, version: str, inside: bool, card: dict[str, Any]) -> None:
    """Note that a submission passed its check, and ask for its evaluations in the same transaction."""
    made.state, made.code, made.reason, made.ready_at = SubmissionState.READY, "", "", now()
    made.model, made.version, made.inside = model, version, inside
    made.card = card | {name: value for name, value in made.card.items() if value not in ("", [], None)}
    jobs.enqueue(session, "queue_evaluations", {"submission": made.id}, made.person_id)


def one(session: Session, viewer: Person, id: int, write: bool = False) -> Seen:
    """A submission for its submitter and admins, a public one also for the task's owners; else `NotFound`.

    With `write`, locked, and for its submitter and admins alone.
    """
    found = session.get(Submission, id, with_for_update=write)
    if found is None:
        raise errors.NotFound(_("There is no such submission."))
    disclosure = Disclosure.of(viewer, None, found)
    owning = disclosure.name and may.may_in(session, viewer, Action.LIST_SUBMISSIONS, found.task_id)
    if not disclosure.own and (write or not owning):
        if owning:
            raise errors.Forbidden(_("Only its submitter may do this."))
        raise errors.NotFound(_("There is no such submission."))
    sender = session.get(Person, found.person_id) if found.person_id else None
    return Seen(found, sender.username if sender else "", disclosure)


def listed(session: Session, viewer: Person, task_id: str, before: int, limit: int) -> list[Seen]:
    """A task's submissions that `viewer` may see, newest first: their own; owners see the others' that are public, and
    that there are anonymous ones; admins see all."""
    rounds.task(session, task_id)
    owner = may.may_in(session, viewer, Action.LIST_SUBMISSIONS, task_id)
    found: list[Seen] = []
    while len(found) < limit:
        rows = session.execute(submission_queries.listed(task_id, before, limit)).all()
        for made, username in rows:
            disclosure = Disclosure.of(viewer, None, made)
            if disclosure.own or (owner and disclosure.scores):
                found.append(Seen(made, username or "" if disclosure.name else "", disclosure))
        if len(rows) < limit:
            break
        before = rows[-1][0].id
    return found[:limit]


def cancel(session: Session, person: Person, id: int) -> Submission:
    """End a check that waits or runs; it can be tried again."""
    made = one(session, person, id, write=True).submission
    if made.state not in submission_queries.GOING:
        raise errors.Conflict(_("Its check has ended already."))
    made.state, made.code, made.reason = SubmissionState.FAILED, "cancelled", _("You cancelled the check.")
    act(session, person, "submission.cancelled", task=made.task_id, submission=id)
    return made


def retry(session: Session, settings: Settings, person: Person, id: int) -> Submission:
    """Check again what failed; counts as an attempt. Raises `Conflict` where its files were thrown away by now."""
    made = one(session, person, id, write=True).submission
    if made.state != SubmissionState.FAILED:
        raise errors.Conflict(_("Only a submission that failed can be tried again."))
    if not all(submission_files.taken(settings, name).is_file() for name in submission_files.names(made.source)):
        raise errors.Conflict(_("Files that failed are kept for a day. Submit it again under the same name."))
    sender = session.get(Person, made.person_id) if made.person_id else person
    config = may_submit(session, sender or person, made.task_id)
    quotas.within_the_day(session, sender or person, config)
    made.attempt += 1
    made.state, made.code, made.reason, made.log, made.report = SubmissionState.QUEUED, "", "", "", {}
    _check(session, made, person)
    act(session, person, "submission.retried", task=made.task_id, submission=id)
    return made


def withdraw(session: Session, settings: Settings, person: Person, id: int) -> Submission:
    """Take a submission back: it is evaluated no more and answers nobody; the ledger keeps what was scored.

    What was queued or runs is cancelled by a job, asked for in this transaction.
    """
    made = one(session, person, id, write=True).submission
    if made.state == SubmissionState.WITHDRAWN:
        raise errors.Conflict(_("It is withdrawn already."))
    made.state, made.withdrawn_at = SubmissionState.WITHDRAWN, now()
    if made.kind not in ("predictions", "installed") and not _others(session, made):
        _list(session, made, "private")
    submission_files.drop(settings, made.source, token=True)
    jobs.enqueue(session, "queue_evaluations", {"withdrawn": id}, person.id)
    act(session, person, "submission.withdrawn", task=made.task_id, submission=id, name=made.name)
    return made


def show(session: Session, person: Person, id: int, visibility: str) -> Submission:
    """Say who may see a submission; boards and ledgers follow, and the tries behind a number stay counted."""
    made = one(session, person, id, write=True).submission
    if visibility not in VISIBILITIES:
        raise errors.Invalid({"visibility": _("Choose one of %(visibilities)s.", visibilities=", ".join(VISIBILITIES))})
    if made.state == SubmissionState.WITHDRAWN and visibility != made.visibility:
        raise errors.Conflict(_("It is withdrawn: who sees that it was there stays as it was."))
    was, made.visibility = made.visibility, visibility
    if made.kind not in ("predictions", "installed"):
        _list(session, made)
    act(session, person, "submission.shown", task=made.task_id, submission=id, visibility=visibility, was=was)
    return made


def forget(session: Session, settings: Settings, person_id: int) -> None:
    """Whoever leaves stands beside no submission; the ledger keeps it with its scores, and what passed its check stays.

    Checks that have not ended do so now. Files go, and tokens of endpoints: nobody is left who could take them back.
    """
    for made in session.scalars(submission_queries.of(person_id)):
        if made.state in submission_queries.GOING:
            left = _("The submitter left before its check ended.")
            made.state, made.code, made.reason = SubmissionState.FAILED, "cancelled", left
        submission_files.drop(settings, made.source, token=True)
    submission_files.forget(settings, person_id)
    session.execute(submission_queries.forget(person_id))


def _wrong(session: Session, settings: Settings, person: Person, config: TaskConfig, draft: Draft) -> dict[str, str]:
    wrong = {}
    if draft.kind not in offered(config):
        wrong["kind"] = _("This task takes %(value)s.", value=", ".join(offered(config)))
    if draft.visibility not in VISIBILITIES:
        wrong["visibility"] = _("Choose one of %(visibilities)s.", visibilities=", ".join(VISIBILITIES))
    if len(draft.readme.encode()) > README:
        wrong["readme"] = _("Shorten it to %(readme)s KiB.", readme=README // 1024)
    if not NAME.fullmatch(draft.name):
        wrong["name"] = _("Begin with a small letter or digit; then small letters, digits, dots and hyphens, up to 64.")
    elif _taken(session, settings, person, draft.name):
        wrong["name"] = _(
            "%(name)s is the name of a model that is here already. Its page enters it for a task of yours that it "
            "fits; for a model of your own, choose a name that nobody has.",
            name=draft.name,
        )
    return wrong


def _taken(session: Session, settings: Settings, person: Person, name: str) -> bool:
    """Whether a name is somebody else's: who used it first may enter further versions under it."""
    before = session.scalars(submission_queries.named(name)).first()
    if before is not None:
        return before.person_id != person.id or before.kind == "installed"
    return session.get(ModelListing, name) is not None or name in catalog.names(settings)


def _check(session: Session, made: Submission, person: Person | None) -> None:
    payload = {"submission": made.id, "attempt": made.attempt}
    made.job_id = jobs.enqueue(session, "check_submission", payload, person.id if person else None).id


def _others(session: Session, made: Submission) -> bool:
    """Whether another submission under the same name still stands."""
    same = session.scalars(submission_queries.named(made.name))
    return any(each.id != made.id and each.state != SubmissionState.WITHDRAWN for each in same)


def _list(session: Session, made: Submission, visibility: str = "") -> None:
    """Who may see the model on its own page: whoever may know who made it."""
    listing = session.get(ModelListing, made.name)
    if listing is None:
        listing = ModelListing(name=made.name, keeper_id=made.person_id)
        session.add(listing)
    listing.visibility = visibility or model_visibility(made)
    listing.changed_at = now()
