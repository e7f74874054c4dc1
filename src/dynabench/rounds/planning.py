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
from dynabench.rounds import queries, service
from dynabench.rounds.plan import PARTS, PlannedRound
from dynabench.rounds.samplers import all_samplers
from dynabench.rounds.tables import Context, Invitation, Round, RoundContext, RoundPerson, RoundState, Target

MOST_CHOSEN = 200
"""Contexts that may be chosen for a round: they are sorted at each draw."""
MOST_NAMED = 1_000
PLANNED = "round.planned"


def plan_of(round_: Round) -> PlannedRound:
    """The plan of a round."""
    return plans.parse_plan(round_.plan)


def context_pool(session: Session, round_: Round) -> list[int] | None:
    """The contexts that a round works on; None for all of its task."""
    return list(session.scalars(queries.chosen_contexts(round_.id))) if plan_of(round_).contexts == "chosen" else None


def locked_round(session: Session, person: Person | None, task_id: str, number: int) -> Round:
    """A round that its owner is about to change."""
    service.require(session, person, Action.PLAN_ROUND, task_id)
    round_ = session.scalar(queries.round_numbered(task_id, number).with_for_update())
    if round_ is None:
        raise errors.NotFound(_("Task %(task_id)s has no round %(number)s.", task_id=repr(task_id), number=number))
    return round_


def check_plan(round_: Round, plan: PlannedRound, at: datetime) -> None:
    """Raise `Invalid` where a plan does not fit the round as it is."""
    wrong = {}
    before = plan_of(round_)
    if plan.sampling is not None and plan.sampling not in all_samplers():
        wrong["sampling"] = _("Choose one of %(value)s.", value=", ".join(all_samplers()))
    if round_.state == RoundState.DRAFT and plan.opens_at and plan.opens_at != before.opens_at and plan.opens_at <= at:
        wrong["opens_at"] = _("Choose a time in the future, or open the round yourself.")
    if round_.state != RoundState.DRAFT and plan.opens_at != before.opens_at:
        wrong["opens_at"] = _("This round has already been opened.")
    if plan.closes_at and plan.closes_at != before.closes_at and plan.closes_at <= at:
        wrong["closes_at"] = _("Choose a time in the future, or close the round yourself.")
    if wrong:
        raise errors.Invalid(wrong)


def change_plan(session: Session, person: Person | None, task_id: str, number: int, plan: PlannedRound) -> Round:
    """Give a round another plan (owners); the log keeps the one that it had. Closed rounds keep theirs."""
    round_ = locked_round(session, person, task_id, number)
    if round_.state not in (RoundState.DRAFT, RoundState.OPEN):
        raise errors.Conflict(
            _("Round %(number)s is %(state)s: its plan can no longer change.", number=number, state=round_.state)
        )
    check_plan(round_, plan, now())
    _set_plan(session, person, round_, plan)
    return round_


def _set_plan(session: Session, person: Person | None, round_: Round, plan: PlannedRound) -> None:
    before = plan_of(round_)
    changed = plans.changed_parts(before, plan)
    if not changed:
        return
    if plan.contexts == "chosen" and not session.scalar(queries.chosen_contexts(round_.id).limit(1)):
        raise errors.Invalid({"contexts": _("Choose contexts for this round first.")})
    round_.plan = plan.document()
    subject: dict[str, Any] = {"task": round_.task_id, "round": round_.number, "changed": ", ".join(changed)}
    service.record_act(session, person, PLANNED, **subject, was=before.document())
    for event in ("opens_at", "closes_at"):
        moment = getattr(plan, event)
        if event in changed and moment is not None:
            service.schedule_turn(session, person.id if person else None, round_, event, moment)


def undo_plan_change(session: Session, person: Person | None, task_id: str, number: int) -> Round:
    """Give a round the plan that it had before the last change. Done twice, the change is there again."""
    round_ = locked_round(session, person, task_id, number)
    last = last_plan_change(session, round_)
    if last is None:
        raise errors.Conflict(_("The plan of this round was never changed."))
    was = plans.parse_plan(last.subject["was"])
    if round_.state != RoundState.DRAFT:
        was = was.model_copy(update={"opens_at": plan_of(round_).opens_at})
    return change_plan(session, person, task_id, number, was)


def last_plan_change(session: Session, round_: Round) -> Act | None:
    """The newest change of a round's plan: walks the task's acts of that kind, newest first."""
    acts = select(Act).where(Act.task_id == round_.task_id, Act.kind == PLANNED).order_by(Act.id.desc()).limit(500)
    return next((act for act in session.scalars(acts) if act.subject.get("round") == round_.number), None)


def clone_round(
    session: Session, person: Person | None, task_id: str, number: int, parts: Sequence[str] = PARTS
) -> Round:
    """A new draft with the targets and the judge of another round and these parts of it (owners), on the task's newest
    config.

    Dates are never carried over: they have passed, or would come twice.
    """
    service.require(session, person, Action.DRAFT_ROUND, task_id)
    if unknown := set(parts) - set(PARTS):
        raise errors.Invalid(
            {
                "parts": _(
                    "Unknown: %(value)s. Choose from %(parts)s.",
                    value=", ".join(sorted(unknown)),
                    parts=", ".join(PARTS),
                )
            }
        )
    source = service.round_of(session, task_id, number)
    arms, assign = (source.arms, source.assign) if "arms" in parts else ([], "item")
    judge = service.ModelVersion(source.judge["model"], source.judge["version"]) if source.judge else None
    copy = service.draft_round(session, person, task_id, [], source.fooled_when, arms, assign, judge)
    copy.targets = [
        Target(position=target.position, model=target.model, version=target.version) for target in source.targets
    ]
    session.flush()
    before = plan_of(source)
    carried: dict[str, Any] = {part: getattr(before, part) for part in ("goals", "limits", "audience") if part in parts}
    if "contexts" in parts:
        carried |= {"sampling": before.sampling, "contexts": before.contexts, "seeds": before.seeds}
        _copy_rows(session, RoundContext.context_id, source.id, copy.id)
    if "audience" in parts:
        carried["programs"] = before.programs
        _copy_rows(session, RoundPerson.person_id, source.id, copy.id)
    copy.plan = PlannedRound(**carried).document()
    subject = {"task": task_id, "round": copy.number, "from": number, "parts": ", ".join(parts)}
    service.record_act(session, person, "round.cloned", **subject)
    return copy


def _copy_rows(session: Session, column: Any, source: int, to: int) -> None:
    """Rows of a round's list of people or contexts, for another round too."""
    table = column.class_
    rows = [{"round_id": to, column.key: value} for value in session.scalars(select(column).filter_by(round_id=source))]
    if rows:
        session.execute(insert(table), rows)


def discard_draft(session: Session, person: Person | None, task_id: str, number: int) -> None:
    """Throw a draft away (owners); nothing was collected in it."""
    round_ = locked_round(session, person, task_id, number)
    if round_.state != RoundState.DRAFT:
        raise errors.Conflict(
            _("Round %(number)s is %(state)s; only drafts can be deleted.", number=number, state=round_.state)
        )
    session.execute(delete(Invitation).where(Invitation.round_id == round_.id))
    for table in (RoundPerson, RoundContext, Target):
        session.execute(delete(table).where(table.round_id == round_.id))
    session.execute(delete(Round).where(Round.id == round_.id))
    service.record_act(session, person, "round.discarded", task=task_id, round=number)


def choose_contexts(session: Session, person: Person | None, task_id: str, number: int, ids: Sequence[int]) -> Round:
    """Let a round work on these contexts alone (owners), or with none of them on all of the task's.

    What people wrote on others stays. Raises `Invalid` under `contexts` for too many, or what cannot be handed out.
    """
    round_ = locked_round(session, person, task_id, number)
    if round_.state not in (RoundState.DRAFT, RoundState.OPEN):
        raise errors.Conflict(
            _("Round %(number)s is %(state)s: its contexts can no longer change.", number=number, state=round_.state)
        )
    choice = sorted(set(ids))
    if len(choice) > MOST_CHOSEN:
        raise errors.Invalid({"contexts": _("Choose at most %(most_chosen)s contexts.", most_chosen=MOST_CHOSEN)})
    usable = (Context.task_id == task_id, Context.retired_at.is_(None), Context.id.in_(choice))
    usable_ids = set(session.scalars(select(Context.id).where(*usable)))
    if missing := [id for id in choice if id not in usable_ids]:
        raise errors.Invalid({"contexts": _("Context %(missing)s is not available in this task.", missing=missing[0])})
    before = list(session.scalars(queries.chosen_contexts(round_.id)))
    plan = plan_of(round_).model_copy(update={"contexts": "chosen" if choice else "all"})
    if before == choice and round_.plan == plan.document():
        return round_
    session.execute(delete(RoundContext).where(RoundContext.round_id == round_.id))
    if choice:
        session.execute(insert(RoundContext), [{"round_id": round_.id, "context_id": id} for id in choice])
    round_.plan = plan.document()
    service.record_act(
        session, person, "round.contexts", task=task_id, round=number, contexts=len(choice), before=len(before)
    )
    return round_


def draw_contexts(session: Session, task_id: str, count: int) -> list[int]:
    """Contexts drawn at random: the next ones above a random key, around the corner if need be."""
    key = random.randint(0, queries.KEYS)
    live = select(Context.id).where(Context.task_id == task_id, Context.retired_at.is_(None)).order_by(Context.draw)
    above = list(session.scalars(live.where(Context.draw >= key).limit(count)))
    return above + list(session.scalars(live.where(Context.draw < key).limit(count - len(above))))


def copy_chosen_contexts(session: Session, person: Person | None, task_id: str, number: int, source: int) -> Round:
    """Let a round work on the contexts that were chosen for another one (owners)."""
    other = service.round_of(session, task_id, source)
    return choose_contexts(session, person, task_id, number, list(session.scalars(queries.chosen_contexts(other.id))))


def name_people(session: Session, person: Person | None, task_id: str, number: int, usernames: Sequence[str]) -> Round:
    """Name who may take part in a round for invited people (owners), in place of those who were named or have come.

    Raises `Invalid` under `people` for names that nobody has.
    """
    round_ = locked_round(session, person, task_id, number)
    names = {username.strip().lower(): username.strip() for username in usernames if username.strip()}
    if len(names) > MOST_NAMED:
        raise errors.Invalid(
            {"people": _("Name at most %(most_named)s people; use a link for more.", most_named=f"{MOST_NAMED:,}")}
        )
    ids = {
        username.username.lower(): username.id
        for name in names
        for username in session.scalars(queries.person_by_username(name))
    }
    if unknown := [username for key, username in names.items() if key not in ids]:
        raise errors.Invalid({"people": _("There is no user called %(unknown)s.", unknown=", ".join(unknown[:5]))})
    session.execute(delete(RoundPerson).where(RoundPerson.round_id == round_.id))
    if ids:
        rows = [{"round_id": round_.id, "person_id": id} for id in sorted(ids.values())]
        session.execute(insert(RoundPerson), rows)
    service.record_act(session, person, "round.people", task=task_id, round=number, people=len(ids))
    return round_
