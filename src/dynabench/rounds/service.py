"""Tasks and rounds: save a config, give roles, draft, open and close a round."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from anyio import to_thread
from sqlalchemy import Pool, select
from sqlalchemy.orm import Session

from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.models.protocol import ModelCard
from dynabench.people import may
from dynabench.people.accounts.tables import Act, Person
from dynabench.people.may import Action
from dynabench.people.notices import webhooks
from dynabench.people.roles import Role, TaskRole
from dynabench.rounds import contexts, queries
from dynabench.rounds import plan as conditions
from dynabench.rounds.plan import parse_plan
from dynabench.rounds.tables import Round, RoundState, Target, Task, TaskVersion
from dynabench.tasks import TaskConfig
from dynabench.tasks.shipped import shipped_name


def require_usable_contexts(session: Session, config: TaskConfig) -> None:
    """Raise `Conflict` where the task has contexts, and not with the fields that this version shows."""
    some = session.scalar(queries.any_context(config.id))
    names = {field.name for field in config.context}
    if some is not None and set(some.values) != names:
        raise errors.Conflict(
            _(
                "The task's contexts have the fields %(value)s; this version needs %(value2)s. "
                "Create a task with another id.",
                value=", ".join(sorted(some.values)),
                value2=", ".join(sorted(names)) or "none",
            )
        )


def require_same_learner(before: TaskConfig, config: TaskConfig) -> None:
    """Raise `Invalid` for another learner: scores of sets that different ones learnt from cannot be compared."""
    if before.training and config.training and before.training.learner != config.training.learner:
        message = _("Training sets are compared using one learner, which cannot change. Create a task with another id.")
        raise errors.Invalid({"training.learner": message})


def schedule_turn(session: Session, person_id: int | None, round_: Round, event: str, at: datetime) -> None:
    """Ask for a job that does an `event`, `opens_at` or `closes_at`, at its moment.

    A job that was asked for before finds another moment in the plan then, and does nothing.
    """
    payload = {"round": round_.id, "event": event, "at": at.isoformat(), "person": person_id}
    jobs.enqueue(session, "turn_round", payload, person_id, due_at=at)


def schedule_next_draft(session: Session, task_id: str) -> None:
    """Ask for the opening of the draft that was to open earliest and could not, since another round was open."""
    moments = [(parse_plan(round_.plan).opens_at, round_) for round_ in session.scalars(queries.rounds(task_id))]
    late = [
        (at, round_) for at, round_ in moments if round_.state == RoundState.DRAFT and at is not None and at <= now()
    ]
    if late:
        at, first = min(late, key=lambda pair: (pair[0], pair[1].number))
        schedule_turn(session, None, first, "opens_at", at)


ROLES = tuple(reversed(TaskRole))
RESERVED = ("new",)  # ids that are addresses of pages
ENSEMBLES = ("any", "majority", "all")


class ModelVersion(NamedTuple):
    """A version of a model by its name, whether a host serves it now or not."""

    name: str
    version: str


# By the database's pool of connections: one process may serve several databases, as tests do.
_configs: WeakKeyDictionary[Pool, dict[int, TaskConfig]] = WeakKeyDictionary()
_targets: WeakKeyDictionary[Pool, dict[int, tuple[tuple[str, str], ...]]] = WeakKeyDictionary()


@lru_cache(maxsize=64)
def parse_config(source: str) -> TaskConfig:
    """The config that a YAML text holds; the last ones are remembered, since each is needed several times."""
    return TaskConfig.parse(source)


async def parse_ahead(source: str) -> None:
    """Parse a config in a thread before the transaction that saves it: a long one takes seconds, in which others write.

    Raises `Invalid`.
    """
    await to_thread.run_sync(parse_config, source)


def config_of(session: Session, version_id: int) -> TaskConfig:
    """The parsed config of a version; parsed once per process, since a version never changes."""
    bind = session.get_bind()
    configs = _configs.setdefault(bind.engine.pool, {})
    if version_id not in configs:
        version = session.get(TaskVersion, version_id)
        if version is None:
            raise errors.NotFound(_("The task has no such version."))
        configs[version_id] = TaskConfig.parse(version.source, stored=True)
    return configs[version_id]


def targets_of(session: Session, round_id: int) -> tuple[tuple[str, str], ...]:
    """Models and versions in the loop of a round that was opened; read once per process, since they never change."""
    targets = _targets.setdefault(session.get_bind().engine.pool, {})
    if round_id not in targets:
        targets[round_id] = tuple((target.model, target.version) for target in session.get_one(Round, round_id).targets)
    return targets[round_id]


def judge_of(session: Session, round_id: int) -> tuple[str, str] | None:
    """Model and version that judge a round's answers, where its task's rule has a judge."""
    judge = session.get_one(Round, round_id).judge
    return (judge["model"], judge["version"]) if judge else None


def get_task(session: Session, task_id: str) -> Task:
    """The task, or `NotFound`."""
    task = session.get(Task, task_id)
    if task is None:
        raise errors.NotFound(_("There is no task %(task_id)s.", task_id=repr(task_id)))
    return task


def task_config(session: Session, task_id: str) -> TaskConfig:
    """The config that people see: the open round's version, else the newest."""
    version_id = session.scalar(queries.OPEN_VERSION, {"task": task_id}) or get_task(session, task_id).version_id
    if version_id is None:
        raise errors.NotFound(_("Task %(task_id)s has no config.", task_id=repr(task_id)))
    return config_of(session, version_id)


def task_names(session: Session, ids: Collection[str]) -> dict[str, str]:
    """Return the name of each task by its id, sorted by name: its own, else that of the shipped task, else its id."""
    versions = dict(session.execute(select(Task.id, Task.version_id).where(Task.id.in_(ids))).all())
    names = {id: config_of(session, version).name if (version := versions.get(id)) else shipped_name(id) for id in ids}
    return dict(sorted(names.items(), key=lambda entry: (entry[1].casefold(), entry[0])))


def newest_config(session: Session, task_id: str) -> TaskConfig:
    """Return the config that the next round will be drafted with; raises `NotFound` where there is no such task."""
    newest = session.scalars(queries.versions(task_id).limit(1)).first()
    if newest is None:
        raise errors.NotFound(_("There is no task %(task_id)s.", task_id=repr(task_id)))
    return config_of(session, newest.id)


def round_of(session: Session, task_id: str, number: int) -> Round:
    """Round `number` of the task, or `NotFound`."""
    round_ = session.scalar(queries.round_numbered(task_id, number))
    if round_ is None:
        raise errors.NotFound(_("Task %(task_id)s has no round %(number)s.", task_id=repr(task_id), number=number))
    return round_


def open_round_of(session: Session, task_id: str) -> Round:
    """The round that collects now; `Conflict` where none does."""
    round_ = session.scalar(queries.open_round(task_id))
    if round_ is None:
        get_task(session, task_id)  # says so where there is no such task
        raise errors.Conflict(
            _("This task has no open round right now, so examples cannot be written. Its owner can open one.")
        )
    return round_


def require(session: Session, actor: Person | None, action: Action, task_id: str) -> None:
    """Raise `NotFound` where there is no such task, and `Forbidden` where an actor may not do something in it.

    None is the operator at the command line.
    """
    get_task(session, task_id)
    may.require(session, actor, action, task_id)


def require_config(session: Session, actor: Person | None, action: Action, task_id: str) -> TaskConfig:
    """Return a task's newest config to an actor who may do something in it; raises as `require` does."""
    require(session, actor, action, task_id)
    return newest_config(session, task_id)


def record_act(session: Session, /, actor: Person | None, kind: str, **subject: object) -> None:
    """One line of the audit log; `actor` None is the operator at the command line."""
    task_id = subject.get("task")
    act_task = task_id if isinstance(task_id, str) else None
    session.add(Act(person_id=actor.id if actor else None, kind=kind, task_id=act_task, subject=subject))


@dataclass(frozen=True)
class SavedConfig:
    """A stored config: `created` tells a new task, `changed` a new version."""

    task_id: str
    version: int
    created: bool
    changed: bool


def require_saver(session: Session, person: Person, *, new_by_anyone: bool = False) -> None:
    """Refuse who may save no task at all, before the config that they sent is looked at; see `save_task`."""
    if not new_by_anyone and session.scalar(queries.owned_tasks(person.id).limit(1)) is None:
        may.refuse_unless(may.may(person, Action.CREATE_TASK))


def save_task(session: Session, person: Person | None, source: str, *, new_by_anyone: bool = False) -> SavedConfig:
    """Create the task that a YAML config describes, or give the one of that id a new version.

    Admins (and the operator, `person` None) create tasks and become their owners, others where `new_by_anyone` says
    that they may (`rounds.proposals`); owners change their own. Rounds keep the version that they were drafted with.
    """
    config = parse_config(source)
    if config.id in RESERVED:
        raise errors.Invalid(
            {"id": _("A task cannot be called %(id)s: the site has a page at this address.", id=repr(config.id))}
        )
    task = session.get(Task, config.id, with_for_update=True)
    if task is None:
        if person is not None and not new_by_anyone:
            may.refuse_unless(may.may(person, Action.CREATE_TASK))
        task = Task(id=config.id)
        session.add(task)
        session.flush()
        if person is not None:
            session.add(Role(task_id=config.id, person_id=person.id, role=TaskRole.OWNER))
        return SavedConfig(config.id, _add_version(session, person, task, source, 1), created=True, changed=True)
    require(session, person, Action.SAVE_TASK, config.id)
    newest = session.scalars(queries.versions(config.id).limit(1)).one()
    if newest.source == source:
        return SavedConfig(config.id, newest.number, created=False, changed=False)
    require_usable_contexts(session, config)
    before = config_of(session, newest.id)
    require_same_learner(before, config)
    if config.metrics != before.metrics:
        jobs.enqueue(session, "queue_evaluations", {"task": config.id}, person.id if person else None)
    number = _add_version(session, person, task, source, newest.number + 1)
    return SavedConfig(config.id, number, created=False, changed=True)


def _add_version(session: Session, person: Person | None, to: Task, source: str, number: int) -> int:
    version = TaskVersion(task_id=to.id, number=number, source=source, created_by=person.id if person else None)
    session.add(version)
    session.flush()
    to.version_id = version.id
    record_act(session, person, "task.saved", task=to.id, version=number)
    if config_of(session, version.id).training:
        jobs.enqueue(session, "enter_baselines", {"task": to.id}, version.created_by)
    return number


def lock_task(session: Session, task_id: str) -> Task:
    """The task, locked until the transaction ends, so that what is counted about it stays true meanwhile."""
    return session.get_one(Task, task_id, with_for_update=True)


def set_role(session: Session, actor: Person | None, task_id: str, username: str, name: str | None) -> None:
    """Give a person one of `ROLES` in a task; None takes the role away.

    The last owner stays one until there is another.
    """
    require(session, actor, Action.SET_ROLE, task_id)
    if name is not None and name not in ROLES:
        raise errors.Invalid({"role": _("Choose one of %(roles)s.", roles=", ".join(ROLES))})
    person = session.scalar(queries.person_by_username(username))
    if person is None:
        raise errors.NotFound(_("There is no user called %(username)s.", username=repr(username)))
    lock_task(session, task_id)  # two owners who leave at once do so one after the other
    role = session.get(Role, (task_id, person.id), with_for_update=True)
    was = role.role if role else None
    if was == name:
        return
    if was == TaskRole.OWNER and session.scalar(queries.other_owner(task_id, person.id)) is None:
        raise errors.Conflict(
            _("%(username)s is the task's last owner. Make another person an owner first.", username=person.username)
        )
    if name is None:
        session.delete(role)
    elif role:
        role.role = name
    else:
        session.add(Role(task_id=task_id, person_id=person.id, role=name))
    record_act(session, actor, "task.role", task=task_id, person=person.id, role=name, was=was)


def draft_round(
    session: Session,
    person: Person | None,
    task_id: str,
    targets: Sequence[ModelCard],
    ensemble: str = "any",
    arms: Sequence[Any] = (),
    assign: str = "item",
    judge: ModelCard | ModelVersion | None = None,
) -> Round:
    """A new round against fixed targets, on the task's newest config; it collects nothing until it is opened.

    `arms` are conditions that are assigned at random (`rounds.plan`), with each context (`assign` is `item`) or once
    per `person`; none for a plain round. Without targets nobody is asked. `judge` is
    what `resolving.judge` returned, or the judge of another round.
    """
    require(session, person, Action.DRAFT_ROUND, task_id)
    if assign not in conditions.ASSIGN:
        raise errors.Invalid({"assign": _("Choose one of %(assign)s.", assign=", ".join(conditions.ASSIGN))})
    if ensemble not in ENSEMBLES:
        raise errors.Invalid({"ensemble": _("Choose one of %(ensembles)s.", ensembles=", ".join(ENSEMBLES))})
    owner = lock_task(session, task_id)  # numbers are given one at a time
    config = newest_config(session, task_id)
    chosen = conditions.clean_arms(arms, config)
    if judge is None and config.fooled.judged_by == "model":
        raise errors.Invalid({"judge": _("A model judges this task's answers: name it with the round.")})
    number = (session.scalar(queries.last_number(task_id)) or 0) + 1
    round_ = Round(
        task_id=task_id, number=number, version_id=owner.version_id, state=RoundState.DRAFT, fooled_when=ensemble
    )
    round_.arms, round_.assign = chosen, assign
    round_.judge = {"model": judge.name, "version": judge.version} if judge else None
    round_.targets = [
        Target(position=position, model=card.name, version=card.version) for position, card in enumerate(targets)
    ]
    session.add(round_)
    session.flush()
    record_act(session, person, "round.drafted", task=task_id, round=number)
    return round_


def add_target(session: Session, person: Person | None, task_id: str, number: int, card: ModelCard) -> Round:
    """Add a model version to the targets of a draft; a second time changes nothing.

    Raises `Conflict` once the round was opened. Whether the model fits its config is for the caller to check.
    """
    require(session, person, Action.DRAFT_ROUND, task_id)
    lock_task(session, task_id)
    round_ = round_of(session, task_id, number)
    if round_.state != RoundState.DRAFT:
        message = _("Round %(number)s is %(state)s; targets can be added to drafts only.", number=number,
                    state=round_.state)  # fmt: skip
        raise errors.Conflict(message)
    if (card.name, card.version) not in [(target.model, target.version) for target in round_.targets]:
        position = max((target.position for target in round_.targets), default=-1) + 1
        round_.targets.append(Target(position=position, model=card.name, version=card.version))
        session.flush()
        record_act(session, person, "round.target_added", task=task_id, round=number, model=card.name)
    return round_


def open_round(session: Session, person: Person | None, task_id: str, number: int) -> Round:
    """Start collecting. One round of a task is open at a time."""
    require(session, person, Action.OPEN_ROUND, task_id)
    session.get_one(Task, task_id, with_for_update=True)  # of two openings at once the second waits, then is refused
    round_ = round_of(session, task_id, number)
    if round_.state != RoundState.DRAFT:
        raise errors.Conflict(
            _("Round %(number)s is %(state)s; only a draft can be opened.", number=number, state=round_.state)
        )
    if other := session.scalar(queries.open_round(task_id)):
        raise errors.Conflict(_("Round %(number)s is open. Close it first.", number=other.number))
    config = config_of(session, round_.version_id)
    if not config.context:  # a task without context has one all the same, an empty one, that examples hang on
        contexts.add_contexts(session, task_id, config, [contexts.ContextRow(1, {})])
    round_.state, round_.opened_at = RoundState.OPEN, now()
    record_act(session, person, "round.opened", task=task_id, round=number)
    _announce(session, "round.opened", task_id, number)
    return round_


def close_round(session: Session, person: Person | None, task_id: str, number: int) -> Round:
    """Stop collecting, at once: an example whose models still think is refused. Closing twice changes nothing."""
    require(session, person, Action.CLOSE_ROUND, task_id)
    round_ = session.scalar(queries.round_numbered(task_id, number).with_for_update())
    if round_ is None:
        raise errors.NotFound(_("Task %(task_id)s has no round %(number)s.", task_id=repr(task_id), number=number))
    if round_.state == RoundState.DRAFT:
        raise errors.Conflict(_("Round %(number)s was never opened.", number=number))
    if round_.state == RoundState.OPEN:
        round_.state, round_.closed_at = RoundState.CLOSED, now()
        record_act(session, person, "round.closed", task=task_id, round=number)
        schedule_next_draft(session, task_id)
        _announce(session, "round.closed", task_id, number)
    return round_


def _announce(session: Session, event: str, task_id: str, number: int) -> None:
    page = f"/tasks/{task_id}/rounds/{number}"
    webhooks.emit_event(session, task_id, event, {"task": task_id, "round": number, "page": page})
