"""Finding a task's examples: what owners and moderators ask, as terms of the index, and the page that answers."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import reduce
from itertools import islice
from operator import and_
from typing import Any, Literal, cast

from pyroaring import BitMap
from sqlalchemy import Table, delete, func, select
from sqlalchemy.orm import Session

from dynabench.collection import projections, queries, terms
from dynabench.collection.tables import Example, Explanation, FlagReview, Proposed, SearchPosting, Standing
from dynabench.collection.terms import facet
from dynabench.kit import errors
from dynabench.kit.db import PACKED, replace_rows
from dynabench.kit.language import _
from dynabench.people import disclosure, may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round
from dynabench.stats.verdict import Verdict
from dynabench.tasks import TaskConfig

LONGEST = 1000  # characters of a question


@dataclass(frozen=True)
class Filters:
    """The conditions of a search; None and "" set no condition. An example must match all of them.

    `fooled` is True, False, or "unknown" for examples of which nobody knows it (yet). `q` are words of
    context, input, answer or explanation, in any order. `author` is a name as boards show it, for owners a
    username too; `since` and `until` are UTC days, both included; `made_from` asks for examples made from
    another one, `perturbed` for those that another one was made from; `review` is the state of its flags
    with the moderators: `waiting` or `dismissed`; `noted` asks for notes of owners and moderators, `label`
    for one of their labels.
    """

    q: str = ""
    round: int | None = None
    author: str = ""
    verdict: str = ""
    fooled: bool | Literal["unknown"] | None = None
    source: str = ""
    start: str = ""
    arm: str | None = None
    tag: str | None = None
    flagged: bool | None = None
    retracted: bool | None = None
    hidden: bool | None = False
    made_from: bool | None = None
    perturbed: bool | None = None
    since: date | None = None
    until: date | None = None
    review: str = ""
    noted: bool | None = None
    label: str = ""


PLAIN = (
    "round",
    "verdict",
    "fooled",
    "source",
    "start",
    "arm",
    "tag",
    "flagged",
    "retracted",
    "hidden",
    "review",
    "noted",
    "label",
)


@dataclass(frozen=True)
class FoundExample:
    """An example with what a list shows of it."""

    example: Example
    standing: Standing
    round: Round
    context: Context
    author: Person
    explanation: dict[str, Any] | None
    config: TaskConfig
    program: Proposed | None = None


@dataclass(frozen=True)
class SearchPage:
    """Some of what was found, newest first; `next` is the cursor of the page after it."""

    items: list[FoundExample]
    next: int | None


def find(
    session: Session,
    person: Person | None,
    task_id: str,
    filters: Filters,
    *,
    before: int | None = None,
    limit: int = 50,
) -> SearchPage:
    """The newest examples of a task that hold to the filters, below the id `before`, for its owners and moderators.

    What a release withholds is passed over. Raises `Invalid` where a filter makes no sense.
    """
    rounds.require(session, person, Action.SEARCH_EXAMPLES, task_id)
    usernames = may.actor_may(session, person, Action.READ_USERNAMES, task_id)
    question = _question(session, task_id, filters, usernames=usernames)
    if question is None:
        return SearchPage([], None)
    example_ids = list(islice(matching(session, question, before), limit + 1))
    return SearchPage(
        public(session, example_ids[:limit]), example_ids[limit - 1] if len(example_ids) > limit else None
    )


def ids(
    session: Session, person: Person | None, task_id: str, filters: Filters, *, before: int | None, most: int
) -> list[int]:
    """The newest ids that `find` would go through, up to `most` of them."""
    rounds.require(session, person, Action.SEARCH_EXAMPLES, task_id)
    usernames = may.actor_may(session, person, Action.READ_USERNAMES, task_id)
    question = _question(session, task_id, filters, usernames=usernames)
    return [] if question is None else list(islice(matching(session, question, before), most))


def seen(session: Session, ids: Sequence[int]) -> list[FoundExample]:
    """Examples in the order of `ids` with all that a list shows: four statements, index probes for each."""
    explanations = {row.example_id: row.values for row in session.scalars(queries.explanations(ids))}
    programs = {row.example_id: row for row in session.scalars(queries.proposed(ids))}
    examples_by_id = {}
    for example, standing, round, context, author in session.execute(queries.seen(ids)):
        config = rounds.config_of(session, example.version_id)
        also = (explanations.get(example.id), config, programs.get(example.id))
        examples_by_id[example.id] = FoundExample(example, standing, round, context, author, *also)
    return [examples_by_id[id] for id in ids if id in examples_by_id]


def public(session: Session, ids: Sequence[int]) -> list[FoundExample]:
    """As `seen`, without those that a release withholds: for everybody but their authors."""
    return [seen_example for seen_example in seen(session, ids) if not disclosure.is_withheld(seen_example.standing)]


def released_examples(
    session: Session, text: str, numbers: Collection[tuple[str, int]], limit: int
) -> list[FoundExample]:
    """Return the newest examples of released rounds that everybody may read and that have all words of a text.

    Those are the verified ones that fooled, without what a release withholds; `numbers` are pairs of a task and a
    round's number. What is matched and then left out is bounded, so there may be fewer than could be found.
    """
    words = terms.query_terms(text)[: terms.MOST_WORDS]
    if not words or not numbers:
        return []
    question = [[word] for word in words]
    question += [[facet("fooled", True)], [facet("verdict", Verdict.CORRECT)], [facet("hidden", False)]]
    question += [[facet("retracted", False)], sorted({facet("task", task) for task, _number in numbers})]
    question.append(sorted({facet("round", number) for _task, number in numbers}))
    ids = list(islice(matching(session, question, None), 4 * limit))
    examples = [
        example
        for example in seen(session, ids)
        if (example.round.task_id, example.round.number) in numbers and disclosure.shows_example(example.standing)
    ]
    return examples[:limit]


def change(session: Session, example_id: int, **facets: object) -> None:
    """Say that facets of an example have other values now; those of `CHANGING`."""
    projections.note_change(session, example_id, [terms.facet(name, value) for name, value in facets.items()])


def label(session: Session, example_id: int, name: str, on: bool) -> None:
    """Let an example be found under a label, or no more."""
    facet = LABELLED if on else UNLABELLED
    projections.note_change(session, example_id, [terms.facet(facet, name)])


def link(session: Session, pairs: Iterable[tuple[int, int]]) -> None:
    """Say that examples were made from others: pairs of their ids."""
    for example_id, origin_id in pairs:
        change(session, example_id, made=True)
        change(session, origin_id, perturbed=True)


def say(session: Session, explanation: Explanation) -> None:
    """Let an example be found by what its author says of it."""
    words = [term for text in terms.strings(explanation.values) for term in terms.words(text)]
    if words:
        projections.note_change(session, explanation.example_id, words)


def _question(session: Session, task_id: str, filters: Filters, *, usernames: bool) -> list[list[str]] | None:
    """Groups of terms, each of which must be met by one of its own; None where nothing can be found."""
    groups = [[term] for term in _words(filters.q)]
    groups.append([terms.facet("task", task_id)])
    for name in PLAIN:
        value = getattr(filters, name)
        if value is not None and (value != "" or name in ("arm", "tag")):
            groups.append([terms.facet(name, value)])
    if filters.made_from is not None:
        groups.append([terms.facet("made", filters.made_from)])
    if filters.perturbed is not None:
        groups.append([terms.facet("perturbed", filters.perturbed)])
    if filters.author:
        authors = session.scalars(queries.called(filters.author, usernames=usernames)).all()
        if not authors:
            return None
        groups.append([terms.facet("author", author) for author in authors])
    if filters.since or filters.until:
        days = _days(filters.since, filters.until)
        if not days:
            return None
        groups.append(days)
    return groups


def _words(text: str) -> list[str]:
    if not text.strip():
        return []
    if len(text) > LONGEST:
        raise errors.Invalid({"q": _("Use at most %(longest)s characters.", longest=LONGEST)})
    search_terms = terms.query_terms(text)
    if not search_terms:
        raise errors.Invalid(
            {"q": _("Type at least one word. Search looks for letters and digits, not for punctuation.")}
        )
    if len(search_terms) > terms.MOST_WORDS:
        raise errors.Invalid({"q": _("Search for at most %(most_words)s words.", most_words=terms.MOST_WORDS)})
    return search_terms


def _days(since: date | None, until: date | None) -> list[str]:
    today = datetime.now(UTC).date()
    first = max(since or date(1990, 1, 1), date(1990, 1, 1))
    last = min(until or today.replace(month=12, day=31), today.replace(year=today.year + 1, month=12, day=31))
    return terms.days_between(first, last) if first <= last else []


TABLE = cast(Table, SearchPosting.__table__)
SIZE = 2**16  # ids of a block
BLOCKS = 4  # read at once: most questions end with the first
MANY = 500  # terms named in one statement
PIECE = 4096  # sets written at once

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
    sets_by_block: dict[int, dict[str, dict[int, bool]]] = defaultdict(lambda: defaultdict(dict))
    for example_id, example_terms in news:
        block, member = divmod(example_id, SIZE)
        sets = sets_by_block[block]
        for term in example_terms:
            sets[term][member] = True
            for rival in _rivals(term):
                sets[rival][member] = False
    for block, sets in sorted(sets_by_block.items()):
        _put_block(session, block, sets)


def _put_block(session: Session, block: int, sets: dict[str, dict[int, bool]]) -> None:
    names = sorted(sets)
    for start in range(0, len(names), MANY):
        some = names[start : start + MANY]
        statement = select(SearchPosting.term, SearchPosting.members).where(
            SearchPosting.block == block, SearchPosting.term.in_(some)
        )
        before = {row.term: row.members for row in session.execute(statement, execution_options=PACKED)}
        rows: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        for term in some:
            members = BitMap.deserialize(before[term]) if term in before else BitMap()
            members.update(member for member, present in sets[term].items() if present)
            members.difference_update(BitMap(member for member, present in sets[term].items() if not present))
            packed = members.serialize()
            if packed != before.get(term) and (members or term in before):
                rows[term, block] = (packed,)
        replace_rows(session, TABLE, {}, rows)


def replace_block(session: Session, block: int, sets: Mapping[str, BitMap], advance: Callable[[], None]) -> None:
    """Make the sets of a block these, and say now and then that it advances. Nobody else may fold meanwhile."""
    stored = select(TABLE).where(TABLE.c.block == block)
    before = {row.term: (row.members,) for row in session.execute(stored, execution_options=PACKED)}
    terms = sorted(before.keys() | sets.keys())
    for start in range(0, len(terms), PIECE):
        some = terms[start : start + PIECE]
        old = {(term, block): before[term] for term in some if term in before}
        new = {(term, block): (sets[term].serialize(),) for term in some if term in sets}
        replace_rows(session, TABLE, old, new)
        advance()


def drop_blocks(session: Session, after: int) -> None:
    """Forget the sets of the blocks above `after`, in which no example is."""
    session.execute(delete(TABLE).where(TABLE.c.block > after))


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
    fresh: dict[int, dict[str, bool]] = defaultdict(dict)
    rivals = {term: _rivals(term) for term in named}
    for example_id, changed_terms in projections.read_terms(session):
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
    sets_by_block: dict[int, dict[str, BitMap]] = defaultdict(dict)
    for row in session.execute(statement, execution_options=PACKED):
        sets_by_block[row.block][row.term] = BitMap.deserialize(row.members)
    return sets_by_block


def _members(sets: dict[str, BitMap], question: Question, block: int, fresh: dict[int, dict[str, bool]]) -> BitMap:
    result = reduce(and_, (BitMap.union(BitMap(), *(sets[t] for t in group if t in sets)) for group in question))
    for example_id, fresh_terms in fresh.items():
        if example_id // SIZE == block:
            member = example_id % SIZE
            stored_terms = {term for term in sets if member in sets[term]}
            met = all(any(fresh_terms.get(term, term in stored_terms) for term in group) for group in question)
            (result.add if met else result.discard)(member)
    return result
