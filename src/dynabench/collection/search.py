"""Finding a task's examples: what owners and moderators ask, as terms of the index, and the page that answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any, Literal

from sqlalchemy.orm import Session

from dynabench.collection import changes, queries, search_index, terms
from dynabench.collection.program_tables import Proposed
from dynabench.collection.tables import Example, Explanation, Standing
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import disclosure, may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round
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
class Seen:
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

    items: list[Seen]
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
    known = may.actor_may(session, person, Action.READ_USERNAMES, task_id)
    question = _question(session, task_id, filters, usernames=known)
    if question is None:
        return SearchPage([], None)
    found = list(islice(search_index.matching(session, question, before), limit + 1))
    return SearchPage(public(session, found[:limit]), found[limit - 1] if len(found) > limit else None)


def ids(
    session: Session, person: Person | None, task_id: str, filters: Filters, *, before: int | None, most: int
) -> list[int]:
    """The newest ids that `find` would go through, up to `most` of them."""
    rounds.require(session, person, Action.SEARCH_EXAMPLES, task_id)
    known = may.actor_may(session, person, Action.READ_USERNAMES, task_id)
    question = _question(session, task_id, filters, usernames=known)
    return [] if question is None else list(islice(search_index.matching(session, question, before), most))


def seen(session: Session, ids: Sequence[int]) -> list[Seen]:
    """Examples in the order of `ids` with all that a list shows: four statements, index probes for each."""
    said = {each.example_id: each.values for each in session.scalars(queries.explanations(ids))}
    programs = {each.example_id: each for each in session.scalars(queries.proposed(ids))}
    found = {}
    for example, standing, of, context, author in session.execute(queries.seen(ids)):
        config = rounds.config_of(session, example.version_id)
        also = (said.get(example.id), config, programs.get(example.id))
        found[example.id] = Seen(example, standing, of, context, author, *also)
    return [found[id] for id in ids if id in found]


def public(session: Session, ids: Sequence[int]) -> list[Seen]:
    """As `seen`, without those that a release withholds: for everybody but their authors."""
    return [each for each in seen(session, ids) if not disclosure.is_withheld(each.standing)]


def change(session: Session, example_id: int, **facets: object) -> None:
    """Say that facets of an example have other values now; those of `search_index.CHANGING`."""
    changes.note_change(session, example_id, [terms.facet(name, value) for name, value in facets.items()])


def label(session: Session, example_id: int, name: str, on: bool) -> None:
    """Let an example be found under a label, or no more."""
    facet = search_index.LABELLED if on else search_index.UNLABELLED
    changes.note_change(session, example_id, [terms.facet(facet, name)])


def link(session: Session, pairs: Iterable[tuple[int, int]]) -> None:
    """Say that examples were made from others: pairs of their ids."""
    for made, origin in pairs:
        change(session, made, made=True)
        change(session, origin, perturbed=True)


def say(session: Session, explanation: Explanation) -> None:
    """Let an example be found by what its author says of it."""
    said = [term for text in terms.strings(explanation.values) for term in terms.words(text)]
    if said:
        changes.note_change(session, explanation.example_id, said)


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
        raise errors.Invalid({"q": _("Ask with at most %(longest)s characters.", longest=LONGEST)})
    found = terms.wanted(text)
    if not found:
        raise errors.Invalid({"q": _("There is no word in this. Letters and digits are looked for, signs are not.")})
    if len(found) > terms.MOST_WORDS:
        raise errors.Invalid({"q": _("Ask for at most %(most_words)s words.", most_words=terms.MOST_WORDS)})
    return found


def _days(since: date | None, until: date | None) -> list[str]:
    """The facets of a range of days; open ends reach to the first imports that may be, and to tomorrow."""
    today = datetime.now(UTC).date()
    first = max(since or date(1990, 1, 1), date(1990, 1, 1))
    last = min(until or today.replace(month=12, day=31), today.replace(year=today.year + 1, month=12, day=31))
    return terms.days_between(first, last) if first <= last else []
