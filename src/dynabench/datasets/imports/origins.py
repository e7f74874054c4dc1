"""Links from imported examples to their origins, the examples that they were made from.

An origin may come later in the file. No origin was made from its own descendants: links form no circle.
"""

from typing import cast

from sqlalchemy import Table, bindparam, select, update
from sqlalchemy.orm import Session

from dynabench.collection import search
from dynabench.collection.tables import Example
from dynabench.datasets.imports.state import State
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.rounds.tables import Round

EXAMPLES = cast(Table, Example.__table__)
WAITING = 50_000  # examples whose origin may come later in the file
MISSING = "Examples that were made from one that is not here"


class Origins:
    """The links of a batch, before they are stored."""

    def __init__(self, session: Session, state: State) -> None:
        self.session = session
        self.pending = {each[0]: each[1] for each in state.waiting}
        self.wanted = set(self.pending.values())

    def add(self, uid: str, origin: str | None, *, stored: bool = False) -> None:
        """Take a link down, of an example that is new or `stored` without it. Raises `Invalid` for a circle."""
        if origin is None:
            return
        known = stored or uid in self.wanted  # nothing can have been made from others
        if origin == uid or (known and self._leads(origin, uid)):
            raise errors.Invalid(
                {"made_from": _("%(origin)s was made from this very example: a circle. Leave one out.", origin=origin)}
            )
        self.pending[uid] = origin
        self.wanted.add(origin)

    def _leads(self, start: str, to: str) -> bool:
        at: str | None = start
        while at is not None and at != to:
            at = self.pending.get(at) or self._stored(at)
        return at == to

    def _stored(self, uid: str) -> str | None:
        of = select(Example.made_from).where(Example.uid == uid).scalar_subquery()
        return self.session.scalar(select(Example.uid).where(Example.id == of))


def link(session: Session, task_id: str, links: Origins, state: State) -> None:
    """Point examples to those that they were made from, where these are here; the others wait."""
    wanted = sorted({*links.pending, *links.wanted})
    ids: dict[str, int] = {}
    for start in range(0, len(wanted), 500):
        statement = select(Example.uid, Example.id).join(Round, Round.id == Example.round_id)
        some = statement.where(Round.task_id == task_id, Example.uid.in_(wanted[start : start + 500]))
        ids |= {row.uid: row.id for row in session.execute(some)}
    pairs = links.pending.items()
    found = [{"of": ids[uid], "origin": ids[origin]} for uid, origin in pairs if origin in ids and uid in ids]
    if found:
        pointing = update(EXAMPLES).where(EXAMPLES.c.id == bindparam("of")).values(made_from=bindparam("origin"))
        session.connection().execute(pointing, found)
        search.link(session, ((one["of"], one["origin"]) for one in found))
    left = [[uid, origin] for uid, origin in pairs if origin not in ids]
    state.note(MISSING, max(len(left) - WAITING, 0))
    state.waiting = left[-WAITING:]
