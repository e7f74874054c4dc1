"""The last step of a turn: the next round, with its targets; and taking a promotion back."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.cycle import deciding, lineage, queries, service
from dynabench.cycle.tables import CycleTurn, TurnState
from dynabench.language import _
from dynabench.models import catalog
from dynabench.models.host_connection import Key
from dynabench.models.protocol import Card
from dynabench.people.may import Action
from dynabench.rounds import asked, resolving
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.security import keyed
from dynabench.settings import Settings


def next_round(session: Session, settings: Settings, turn: int, attempt: int) -> int:
    """Draft the next round with what the turn decided, and open it if the plan says so and no other round is open; its
    number. Done before, it stays as it was."""
    found = service.mine(session, turn, attempt, lock=True)
    if found.next_id is not None:
        return session.get_one(Round, found.next_id).number
    plan, of = service.plan_of(found), session.get_one(Round, found.round_id)
    cards = [_card(each) for each in deciding.cards_of(session, turn)]
    parents = [of.number, *plan.next.parents]
    made = _draft(session, settings, found, of, cards, plan.next.ensemble, parents)
    found.next_id = made.id
    if plan.next.open and session.scalar(round_queries.open_round(found.task_id)) is None:
        rounds.open_round(session, service.actor(session, found), found.task_id, made.number)
        made.opened_at = service.moment_of(found)
    return made.number


def models_to_open(session: Session, turn: int, attempt: int) -> list[tuple[str, str]]:
    """Return the targets, by name and version, of the next round that the turn opens; none where it only drafts one."""
    found = service.mine(session, turn, attempt)
    if found.next_id is not None or not service.plan_of(found).next.open:
        return []
    if session.scalar(round_queries.open_round(found.task_id)) is not None:
        return []
    cards = [_card(each) for each in deciding.cards_of(session, turn)]
    of = session.get_one(Round, found.round_id)
    return asked.models_named(cards, of.arms, _judge(session, found.task_id))


def _judge(session: Session, task: str) -> Card | None:
    return resolving.judge(rounds.newest_config(session, task), [each.card for each in catalog.find() if each.card])


def _draft(
    session: Session,
    settings: Settings,
    turn: CycleTurn,
    like: Round,
    cards: Sequence[Card],
    ensemble: str,
    parents: Sequence[int],
) -> Round:
    person, task = service.actor(session, turn), turn.task_id
    judge = _judge(session, task)
    made = rounds.draft_round(session, person, task, cards, ensemble, like.arms, like.assign, judge)
    made.created_at = service.moment_of(turn)
    made.seed = int.from_bytes(keyed(settings.key, "round seed", f"{task} {made.number}")[:4], "big") >> 1
    lineage.follow(session, task, made, parents)
    return made


def _card(named: str) -> Card:
    name, _at, version = named.rpartition("@")
    card = catalog.entry(name, version).card
    if card is None:
        raise errors.Conflict(_("The model %(name)s is not installed any more.", name=named))
    return card


def models_to_restore(session: Session, person: Person | None, task: str, id: int | None = None) -> list[Key]:
    """Return the models, by name and version, of the round that `undo` opens; none where it opens none, or refuses."""
    rounds.require(session, person, Action.RUN_CYCLE, task)
    found = service.one(session, task, id)
    after = session.get(Round, found.next_id) if found.next_id is not None else None
    if (
        found.state != TurnState.DONE
        or not found.report.get("promoted")
        or after is None
        or after.state != RoundState.OPEN
    ):
        return []
    of = session.get_one(Round, found.round_id)
    return asked.models_named([_card(each) for each in found.present], of.arms, _judge(session, task))


def undo(session: Session, settings: Settings, person: Person | None, task: str, id: int | None = None) -> CycleTurn:
    """Take a promotion back (owners): a new round with the targets of before takes the place of the turn's next round,
    which is closed, since targets of a round that was opened never change. What was collected in it stays, and the new
    round follows it; of one in which nothing was, the new round follows its parents.

    Raises `Conflict` where nothing was promoted, or where rounds came after it.
    """
    rounds.require(session, person, Action.RUN_CYCLE, task)
    rounds.task_locked(session, task)
    found = service.one(session, task, id)
    session.refresh(found, with_for_update=True)
    if found.state != TurnState.DONE or not found.report.get("promoted") or found.next_id is None:
        raise errors.Conflict(_("This turn promoted nothing that could be taken back."))
    after = session.get_one(Round, found.next_id)
    if session.scalar(round_queries.last_number(task)) != after.number or after.state not in (
        RoundState.DRAFT,
        RoundState.OPEN,
    ):
        raise errors.Conflict(
            _("Round %(number)s is over or has been followed already. Draft a round with other targets instead.",
              number=after.number)
        )  # fmt: skip
    of = session.get_one(Round, found.round_id)
    was_open = after.state == RoundState.OPEN
    collected = session.scalar(queries.any_example(after.id)) is not None
    if was_open:
        rounds.close_round(session, person, task, after.number)
    parents = [after.number] if collected else [of.number, *service.plan_of(found).next.parents]
    cards = [_card(each) for each in found.present]
    made = _draft(session, settings, found, of, cards, of.fooled_when, parents)
    made.created_at = after.created_at
    if was_open and session.scalar(round_queries.open_round(task)) is None:
        rounds.open_round(session, person, task, made.number)
    found.state, found.back_id = TurnState.UNDONE, made.id
    rounds.act(session, person, "cycle.undone", task=task, turn=found.id, round=made.number)
    return found
