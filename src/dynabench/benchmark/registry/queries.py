"""Every `select` over listings and what belongs to them, with its cost."""

from sqlalchemy import Select, Update, select, update

from dynabench.benchmark.registry.tables import ModelListing
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Ban, Role
from dynabench.rounds.tables import Round, RoundState, Target


def listings() -> Select[ModelListing, Person]:
    """All listings with their keepers: one row for each model that somebody said something about, a few dozen."""
    return select(ModelListing, Person).outerjoin(Person, Person.id == ModelListing.keeper_id)


def roles(person_id: int) -> Select[str, str]:
    """Select a person's roles by task, without tasks that ban the person: one index range."""
    banned = select(Ban.task_id).where(Ban.person_id == person_id)
    return select(Role.task_id, Role.role).where(Role.person_id == person_id, Role.task_id.not_in(banned))


def rounds_against(model: str, limit: int) -> Select[Round, str]:
    """Rounds that were opened against a model, newest first, and its version there: reads all targets, some hundred."""
    return (
        select(Round, Target.version)
        .join(Target, Target.round_id == Round.id)
        .where(Target.model == model, Round.state != RoundState.DRAFT)
        .order_by(Round.id.desc())
        .limit(limit)
    )


def remove_keeper(person_id: int) -> Update:
    """Take a keeper's name off their models: one index range."""
    return update(ModelListing).where(ModelListing.keeper_id == person_id).values(keeper_id=None)
