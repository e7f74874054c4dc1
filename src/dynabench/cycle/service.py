"""Turns of the cycle: asked for, paused, resumed, and what a job notes of them. Knows no web framework.

A turn's steps follow `STEPS`. What each has done is found in the database and on disk, so that a step that is run
again, after a crash, a pause or a failure, does only what is left.
"""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from dynabench import errors, jobs
from dynabench.accounts.tables import Person
from dynabench.cycle import naming, neutral, queries, sources, telling
from dynabench.cycle.plan import Method, Plan
from dynabench.cycle.tables import CandidateState, CycleCandidate, CycleTurn, TurnState
from dynabench.db import now
from dynabench.language import _
from dynabench.models.references import HUB_ID
from dynabench.models.training import shapes
from dynabench.models.training.shapes import Shape
from dynabench.notices import service as notices
from dynabench.people import may
from dynabench.people.may import Action
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.tasks import TaskConfig

KIND = "turn_cycle"
STEPS = ("close", "release", "train", "evaluate", "decide", "open")


class Stopped(Exception):
    """This turn goes on no more in this job: it was paused, ended, or begun anew by another."""


def start(session: Session, person: Person | None, task: str, plan: Plan, number: int | None = None) -> CycleTurn:
    """Ask for a turn that begins with round `number`, by default the one that is open, else the newest that was opened.

    Owners; None is the operator. Raises `Conflict` while another turn is open, and `Invalid` for a plan that does not
    fit the task.
    """
    rounds.require(session, person, Action.RUN_CYCLE, task)
    rounds.task_locked(session, task)
    last = session.scalars(queries.newest(task).limit(1)).first()
    if last is not None and last.state in queries.OPEN and last.state != TurnState.FAILED:
        raise errors.Conflict(_("A turn of this task is %(state)s. Let it end first.", state=last.state))
    of = round_for(session, task, number)
    check(session, person, task, of, plan)
    neutral.check(session, task, plan)
    made = CycleTurn(task_id=task, round_id=of.id, plan=plan.model_dump(mode="json"))
    made.present = [f"{each.model}@{each.version}" for each in of.targets]
    made.outside = sources.outside(session, task, plan)
    made.created_by = person.id if person else None
    session.add(made)
    session.flush()
    for position, (candidate, seed) in enumerate(plan.runs()):
        name = naming.model(task, of.number, candidate.name, seed)
        one = CycleCandidate(turn_id=made.id, position=position, name=name, method=candidate.method, seed=seed)
        session.add(one)
    _enqueue(session, made)
    rounds.act(session, person, "cycle.started", task=task, turn=made.id, round=of.number)
    return made


def round_for(session: Session, task: str, number: int | None) -> Round:
    """The round that a turn begins with; raises `Conflict` for a draft, or where none was ever opened."""
    rounds.task(session, task)
    if number is not None:
        found = rounds.round_of(session, task, number)
    else:
        known = session.scalars(round_queries.rounds(task)).all()
        opened = [each for each in known if each.state != RoundState.DRAFT]
        current = next((each for each in opened if each.state == RoundState.OPEN), opened[0] if opened else None)
        if current is None:
            raise errors.Conflict(_("No round of this task was opened yet, so there is nothing to turn."))
        found = current
    if found.state == RoundState.DRAFT:
        raise errors.Conflict(_("Round %(number)s was never opened.", number=found.number))
    return found


def check(session: Session, person: Person | None, task: str, of: Round, plan: Plan) -> None:
    """Raises `Invalid` for a plan that does not fit the task or its round, and `Conflict` for a round without anything;
    only the operator names folders."""
    wrong = {}
    if person is not None and (odd := [each for each in plan.candidates if each.base and not _of_hub(each.base)]):
        wrong["candidates.base"] = _("%(base)s is no model of the hub, owner/name.", base=odd[0].base)
    config = rounds.newest_config(session, task)
    if told := unfit(config):
        wrong["candidates"] = told
    elif strange := [each.method for each in plan.candidates if each.method not in ways(config)]:
        wrong["candidates.method"] = _(
            "%(method)s learns no spans; take one of %(ways)s.", method=strange[0], ways=", ".join(ways(config))
        )
    if not of.targets:
        wrong["round"] = _("Round %(number)s has no target that candidates could beat.", number=of.number)
    if plan.moment is not None and not (of.opened_at or of.created_at) <= plan.moment <= now():
        wrong["moment"] = _("Give a moment after the round was opened, and not in the future.")
    known = {each.number for each in session.scalars(round_queries.rounds(task))}
    if strangers := [number for number in plan.next.parents if number not in known]:
        wrong["next.parents"] = _("There is no earlier round %(number)s.", number=strangers[0])
    for place, (candidate, seed) in enumerate(plan.runs()):
        if naming.taken(session, task, naming.model(task, of.number, candidate.name, seed)):
            wrong[f"candidates.{place}.name"] = _("Another task has a model of this name. Choose another.")
    if wrong:
        raise errors.Invalid(wrong)
    if of.state in (RoundState.OPEN, RoundState.CLOSED) and session.scalar(queries.any_example(of.id)) is None:
        raise errors.Conflict(_("Nothing was collected in round %(number)s yet.", number=of.number))


def _of_hub(base: str) -> bool:
    return HUB_ID.fullmatch(base) is not None and ".." not in base


def unfit(config: TaskConfig) -> str:
    """Why the cycle trains no models for a task; empty where it does."""
    if len(config.answer) != 1:
        return _("The cycle trains models that answer one thing; this task asks for more.")
    return shapes.unfit(config)


def ways(config: TaskConfig) -> tuple[Method, ...]:
    """In which ways models can be trained for a task; empty where they cannot."""
    return () if unfit(config) else Shape.of(config).methods


def one(session: Session, task: str, id: int | None = None) -> CycleTurn:
    """A turn of a task, by default its newest; `NotFound`."""
    found = session.get(CycleTurn, id) if id is not None else session.scalars(queries.newest(task).limit(1)).first()
    if found is None or found.task_id != task:
        rounds.task(session, task)
        raise errors.NotFound(_("There is no such turn of %(task)s.", task=task))
    return found


def pause(session: Session, person: Person | None, task: str, id: int | None = None) -> CycleTurn:
    """Let a turn rest: what it does now ends soon, and nothing that is done gets lost."""
    found = _locked(session, person, task, id)
    if found.state not in queries.GOING:
        raise errors.Conflict(_("This turn is %(state)s.", state=found.state))
    found.state = TurnState.PAUSED
    rounds.act(session, person, "cycle.paused", task=task, turn=found.id)
    return found


def resume(session: Session, person: Person | None, task: str, id: int | None = None) -> CycleTurn:
    """Let a turn go on that was paused or failed, from where it was; candidates that failed are trained again."""
    found = _locked(session, person, task, id)
    if found.state not in (TurnState.PAUSED, TurnState.FAILED):
        raise errors.Conflict(_("This turn is %(state)s.", state=found.state))
    last = one(session, task)
    if last.id != found.id:
        raise errors.Conflict(_("A later turn was begun, so this one goes on no more."))
    for each in session.scalars(queries.candidates(found.id)):
        if each.state == CandidateState.FAILED:
            each.state, each.reason = CandidateState.WAITING, ""
    found.attempt += 1
    found.state, found.reason, found.ended_at = TurnState.QUEUED, "", None
    _enqueue(session, found)
    rounds.act(session, person, "cycle.resumed", task=task, turn=found.id)
    return found


def _locked(session: Session, person: Person | None, task: str, id: int | None) -> CycleTurn:
    rounds.require(session, person, Action.RUN_CYCLE, task)
    found = one(session, task, id)
    session.refresh(found, with_for_update=True)
    return found


def _enqueue(session: Session, turn: CycleTurn) -> None:
    payload = {"turn": turn.id, "attempt": turn.attempt}
    turn.job_id = jobs.enqueue(session, KIND, payload, turn.created_by).id


def mine(session: Session, turn: int, attempt: int, lock: bool = False) -> CycleTurn:
    """The turn, as long as it goes on and this attempt is the last; else raises `Stopped`."""
    found = session.get_one(CycleTurn, turn, with_for_update=lock, populate_existing=lock)
    if found.state not in queries.GOING or found.attempt != attempt:
        raise Stopped
    return found


def go_on(session: Session, turn: int, attempt: int) -> None:
    """Raises `Stopped` where `mine` does."""
    mine(session, turn, attempt)


def begin(session: Session, turn: int, attempt: int, step: str) -> None:
    """Note that a turn is at a step."""
    found = mine(session, turn, attempt, lock=True)
    found.state, found.step = TurnState.RUNNING, step


def plan_of(turn: CycleTurn) -> Plan:
    """The turn's plan."""
    return Plan.model_validate(turn.plan)


def moment_of(turn: CycleTurn) -> datetime:
    """The moment that what the turn makes bears."""
    return plan_of(turn).at(turn.created_at)


def actor(session: Session, turn: CycleTurn) -> Person | None:
    """Who asked for it, as long as they own the task; else it is the platform's own act."""
    person = session.get(Person, turn.created_by) if turn.created_by else None
    return person if may.may_in(session, person, Action.RUN_CYCLE, turn.task_id) else None


def fail(session: Session, turn: int, attempt: int, reason: str) -> None:
    """Let a turn fail; it can be resumed."""
    found = session.get_one(CycleTurn, turn, with_for_update=True)
    if found.state in queries.GOING and found.attempt == attempt:
        found.state, found.reason, found.ended_at = TurnState.FAILED, telling.short(reason), now()
        tell(session, found, _("The turn of %(task)s stopped.", task=found.task_id))


def end(session: Session, turn: int, attempt: int) -> None:
    """Let a turn be done."""
    found = mine(session, turn, attempt, lock=True)
    found.state, found.ended_at = TurnState.DONE, now()
    tell(session, found, _("The turn of %(task)s is done.", task=found.task_id))
    rounds.act(session, actor(session, found), "cycle.done", task=found.task_id, turn=found.id)


def tell(session: Session, turn: CycleTurn, text: str) -> None:
    """Let whoever asked for the turn know."""
    if turn.created_by is not None:
        notices.tell(session, turn.created_by, "dataset", text, link=page(turn))


def page(turn: CycleTurn) -> str:
    """Where the console tells of a turn."""
    return f"/tasks/{turn.task_id}/manage/cycle/{turn.id}"


def told(turn: CycleTurn) -> dict[str, Any]:
    """A turn in short, for logs and commands."""
    return {"turn": turn.id, "task": turn.task_id, "state": turn.state, "step": turn.step, "reason": turn.reason}
