"""The parameters of the links by which authors came, example by example.

Only a task's owners see them, and no export holds them.
"""

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from dynabench.collection.schemas import ExampleLinkOut, LinkPage
from dynabench.collection.tables import Example, Handout
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds


def page(session: Session, person: Person, task_id: str, number: int, after: int = 0, limit: int = 100) -> LinkPage:
    """Some of a round's examples with what came by the link, after the example `after` (owners).

    Examples that nothing came with are left out, so that a page may be shorter than `limit`.
    """
    rounds.require(session, person, Action.READ_LINKS, task_id)
    of = rounds.round_of(session, task_id, number)
    rows = session.execute(_examples(of.id, after, limit + 1)).all()
    items = [ExampleLinkOut(id=id, uid=uid, at=at, link=link) for id, uid, at, link in rows[:limit] if link]
    return LinkPage(items=items, next=str(rows[limit - 1][0]) if len(rows) > limit else None)


def _examples(round_id: int, after: int, limit: int) -> Select[int, str, object, object]:
    """A range of the index of rounds, and a probe of handouts for each."""
    columns = (Example.id, Example.uid, Example.at, Handout.link)
    found = select(*columns).join(Handout, Handout.id == Example.handout_id)
    return found.where(Example.round_id == round_id, Example.id > after).order_by(Example.id).limit(limit)
