"""Finding examples by their terms: sets of ids by term, in blocks of 2**16 neighbouring ids.

Each of an index's usual ways fails on some of the owners' questions: a walk over the newest examples where few match, a
list of all that match where many do. Sets as Roaring bitmaps answer every combination alike: a million ids are 16
blocks, and each term of a question costs at most 8 KiB in each of them. See docs/decisions/example-search.md.

What is written is a row of `ExampleChange` first, and `collection.folding` puts it into the sets. Readers look at both.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from operator import and_

from pyroaring import BitMap
from sqlalchemy import Executable, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from dynabench.collection import changes
from dynabench.collection.fold_tables import SearchPosting
from dynabench.collection.tables import FlagReview
from dynabench.collection.terms import facet
from dynabench.kit.db import PACKED
from dynabench.stats.verdict import Verdict

SIZE = 2**16  # ids of a block
BLOCKS = 4  # read at once: most questions end with the first
MANY = 500  # terms named in one statement

# Facets that change: with one value of these an example loses the others.
CHANGING: dict[str, tuple[str, ...]] = {
    "verdict": tuple(facet("verdict", value) for value in Verdict),
    "review": tuple(facet("review", value) for value in FlagReview),
    "fooled": tuple(facet("fooled", value) for value in (False, True, None)),
    **{
        name: (facet(name, False), facet(name, True))
        for name in ("retracted", "hidden", "flagged", "made", "perturbed", "noted")
    },
}
_RIVALS = {term: [other for other in family if other != term] for family in CHANGING.values() for term in family}

LABELLED, UNLABELLED = "label", "unlabel"
"""Facets of words that may come and go; each takes the place of the other of the same word."""


def _rivals(term: str) -> list[str]:
    for name, other in ((LABELLED, UNLABELLED), (UNLABELLED, LABELLED)):
        if term.startswith(f"_{name}_"):
            return [f"_{other}_{term.removeprefix(f'_{name}_')}"]
    return _RIVALS.get(term, [])


News = tuple[int, Iterable[str]]
Question = Sequence[Sequence[str]]  # every group must be met by one of its terms


def put(session: Session, news: Iterable[News]) -> None:
    """Put news into the sets, later ones over earlier ones."""
    told: dict[int, dict[str, dict[int, bool]]] = defaultdict(lambda: defaultdict(dict))
    for example_id, terms in news:
        block, member = divmod(example_id, SIZE)
        sets = told[block]
        for term in terms:
            sets[term][member] = True
            for rival in _rivals(term):
                sets[rival][member] = False
    for block, sets in sorted(told.items()):
        _put_block(session, block, sets)


def _put_block(session: Session, block: int, sets: dict[str, dict[int, bool]]) -> None:
    names = sorted(sets)
    upsert = _upsert(session.get_bind().dialect.name)
    for start in range(0, len(names), MANY):
        some = names[start : start + MANY]
        known = select(SearchPosting.term, SearchPosting.members).where(
            SearchPosting.block == block, SearchPosting.term.in_(some)
        )
        before = {row.term: row.members for row in session.execute(known, execution_options=PACKED)}
        rows = []
        for term in some:
            members = BitMap.deserialize(before[term]) if term in before else BitMap()
            members.update(member for member, there in sets[term].items() if there)
            members.difference_update(BitMap(member for member, there in sets[term].items() if not there))
            packed = members.serialize()
            if packed != before.get(term) and (members or term in before):
                rows.append({"term": term, "block": block, "members": packed})
        if rows:
            session.execute(upsert, rows)


@cache
def _upsert(dialect: str) -> Executable:
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(SearchPosting.__table__)
    members = {"members": insert.excluded.members}
    statement: Executable = insert.on_conflict_do_update(index_elements=["term", "block"], set_=members)
    return statement


def clear(session: Session) -> None:
    """Forget everything; `put` it again."""
    changes.drop_terms(session)
    session.execute(delete(SearchPosting))


def matching(session: Session, question: Question, before: int | None) -> Iterator[int]:
    """Ids of the examples that meet `question`, newest first, those below `before` alone.

    One statement for the news and one for each few blocks that the caller goes through.
    """
    named = sorted({term for group in question for term in group})
    fresh = _fresh(session, named)  # first: what is put into the sets meanwhile is then seen twice, not missed
    newest = session.scalar(select(func.max(SearchPosting.block)).where(SearchPosting.term.in_(named)))
    newest = max([-1 if newest is None else newest, *(example_id // SIZE for example_id in fresh)])
    top = newest if before is None else min(newest, before // SIZE)
    while top >= 0:
        bottom = max(top - BLOCKS + 1, 0)
        sets = _sets(session, named, bottom, top)
        for block in range(top, bottom - 1, -1):
            members = _members(sets[block], question, block, fresh)
            if before is not None and before // SIZE == block:
                members &= BitMap(range(before % SIZE))
            yield from (block * SIZE + member for member in reversed(members.to_array()))
        top = bottom - 1


def _fresh(session: Session, named: Sequence[str]) -> dict[int, dict[str, bool]]:
    """Return, by example, whether its unfolded changes set or end each of the terms asked for."""
    fresh: dict[int, dict[str, bool]] = defaultdict(dict)
    rivals = {term: _rivals(term) for term in named}
    for example_id, changed_terms in changes.read_terms(session):
        new_terms = set(changed_terms)
        for term in named:
            if term in new_terms:
                fresh[example_id][term] = True
            elif any(rival in new_terms for rival in rivals[term]):
                fresh[example_id][term] = False
    return fresh


def _sets(session: Session, named: Sequence[str], bottom: int, top: int) -> dict[int, dict[str, BitMap]]:
    statement = select(SearchPosting.block, SearchPosting.term, SearchPosting.members).where(
        SearchPosting.term.in_(named), SearchPosting.block.between(bottom, top)
    )
    found: dict[int, dict[str, BitMap]] = defaultdict(dict)
    for row in session.execute(statement, execution_options=PACKED):
        found[row.block][row.term] = BitMap.deserialize(row.members)
    return found


def _members(sets: dict[str, BitMap], question: Question, block: int, fresh: dict[int, dict[str, bool]]) -> BitMap:
    """Return the examples of a block that match the question."""
    result = reduce(and_, (BitMap.union(BitMap(), *(sets[t] for t in group if t in sets)) for group in question))
    for example_id, told in fresh.items():
        if example_id // SIZE == block:
            member = example_id % SIZE
            known = {term for term in sets if member in sets[term]}
            met = all(any(told.get(term, term in known) for term in group) for group in question)
            (result.add if met else result.discard)(member)
    return result
