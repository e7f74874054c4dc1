"""The rules of turns: starting, pausing, resuming, and the state that a job writes. Knows no web framework.

A turn's steps follow `STEPS`. The results of each step are in the database and on disk, so that a step that
is run again, after a crash, a pause or a failure, does only what remains.
"""

from datetime import datetime

from sqlalchemy.orm import Session

from dynabench.benchmark.registry import queries as submission_queries
from dynabench.benchmark.registry.tables import ModelListing
from dynabench.cycle import queries, report, training
from dynabench.cycle.plan import Method, TurnPlan
from dynabench.cycle.tables import CandidateState, CycleCandidate, CycleTurn, TurnState
from dynabench.datasets import library
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.settings import get_settings
from dynabench.models import catalog
from dynabench.models.references import HUB_ID
from dynabench.models.training import mixing
from dynabench.models.training.mixing import Shape
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.tasks import TaskConfig

KIND = "turn_cycle"
STEPS = ("close", "release", "train", "evaluate", "decide", "open")


class TurnStopped(Exception):
    """Raised when a job must leave its turn: the turn was paused, has ended, or a later attempt runs it."""


def start_turn(
    session: Session, person: Person | None, task: str, plan: TurnPlan, number: int | None = None
) -> CycleTurn:
    """Start a turn that begins with round `number`, by default the open one, else the newest that was opened.

    For owners; `person` None is the operator. Raises `Conflict` while another turn is open, and `Invalid` for a
    plan that does not fit the task.
    """
    rounds.require(session, person, Action.RUN_CYCLE, task)
    rounds.lock_task(session, task)
    last = session.scalars(queries.turns_of_task(task).limit(1)).first()
    if last is not None and last.state in queries.OPEN_STATES and last.state != TurnState.FAILED:
        raise errors.Conflict(_("A turn of this task is %(state)s. Wait until it ends.", state=last.state))
    round_ = starting_round(session, task, number)
    check_plan(session, person, task, round_, plan)
    check_neutral_datasets(session, task, plan)
    cycle_turn = CycleTurn(task_id=task, round_id=round_.id, plan=plan.model_dump(mode="json"))
    cycle_turn.present = [f"{target.model}@{target.version}" for target in round_.targets]
    cycle_turn.outside = training.outside_datasets(session, task, plan)
    cycle_turn.created_by = person.id if person else None
    session.add(cycle_turn)
    session.flush()
    for position, (candidate, seed) in enumerate(plan.runs()):
        name = model_name(task, round_.number, candidate.name, seed)
        row = CycleCandidate(turn_id=cycle_turn.id, position=position, name=name, method=candidate.method, seed=seed)
        session.add(row)
    _enqueue(session, cycle_turn)
    rounds.record_act(session, person, "cycle.started", task=task, turn=cycle_turn.id, round=round_.number)
    return cycle_turn


def check_neutral_datasets(session: Session, task: str, plan: TurnPlan) -> None:
    """Raise `Invalid` for a neutral dataset that the task does not have."""
    for place, name in enumerate(plan.promote.neutral or ()):
        dataset = session.scalar(library.dataset_named(task, name))
        if dataset is None or dataset.version_id is None:
            message = _("The task has no dataset %(name)s for scoring models.", name=name)
            raise errors.Invalid({f"promote.neutral.{place}": message})


def starting_round(session: Session, task: str, number: int | None) -> Round:
    """Return the round that a turn begins with; raises `Conflict` for a draft, or where none was ever opened."""
    rounds.get_task(session, task)
    if number is not None:
        round_ = rounds.round_of(session, task, number)
    else:
        task_rounds = session.scalars(round_queries.rounds(task)).all()
        opened = [candidate for candidate in task_rounds if candidate.state != RoundState.DRAFT]
        current = next(
            (candidate for candidate in opened if candidate.state == RoundState.OPEN), opened[0] if opened else None
        )
        if current is None:
            raise errors.Conflict(_("No round of this task has been opened yet, so a turn cannot start."))
        round_ = current
    if round_.state == RoundState.DRAFT:
        raise errors.Conflict(_("Round %(number)s was never opened.", number=round_.number))
    return round_


def check_plan(session: Session, person: Person | None, task: str, round_: Round, plan: TurnPlan) -> None:
    """Raise `Invalid` for a plan that does not fit the task or its round, `Conflict` for a round without examples.

    Only the operator (`person` None) may name folders as a base.
    """
    problems = {}
    if person is not None and (
        folder_bases := [item for item in plan.candidates if item.base and not _of_hub(item.base)]
    ):
        problems["candidates.base"] = _(
            "%(base)s is not a model on the hub. Write it as owner/name.", base=folder_bases[0].base
        )
    config = rounds.newest_config(session, task)
    if message := unfit_reason(config):
        problems["candidates"] = message
    elif unknown_methods := [item.method for item in plan.candidates if item.method not in training_methods(config)]:
        problems["candidates.method"] = _(
            "%(method)s cannot learn spans; choose one of %(ways)s.",
            method=unknown_methods[0],
            ways=", ".join(training_methods(config)),
        )
    if not round_.targets:
        problems["round"] = _("Round %(number)s has no target for candidates to beat.", number=round_.number)
    if plan.moment is not None and not (round_.opened_at or round_.created_at) <= plan.moment <= now():
        problems["moment"] = _("Enter a time after the round was opened that is not in the future.")
    numbers = {item.number for item in session.scalars(round_queries.rounds(task))}
    if unknown_parents := [number for number in plan.next.parents if number not in numbers]:
        problems["next.parents"] = _("There is no earlier round %(number)s.", number=unknown_parents[0])
    for place, (candidate, seed) in enumerate(plan.runs()):
        if is_taken(session, task, model_name(task, round_.number, candidate.name, seed)):
            problems[f"candidates.{place}.name"] = _("Another task has a model of this name. Choose another.")
    if problems:
        raise errors.Invalid(problems)
    if round_.state in (RoundState.OPEN, RoundState.CLOSED) and session.scalar(queries.any_example(round_.id)) is None:
        raise errors.Conflict(_("Nothing was collected in round %(number)s yet.", number=round_.number))


def _of_hub(base: str) -> bool:
    return HUB_ID.fullmatch(base) is not None and ".." not in base


def unfit_reason(config: TaskConfig) -> str:
    """Return the reason why the cycle trains no models for a task; empty if it does."""
    if len(config.answer) != 1:
        return _("The cycle trains models with a single answer field; this task has more.")
    return mixing.untrainable_reason(config)


def training_methods(config: TaskConfig) -> tuple[Method, ...]:
    """Return the methods by which models can be trained for a task; empty if there are none."""
    return () if unfit_reason(config) else Shape.of(config).methods


def find_turn(session: Session, task: str, id: int | None = None) -> CycleTurn:
    """Return a turn of a task, by default the newest; raises `NotFound`."""
    cycle_turn = (
        session.get(CycleTurn, id) if id is not None else session.scalars(queries.turns_of_task(task).limit(1)).first()
    )
    if cycle_turn is None or cycle_turn.task_id != task:
        rounds.get_task(session, task)
        raise errors.NotFound(_("There is no such turn of %(task)s.", task=task))
    return cycle_turn


def pause_turn(session: Session, person: Person | None, task: str, id: int | None = None) -> CycleTurn:
    """Pause a turn (owners): its present step ends soon, and no finished work is lost."""
    cycle_turn = _locked(session, person, task, id)
    if cycle_turn.state not in queries.RUNNING_STATES:
        raise errors.Conflict(_("This turn is %(state)s.", state=cycle_turn.state))
    cycle_turn.state = TurnState.PAUSED
    rounds.record_act(session, person, "cycle.paused", task=task, turn=cycle_turn.id)
    return cycle_turn


def resume_turn(session: Session, person: Person | None, task: str, id: int | None = None) -> CycleTurn:
    """Resume a turn that was paused or failed, from its present step; candidates that failed are trained again."""
    cycle_turn = _locked(session, person, task, id)
    if cycle_turn.state not in (TurnState.PAUSED, TurnState.FAILED):
        raise errors.Conflict(_("This turn is %(state)s.", state=cycle_turn.state))
    last = find_turn(session, task)
    if last.id != cycle_turn.id:
        raise errors.Conflict(_("A later turn was started, so this one cannot continue."))
    for candidate in session.scalars(queries.candidates_of_turn(cycle_turn.id)):
        if candidate.state == CandidateState.FAILED:
            candidate.state, candidate.reason = CandidateState.WAITING, ""
    cycle_turn.attempt += 1
    cycle_turn.state, cycle_turn.reason, cycle_turn.ended_at = TurnState.QUEUED, "", None
    _enqueue(session, cycle_turn)
    rounds.record_act(session, person, "cycle.resumed", task=task, turn=cycle_turn.id)
    return cycle_turn


def _locked(session: Session, person: Person | None, task: str, id: int | None) -> CycleTurn:
    rounds.require(session, person, Action.RUN_CYCLE, task)
    cycle_turn = find_turn(session, task, id)
    session.refresh(cycle_turn, with_for_update=True)
    return cycle_turn


def _enqueue(session: Session, turn: CycleTurn) -> None:
    payload = {"turn": turn.id, "attempt": turn.attempt}
    turn.job_id = jobs.enqueue(session, KIND, payload, turn.created_by).id


def running_turn(session: Session, turn: int, attempt: int, lock: bool = False) -> CycleTurn:
    """Return the turn while it runs and this attempt is the last; otherwise raise `TurnStopped`."""
    cycle_turn = session.get_one(CycleTurn, turn, with_for_update=lock, populate_existing=lock)
    if cycle_turn.state not in queries.RUNNING_STATES or cycle_turn.attempt != attempt:
        raise TurnStopped
    return cycle_turn


def require_running(session: Session, turn: int, attempt: int) -> None:
    """Raise `TurnStopped` where `running_turn` does."""
    running_turn(session, turn, attempt)


def enter_step(session: Session, turn: int, attempt: int, step: str) -> None:
    """Record that a turn has reached a step."""
    cycle_turn = running_turn(session, turn, attempt, lock=True)
    cycle_turn.state, cycle_turn.step = TurnState.RUNNING, step


def turn_plan(turn: CycleTurn) -> TurnPlan:
    """The turn's plan."""
    return TurnPlan.model_validate(turn.plan)


def product_time(turn: CycleTurn) -> datetime:
    """Return the time that the turn's products bear."""
    return turn_plan(turn).at(turn.created_at)


def acting_owner(session: Session, turn: CycleTurn) -> Person | None:
    """Return the person who started the turn while they own the task; else None, the platform itself."""
    person = session.get(Person, turn.created_by) if turn.created_by else None
    return person if may.may_in(session, person, Action.RUN_CYCLE, turn.task_id) else None


def fail_turn(session: Session, turn: int, attempt: int, reason: str) -> None:
    """Mark a turn as failed, with the reason, and notify its starter; it can be resumed."""
    cycle_turn = session.get_one(CycleTurn, turn, with_for_update=True)
    if cycle_turn.state in queries.RUNNING_STATES and cycle_turn.attempt == attempt:
        cycle_turn.state, cycle_turn.reason, cycle_turn.ended_at = (
            TurnState.FAILED,
            report.shorten_reason(reason),
            now(),
        )
        notify_starter(session, cycle_turn, _("The turn of %(task)s stopped.", task=cycle_turn.task_id))


def finish_turn(session: Session, turn: int, attempt: int) -> None:
    """Mark a turn as done and notify its starter."""
    cycle_turn = running_turn(session, turn, attempt, lock=True)
    cycle_turn.state, cycle_turn.ended_at = TurnState.DONE, now()
    notify_starter(session, cycle_turn, _("The turn of %(task)s is done.", task=cycle_turn.task_id))
    rounds.record_act(
        session, acting_owner(session, cycle_turn), "cycle.done", task=cycle_turn.task_id, turn=cycle_turn.id
    )


def notify_starter(session: Session, turn: CycleTurn, text: str) -> None:
    """Send a notice to the person who started the turn."""
    if turn.created_by is not None:
        notices.notify_person(session, turn.created_by, "dataset", text, link=page_path(turn))


def page_path(turn: CycleTurn) -> str:
    """Return the path of the turn's page in the console."""
    return f"/tasks/{turn.task_id}/manage/cycle/{turn.id}"


def model_name(task: str, number: int, candidate: str, seed: int) -> str:
    """Return the name of a candidate's model, 64 characters at most; a repeated turn of the round gives the same
    name."""
    tail = f"-r{number}-{candidate}-s{seed}"
    return f"{task[: 64 - len(tail)].rstrip('-')}{tail}"


def is_taken(session: Session, task: str, name: str) -> bool:
    """Return True if a name belongs to another task's model or to a person's submission."""
    submission = session.scalars(submission_queries.submissions_named(name)).first()
    if submission is not None:
        return submission.task_id != task or submission.kind != "installed"
    if session.get(ModelListing, name) is not None:
        return True
    card = catalog.entry(name).card if name in catalog.names(get_settings()) else None
    return card is not None and card.task != task
