"""The rounds of a turn: close its round, open the next one, undo that; `durable` releases it."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from dynabench.cycle import queries, service
from dynabench.cycle.report import TurnReport
from dynabench.cycle.tables import CycleTurn, TurnState
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.security import keyed
from dynabench.kit.settings import Settings
from dynabench.models import catalog
from dynabench.models.host_connection import Key
from dynabench.models.protocol import ModelCard
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import queries as round_queries
from dynabench.rounds import round_models
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState


def close_round(session: Session, turn: int, attempt: int) -> None:
    """Close the turn's round, with the turn's moment as its time; a round that is closed already stays as it is."""
    cycle_turn = service.running_turn(session, turn, attempt, lock=True)
    round_ = session.get_one(Round, cycle_turn.round_id)
    if round_.state == RoundState.OPEN:
        closed = rounds.close_round(
            session, service.acting_owner(session, cycle_turn), cycle_turn.task_id, round_.number
        )
        closed.closed_at = service.product_time(cycle_turn)


def next_round(session: Session, settings: Settings, turn: int, attempt: int) -> int:
    """Draft the next round with the turn's decision and return its number.

    The round is opened if the plan says so and no other round of the task is open. A turn that has its next round
    already stays as it is.
    """
    cycle_turn = service.running_turn(session, turn, attempt, lock=True)
    if cycle_turn.next_id is not None:
        return session.get_one(Round, cycle_turn.next_id).number
    plan, round_ = service.turn_plan(cycle_turn), session.get_one(Round, cycle_turn.round_id)
    cards = [_card(target) for target in next_targets(session, turn)]
    parents = [round_.number, *plan.next.parents]
    draft = _draft(session, settings, cycle_turn, round_, cards, plan.next.ensemble, parents)
    cycle_turn.next_id = draft.id
    if plan.next.open and session.scalar(round_queries.open_round(cycle_turn.task_id)) is None:
        rounds.open_round(session, service.acting_owner(session, cycle_turn), cycle_turn.task_id, draft.number)
        draft.opened_at = service.product_time(cycle_turn)
    return draft.number


def models_to_open(session: Session, turn: int, attempt: int) -> list[tuple[str, str]]:
    """Return the targets, by name and version, of the next round that the turn opens; none where it only drafts one."""
    cycle_turn = service.running_turn(session, turn, attempt)
    if cycle_turn.next_id is not None or not service.turn_plan(cycle_turn).next.open:
        return []
    if session.scalar(round_queries.open_round(cycle_turn.task_id)) is not None:
        return []
    cards = [_card(target) for target in next_targets(session, turn)]
    round_ = session.get_one(Round, cycle_turn.round_id)
    return round_models.models_named(cards, round_.arms, _judge(session, cycle_turn.task_id))


def next_targets(session: Session, turn: int) -> list[str]:
    """Return the targets of the next round as `name@version`, best first."""
    cycle_turn = session.get_one(CycleTurn, turn)
    report, plan = TurnReport.model_validate(cycle_turn.report), service.turn_plan(cycle_turn)
    if not report.promoted:
        return list(cycle_turn.present)
    chosen = [f"{name}@{report.models[name]}" for name in report.promoted]
    return [*cycle_turn.present, *chosen] if plan.promote.with_present else chosen


def _judge(session: Session, task: str) -> ModelCard | None:
    return round_models.resolve_judge(
        rounds.newest_config(session, task), [entry.card for entry in catalog.find() if entry.card]
    )


def _draft(
    session: Session,
    settings: Settings,
    turn: CycleTurn,
    like: Round,
    cards: Sequence[ModelCard],
    ensemble: str,
    parents: Sequence[int],
) -> Round:
    person, task = service.acting_owner(session, turn), turn.task_id
    judge = _judge(session, task)
    draft = rounds.draft_round(session, person, task, cards, ensemble, like.arms, like.assign, judge)
    draft.created_at = service.product_time(turn)
    draft.seed = int.from_bytes(keyed(settings.key, "round seed", f"{task} {draft.number}")[:4], "big") >> 1
    queries.add_parents(session, task, draft, parents)
    return draft


def _card(named: str) -> ModelCard:
    name, _at, version = named.rpartition("@")
    card = catalog.entry(name, version).card
    if card is None:
        raise errors.Conflict(_("The model %(name)s is no longer installed.", name=named))
    return card


def models_to_restore(session: Session, person: Person | None, task: str, id: int | None = None) -> list[Key]:
    """Return the models, by name and version, of the round that `undo` opens; none where it opens none, or refuses."""
    rounds.require(session, person, Action.RUN_CYCLE, task)
    cycle_turn = service.find_turn(session, task, id)
    after = session.get(Round, cycle_turn.next_id) if cycle_turn.next_id is not None else None
    if (
        cycle_turn.state != TurnState.DONE
        or not cycle_turn.report.get("promoted")
        or after is None
        or after.state != RoundState.OPEN
    ):
        return []
    round_ = session.get_one(Round, cycle_turn.round_id)
    return round_models.models_named(
        [_card(target) for target in cycle_turn.present], round_.arms, _judge(session, task)
    )


def undo_promotion(
    session: Session, settings: Settings, person: Person | None, task: str, id: int | None = None
) -> CycleTurn:
    """Undo a promotion (owners): a new round with the earlier targets takes the place of the turn's next round.

    The next round is closed, since the targets of an opened round never change; its examples stay. If it has
    examples, the new round follows it; otherwise the new round follows its parents.

    Raises `Conflict` where the turn promoted nothing, or where later rounds exist.
    """
    rounds.require(session, person, Action.RUN_CYCLE, task)
    rounds.lock_task(session, task)
    cycle_turn = service.find_turn(session, task, id)
    session.refresh(cycle_turn, with_for_update=True)
    if cycle_turn.state != TurnState.DONE or not cycle_turn.report.get("promoted") or cycle_turn.next_id is None:
        raise errors.Conflict(_("This turn promoted nothing that could be undone."))
    after = session.get_one(Round, cycle_turn.next_id)
    if session.scalar(round_queries.last_number(task)) != after.number or after.state not in (
        RoundState.DRAFT,
        RoundState.OPEN,
    ):
        raise errors.Conflict(
            _("Round %(number)s has ended or already has a successor. Draft a round with other targets instead.",
              number=after.number)
        )  # fmt: skip
    round_ = session.get_one(Round, cycle_turn.round_id)
    was_open = after.state == RoundState.OPEN
    collected = session.scalar(queries.any_example(after.id)) is not None
    if was_open:
        rounds.close_round(session, person, task, after.number)
    parents = [after.number] if collected else [round_.number, *service.turn_plan(cycle_turn).next.parents]
    cards = [_card(target) for target in cycle_turn.present]
    restored = _draft(session, settings, cycle_turn, round_, cards, round_.fooled_when, parents)
    restored.created_at = after.created_at
    if was_open and session.scalar(round_queries.open_round(task)) is None:
        rounds.open_round(session, person, task, restored.number)
    cycle_turn.state, cycle_turn.back_id = TurnState.UNDONE, restored.id
    rounds.record_act(session, person, "cycle.undone", task=task, turn=cycle_turn.id, round=restored.number)
    return cycle_turn
