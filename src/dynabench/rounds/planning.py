"""Plans of rounds: made, changed with an entry in the log, taken back, carried over to another round."""

import random
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Act, Person
from dynabench.people.may import Action
from dynabench.rounds import plan as plans
from dynabench.rounds import queries, service, timing
from dynabench.rounds.plan import PARTS, Plan
from dynabench.rounds.samplers import samplers
from dynabench.rounds.tables import Context, Invitation, Round, RoundContext, RoundPerson, RoundState, Target

MOST_CHOSEN = 200
"""Contexts that may be chosen for a round: they are sorted at each draw."""
MOST_NAMED = 1_000
PLANNED = "round.planned"


def plan_of(of: Round) -> Plan:
    """The plan of a round."""
    return plans.parse(of.plan)


def pool(session: Session, of: Round) -> list[int] | None:
    """The contexts that a round works on; None for all of its task."""
    return list(session.scalars(queries.chosen(of.id))) if plan_of(of).contexts == "chosen" else None


def locked(session: Session, person: Person | None, task_id: str, number: int) -> Round:
    """A round that its owner is about to change."""
    service.require(session, person, Action.PLAN_ROUND, task_id)
    found = session.scalar(queries.round_numbered(task_id, number).with_for_update())
    if found is None:
        raise errors.NotFound(_("Task %(task_id)s has no round %(number)s.", task_id=repr(task_id), number=number))
    return found


def check(of: Round, plan: Plan, at: datetime) -> None:
    """Raise `Invalid` where a plan does not fit the round as it is."""
    wrong = {}
    before = plan_of(of)
    if plan.sampling is not None and plan.sampling not in samplers():
        wrong["sampling"] = _("Choose one of %(value)s.", value=", ".join(samplers()))
    if of.state == RoundState.DRAFT and plan.opens_at and plan.opens_at != before.opens_at and plan.opens_at <= at:
        wrong["opens_at"] = _("Choose a moment that is still to come, or open the round yourself.")
    if of.state != RoundState.DRAFT and plan.opens_at != before.opens_at:
        wrong["opens_at"] = _("This round was opened already.")
    if plan.closes_at and plan.closes_at != before.closes_at and plan.closes_at <= at:
        wrong["closes_at"] = _("Choose a moment that is still to come, or close the round yourself.")
    if wrong:
        raise errors.Invalid(wrong)


def change(session: Session, person: Person | None, task_id: str, number: int, plan: Plan) -> Round:
    """Give a round another plan (owners); the log keeps the one that it had. Closed rounds keep theirs."""
    found = locked(session, person, task_id, number)
    if found.state not in (RoundState.DRAFT, RoundState.OPEN):
        raise errors.Conflict(
            _("Round %(number)s is %(state)s: its plan stays as it was.", number=number, state=found.state)
        )
    check(found, plan, now())
    _put(session, person, found, plan)
    return found


def _put(session: Session, person: Person | None, of: Round, plan: Plan) -> None:
    before = plan_of(of)
    changed = plans.changes(before, plan)
    if not changed:
        return
    if plan.contexts == "chosen" and not session.scalar(queries.chosen(of.id).limit(1)):
        raise errors.Invalid({"contexts": _("Choose some contexts for this round first.")})
    of.plan = plan.document()
    subject: dict[str, Any] = {"task": of.task_id, "round": of.number, "changed": ", ".join(changed)}
    service.act(session, person, PLANNED, **subject, was=before.document())
    for event in ("opens_at", "closes_at"):
        moment = getattr(plan, event)
        if event in changed and moment is not None:
            timing.schedule(session, person.id if person else None, of, event, moment)


def undo(session: Session, person: Person | None, task_id: str, number: int) -> Round:
    """Give a round the plan that it had before the last change. Done twice, the change is there again."""
    found = locked(session, person, task_id, number)
    last = last_change(session, found)
    if last is None:
        raise errors.Conflict(_("The plan of this round was never changed."))
    was = plans.parse(last.subject["was"])
    if found.state != RoundState.DRAFT:
        was = was.model_copy(update={"opens_at": plan_of(found).opens_at})
    return change(session, person, task_id, number, was)


def last_change(session: Session, of: Round) -> Act | None:
    """The newest change of a round's plan: walks the task's acts of that kind, newest first."""
    acts = select(Act).where(Act.task_id == of.task_id, Act.kind == PLANNED).order_by(Act.id.desc()).limit(500)
    return next((each for each in session.scalars(acts) if each.subject.get("round") == of.number), None)


def clone(session: Session, person: Person | None, task_id: str, number: int, parts: Sequence[str] = PARTS) -> Round:
    """A new draft with the targets and the judge of another round and these parts of it (owners), on the task's newest
    config.

    Dates are never carried over: they have passed, or would come twice.
    """
    service.require(session, person, Action.DRAFT_ROUND, task_id)
    if unknown := set(parts) - set(PARTS):
        raise errors.Invalid(
            {
                "parts": _(
                    "Unknown: %(value)s. Choose among %(parts)s.",
                    value=", ".join(sorted(unknown)),
                    parts=", ".join(PARTS),
                )
            }
        )
    of = service.round_of(session, task_id, number)
    arms, assign = (of.arms, of.assign) if "arms" in parts else ([], "item")
    judge = service.ModelVersion(of.judge["model"], of.judge["version"]) if of.judge else None
    made = service.draft_round(session, person, task_id, [], of.fooled_when, arms, assign, judge)
    made.targets = [Target(position=each.position, model=each.model, version=each.version) for each in of.targets]
    session.flush()
    before = plan_of(of)
    taken: dict[str, Any] = {part: getattr(before, part) for part in ("goals", "limits", "audience") if part in parts}
    if "contexts" in parts:
        taken |= {"sampling": before.sampling, "contexts": before.contexts}
        _copy(session, RoundContext.context_id, of.id, made.id)
    if "audience" in parts:
        taken["programs"] = before.programs
        _copy(session, RoundPerson.person_id, of.id, made.id)
    made.plan = Plan(**taken).document()
    subject = {"task": task_id, "round": made.number, "from": number, "parts": ", ".join(parts)}
    service.act(session, person, "round.cloned", **subject)
    return made


def _copy(session: Session, column: Any, source: int, to: int) -> None:
    """Rows of a round's list of people or contexts, for another round too."""
    table = column.class_
    rows = [{"round_id": to, column.key: each} for each in session.scalars(select(column).filter_by(round_id=source))]
    if rows:
        session.execute(insert(table), rows)


def discard(session: Session, person: Person | None, task_id: str, number: int) -> None:
    """Throw a draft away (owners); nothing was collected in it."""
    found = locked(session, person, task_id, number)
    if found.state != RoundState.DRAFT:
        raise errors.Conflict(
            _("Round %(number)s is %(state)s; only a draft can be thrown away.", number=number, state=found.state)
        )
    session.execute(delete(Invitation).where(Invitation.round_id == found.id))
    for each in (RoundPerson, RoundContext, Target):
        session.execute(delete(each).where(each.round_id == found.id))
    session.execute(delete(Round).where(Round.id == found.id))
    service.act(session, person, "round.discarded", task=task_id, round=number)


def choose(session: Session, person: Person | None, task_id: str, number: int, ids: Sequence[int]) -> Round:
    """Let a round work on these contexts alone (owners), or with none of them on all of the task's.

    What people wrote on others stays. Raises `Invalid` under `contexts` for too many, or what cannot be handed out.
    """
    found = locked(session, person, task_id, number)
    if found.state not in (RoundState.DRAFT, RoundState.OPEN):
        raise errors.Conflict(
            _("Round %(number)s is %(state)s: its contexts stay as they were.", number=number, state=found.state)
        )
    wanted = sorted(set(ids))
    if len(wanted) > MOST_CHOSEN:
        raise errors.Invalid({"contexts": _("Choose at most %(most_chosen)s contexts.", most_chosen=MOST_CHOSEN)})
    usable = (Context.task_id == task_id, Context.retired_at.is_(None), Context.id.in_(wanted))
    known = set(session.scalars(select(Context.id).where(*usable)))
    if missing := [id for id in wanted if id not in known]:
        raise errors.Invalid(
            {"contexts": _("Context %(missing)s is not one of this task that can be handed out.", missing=missing[0])}
        )
    before = list(session.scalars(queries.chosen(found.id)))
    plan = plan_of(found).model_copy(update={"contexts": "chosen" if wanted else "all"})
    if before == wanted and found.plan == plan.document():
        return found
    session.execute(delete(RoundContext).where(RoundContext.round_id == found.id))
    if wanted:
        session.execute(insert(RoundContext), [{"round_id": found.id, "context_id": id} for id in wanted])
    found.plan = plan.document()
    service.act(session, person, "round.contexts", task=task_id, round=number, contexts=len(wanted), before=len(before))
    return found


def drawn(session: Session, task_id: str, count: int) -> list[int]:
    """Contexts drawn at random: the next ones above a random key, around the corner if need be."""
    key = random.randint(0, queries.KEYS)
    live = select(Context.id).where(Context.task_id == task_id, Context.retired_at.is_(None)).order_by(Context.draw)
    above = list(session.scalars(live.where(Context.draw >= key).limit(count)))
    return above + list(session.scalars(live.where(Context.draw < key).limit(count - len(above))))


def take_over(session: Session, person: Person | None, task_id: str, number: int, source: int) -> Round:
    """Let a round work on the contexts that were chosen for another one (owners)."""
    of = service.round_of(session, task_id, source)
    return choose(session, person, task_id, number, list(session.scalars(queries.chosen(of.id))))


def name(session: Session, person: Person | None, task_id: str, number: int, usernames: Sequence[str]) -> Round:
    """Name who may take part in a round for invited people (owners), in place of those who were named or have come.

    Raises `Invalid` under `people` for names that nobody has.
    """
    found = locked(session, person, task_id, number)
    wanted = {each.strip().lower(): each.strip() for each in usernames if each.strip()}
    if len(wanted) > MOST_NAMED:
        raise errors.Invalid(
            {"people": _("Name at most %(most_named)s people; a link takes more.", most_named=f"{MOST_NAMED:,}")}
        )
    known = {each.username.lower(): each.id for name in wanted for each in session.scalars(queries.person(name))}
    if unknown := [each for key, each in wanted.items() if key not in known]:
        raise errors.Invalid({"people": _("There is nobody called %(unknown)s.", unknown=", ".join(unknown[:5]))})
    session.execute(delete(RoundPerson).where(RoundPerson.round_id == found.id))
    if known:
        rows = [{"round_id": found.id, "person_id": id} for id in sorted(known.values())]
        session.execute(insert(RoundPerson), rows)
    service.act(session, person, "round.people", task=task_id, round=number, people=len(known))
    return found
