"""Near-duplicates among what people write, found as it is written: bands of MinHash signatures in an index.

Works the same on both databases and from any number of processes: the index is a table that is written in the
transaction of its example. See `stats.minhash` for what counts as near, and with which chance it is found.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import BigInteger, Executable, ForeignKey, String, and_, bindparam, func, insert, select, union
from sqlalchemy.orm import Mapped, Session, mapped_column

from dynabench.collection import search
from dynabench.collection.curation_tables import Label
from dynabench.collection.drafts import Draft
from dynabench.collection.tables import Example, Standing
from dynabench.kit.db import Base
from dynabench.people import disclosure
from dynabench.stats.minhash import BANDS, Hashes, band_keys, shingle_hashes, similarity
from dynabench.tasks import TaskConfig

LABEL = "near-duplicate"
SEEN, COMPARED = 200, 5
"""Entries of the index that are looked at for one text, and examples that it is compared with, the likeliest first."""


class NearBand(Base):
    """A band of an example's signature in its task; those who share one may be near-duplicates."""

    __tablename__ = "near_bands"

    task_id: Mapped[str] = mapped_column(String(60), primary_key=True)
    band: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)

    __table_args__ = ({"sqlite_with_rowid": False},)


_TASK, _EXAMPLE = bindparam("task", type_=String), bindparam("example", type_=BigInteger)
_KEYS = [bindparam(f"band{place}", type_=BigInteger) for place in range(BANDS)]


def _likely(*, withheld: bool) -> Executable:
    """The examples that share the most bands with a text: one range of the index for each band, a few rows by key.

    Those that releases withhold are among them where `withheld` says so.
    """
    band = NearBand.__table__.c
    some = select(band.example_id).where(band.task_id == _TASK, band.band.in_(_KEYS)).limit(SEEN).subquery()
    likely = select(some.c.example_id).group_by(some.c.example_id).order_by(func.count().desc(), some.c.example_id)
    candidates = likely.limit(COMPARED).subquery()
    example, standing = Example.__table__.c, Standing.__table__.c
    return (
        select(example.id, example.input, example.author_id, example.context_id)
        .select_from(candidates)
        .join(Example.__table__, example.id == candidates.c.example_id)
        .join(Standing.__table__, standing.example_id == candidates.c.example_id)
        .where(and_(~standing.retracted, ~standing.hidden) if withheld else disclosure.shown_examples(standing))
    )


LIKELY = {"tell": _likely(withheld=False), "flag": _likely(withheld=True)}
"""By what the task does: authors are not told of a text that they may not know of, owners learn what is to be left out.
Put together once, as `ENTRIES`: building them takes longer than running them."""
ENTRIES = insert(NearBand).from_select(
    ["task_id", "band", "example_id"], union(*(select(_TASK, key, _EXAMPLE) for key in _KEYS))
)


def text_of(values: Mapping[str, Any], config: TaskConfig) -> str:
    """Return the text that the author wrote, all fields together.

    A file is represented by its digest, since equal files are equal.
    """
    parts = [values.get(field.name) for field in config.input]
    return "\n".join(part if isinstance(part, str) else orjson.dumps(part).decode() for part in parts if part)


def recorded(session: Session, draft: Draft, verdict: object, example_id: int) -> dict[str, float]:
    """Put an example that was just written into the index; returns how similar it is to the nearest of others as
    `near`, if that is near.

    Where the task says so it is labelled for owners and moderators, and its author is told nothing.
    """
    rule = draft.config.near_duplicates
    mine = shingle_hashes(text_of(draft.input, draft.config))
    keys = band_keys(mine).tolist()
    parameters = {"task": draft.task_id} | {key.key: value for key, value in zip(_KEYS, keys, strict=True)}
    nearest = _nearest(session, draft, mine, parameters)
    session.connection().execute(ENTRIES, parameters | {"example": example_id})
    if nearest < rule.similarity:
        return {}
    if rule.do == "tell":
        return {"near": nearest}
    session.add(Label(example_id=example_id, name=LABEL))
    search.label(session, example_id, LABEL, True)
    return {}


def _nearest(session: Session, draft: Draft, mine: Hashes, parameters: dict[str, Any]) -> float:
    rows = session.connection().execute(LIKELY[draft.config.near_duplicates.do], parameters)
    others = (
        row.input
        for row in rows
        if row.id != draft.made_from and (row.author_id, row.context_id) != (draft.author_id, draft.context_id)
    )
    return max(
        (similarity(mine, shingle_hashes(text_of(input_values, draft.config))) for input_values in others), default=0.0
    )
