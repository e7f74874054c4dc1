"""Store a handout, and list the links through which handouts came."""

from collections.abc import Sequence

from sqlalchemy import Select, select
from sqlalchemy.dialects.postgresql import insert as insert_on_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_on_sqlite
from sqlalchemy.orm import Session

from dynabench.collection import seed_screening
from dynabench.collection.handout_tables import Handout, SeedPrediction
from dynabench.collection.handouts import Offer
from dynabench.collection.schemas import ExampleLinkOut, HandoutOut, LinkPage, StartAnswerOut
from dynabench.collection.tables import Example
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.models.client import Answer
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round


def keep(session: Session, seed_id: int, answers: Sequence[Answer]) -> None:
    """Remember what models said on a seed, so that they are asked once; the first of two answers stays."""
    insert = insert_on_sqlite if session.get_bind().dialect.name == "sqlite" else insert_on_postgresql
    if answers:
        rows = [
            {
                "seed_id": seed_id,
                "model": answer.model,
                "version": answer.version,
                "answer": answer.answer,
                "probabilities": answer.probabilities,
            }
            for answer in answers
        ]
        session.execute(insert(SeedPrediction).values(rows).on_conflict_do_nothing())


def keep_fooling(session: Session, offer: Offer, answers: Sequence[Answer]) -> None:
    """Remember what models said on a seed that fools them, and mark it so that it is not drawn again.

    A transaction of its own: one that marked a seed and then drew another could wait for one that does the reverse.
    """
    keep(session, offer.seed_id, answers)
    if offer.screening is not None:
        seed_screening.mark(session, offer.seed_id, offer.screening)


def add_seed_predictions(offer: Offer, answers: Sequence[Answer]) -> HandoutOut:
    """Return the hand-out with the answers of the models that had yet to be asked about its seed."""
    if offer.handout.seed is None or not answers:
        return offer.handout
    predictions = [
        StartAnswerOut(model=answer.model, answer=answer.answer, probabilities=answer.probabilities)
        for answer in answers
    ]
    seed = offer.handout.seed.model_copy(update={"predictions": [*offer.handout.seed.predictions, *predictions]})
    return offer.handout.model_copy(update={"seed": seed})


def own_handout(session: Session, person: Person, current: Round, handout_id: int, *, lock: bool = False) -> Handout:
    """Return a person's own hand-out of the round; raises `NotFound` for one of another person or round."""
    handout = session.get(Handout, handout_id, with_for_update=lock)
    if handout is None or (handout.person_id, handout.round_id) != (person.id, current.id):
        raise errors.NotFound(
            _(
                "You have no handout %(handout_id)s in round %(number)s.",
                number=current.number,
                handout_id=handout_id,
            )
        )
    return handout


def list_links(
    session: Session, person: Person, task_id: str, number: int, after: int = 0, limit: int = 100
) -> LinkPage:
    """Some of a round's examples with what came by the link, after the example `after` (owners).

    Examples that nothing came with are left out, so that a page may be shorter than `limit`.
    """
    rounds.require(session, person, Action.READ_LINKS, task_id)
    round_ = rounds.round_of(session, task_id, number)
    rows = session.execute(_select_links(round_.id, after, limit + 1)).all()
    items = [ExampleLinkOut(id=id, uid=uid, at=at, link=link) for id, uid, at, link in rows[:limit] if link]
    return LinkPage(items=items, next=str(rows[limit - 1][0]) if len(rows) > limit else None)


def _select_links(round_id: int, after: int, limit: int) -> Select[int, str, object, object]:
    """A range of the index of rounds, and a probe of handouts for each."""
    columns = (Example.id, Example.uid, Example.at, Handout.link)
    query = select(*columns).join(Handout, Handout.id == Example.handout_id)
    return query.where(Example.round_id == round_id, Example.id > after).order_by(Example.id).limit(limit)
