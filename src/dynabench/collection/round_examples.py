"""The examples of a released round that everybody may read, found by words and by what became of them.

The same rows are in the release's files, where writers have pseudonyms. Here only verified examples that fooled name
their writer, where that person has a public profile, which lists these examples too. Nothing is shown of rounds that
are not released, of tasks whose contents need a warning, and of examples that a release withholds, a moderator hid, or
validators flagged.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session, selectinload

from dynabench.collection import overview, search, terms
from dynabench.collection.search import FoundExample
from dynabench.collection.tables import Example, ExampleSource, Standing
from dynabench.collection.terms import facet
from dynabench.kit import errors
from dynabench.kit.language import _, join_messages
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round, RoundState
from dynabench.stats.verdict import Verdict
from dynabench.tasks import TaskConfig

Choice = Literal["", "yes", "no"]
PAGE_SIZE = 6
MOST_EXPORTED = 10_000
"""Rows of a file; the release has all."""
MOST_CHOICES = 100
"""Tags and writers to choose from."""
CHUNK = 200  # ids looked up at once
PEOPLE = (ExampleSource.PERSON, ExampleSource.EXPERT, ExampleSource.OWNER)
READABLE = (Verdict.CORRECT, Verdict.INCORRECT, Verdict.DISPUTED, Verdict.PENDING)


@dataclass(frozen=True)
class ExampleFilters:
    """The conditions of a list; empty ones set none. `writer` is the name of a person with a public profile."""

    q: str = ""
    fooled: Choice = ""
    verified: Choice = ""
    tag: str = ""
    writer: str = ""

    def values(self) -> dict[str, str]:
        """Return the conditions that are set, as parameters of an address."""
        return {name: value for name, value in vars(self).items() if value}


@dataclass(frozen=True)
class ExamplesPage:
    """Examples, newest first, as cards show them; `next` is the cursor of the page after it."""

    cards: list[dict[str, Any]]
    next: int | None


def why_no_examples(config: TaskConfig, state: RoundState) -> str:
    """Return the reason why a round's examples are on no public page; empty where they are."""
    if config.content_warning:
        return _("This task has a content warning: public pages show no examples.")
    if state != RoundState.RELEASED:
        return _("Examples are published with the release, so that nobody copies them while people write.")
    return ""


def examples_page(session: Session, round_: Round, filters: ExampleFilters, before: int | None) -> ExamplesPage:
    """Return a page of the examples that meet the filters. Raises `Invalid` where a filter makes no sense."""
    examples = list(islice(readable_examples(session, round_, filters, before), PAGE_SIZE + 1))
    shown_ids = [listing.example.id for listing in examples[:PAGE_SIZE]]
    rows = {
        example.id: example
        for example in session.scalars(
            select(Example).where(Example.id.in_(shown_ids)).options(selectinload(Example.predictions))
        )
    }
    cards = [
        overview.specimen(session, rows[listing.example.id], listing.standing, listing.round)
        | {"fooled": listing.standing.fooled, "verdict": listing.standing.verdict, "writer": writer_name(listing)}
        for listing in examples[:PAGE_SIZE]
    ]
    return ExamplesPage(cards, shown_ids[-1] if len(examples) > PAGE_SIZE else None)


def writer_name(listing: FoundExample) -> str:
    """Return the name of the writer of a verified example that fooled, who has a public profile; empty otherwise."""
    named = listing.standing.fooled and listing.standing.verdict == Verdict.CORRECT
    return listing.author.public_name if named and disclosure.shows_profile(None, listing.author) else ""


def readable_examples(
    session: Session, round_: Round, filters: ExampleFilters, before: int | None = None
) -> Iterator[FoundExample]:
    """Yield the examples of a released round that everybody may read and that meet the filters, newest first."""
    config = rounds.config_of(session, round_.version_id)
    if why_no_examples(config, RoundState(round_.state)):
        return
    question = _question(session, round_, filters)
    ids = search.matching(session, question, before) if question else iter(())
    while chunk := list(islice(ids, CHUNK)):
        for listing in search.seen(session, chunk):
            if listing.round.id == round_.id and disclosure.shows_example(listing.standing):
                yield listing


def _question(session: Session, round_: Round, filters: ExampleFilters) -> list[list[str]]:
    """Groups of terms, each of which must be met by one of its own; empty where nothing can be found."""
    if len(filters.q) > search.LONGEST:
        raise errors.Invalid({"q": _("Use at most %(longest)s characters.", longest=search.LONGEST)})
    words = terms.query_terms(filters.q)
    if filters.q.strip() and not words:
        raise errors.Invalid(
            {"q": _("Type at least one word. Search looks for letters and digits, not for punctuation.")}
        )
    verdicts = {"yes": READABLE[:1], "no": READABLE[1:]}.get(filters.verified, READABLE)
    question = [[word] for word in words[: terms.MOST_WORDS]]
    question += [[facet("task", round_.task_id)], [facet("round", round_.number)]]
    question += [[facet("hidden", False)], [facet("retracted", False)]]
    question += [[facet("source", source) for source in PEOPLE], [facet("verdict", verdict) for verdict in verdicts]]
    if filters.fooled:
        question.append([facet("fooled", filters.fooled == "yes")])
    if filters.tag:
        question.append([facet("tag", filters.tag)])
    if filters.writer:
        authors = [id_ for id_, name in _writers(session, round_) if name == filters.writer]
        if not authors:
            return []
        question.append([facet("author", author) for author in authors])
        question += [[facet("fooled", True)], [facet("verdict", Verdict.CORRECT)]]
    return question


def _listed(round_: Round) -> tuple[ColumnElement[bool], ...]:
    return (
        Standing.round_id == round_.id,
        Standing.verdict.in_(READABLE),
        disclosure.shown_examples(Standing),
        Example.source.in_(PEOPLE),
    )


def tag_choices(session: Session, round_: Round) -> list[str]:
    """Return the tags of the contexts of readable examples, in the order of the alphabet."""
    statement = (
        select(Context.tag)
        .join(Example, Example.context_id == Context.id)
        .join(Standing, Standing.example_id == Example.id)
        .where(*_listed(round_), Context.tag != "")
        .distinct()
        .order_by(Context.tag)
        .limit(MOST_CHOICES)
    )
    return list(session.scalars(statement))


def writer_choices(session: Session, round_: Round) -> list[str]:
    """Return the names of the writers of verified examples that fooled who have public profiles."""
    return sorted({name for _id, name in _writers(session, round_)}, key=str.casefold)


def _writers(session: Session, round_: Round) -> list[tuple[int, str]]:
    authors = (
        select(Standing.author_id)
        .join(Example, Example.id == Standing.example_id)
        .where(*_listed(round_), Standing.fooled.is_(True), Standing.verdict == Verdict.CORRECT)
        .distinct()
    )
    statement = (
        select(Person)
        .where(Person.id.in_(authors), disclosure.public_profiles(Person))
        .order_by(Person.id)
        .limit(MOST_CHOICES)
    )
    return [(person.id, person.public_name) for person in session.scalars(statement)]


def export_rows(session: Session, round_: Round, filters: ExampleFilters) -> tuple[list[str], list[list[object]]]:
    """Return the header and the rows of a file of the examples that meet the filters."""
    config = rounds.config_of(session, round_.version_id)
    fields = [*config.context, *config.input, *config.answer]
    rows: list[list[object]] = []
    for listing in islice(readable_examples(session, round_, filters), MOST_EXPORTED):
        context = listing.config.shown_context(listing.context.values)
        values = {**context, **listing.example.input, **listing.example.answer}
        words = [_in_words(field, values.get(field.name)) for field in fields]
        fooled = "" if listing.standing.fooled is None else str(listing.standing.fooled).lower()
        standing = [fooled, listing.standing.verdict, listing.standing.votes]
        rows.append([listing.example.uid, *words, *standing, listing.context.tag, writer_name(listing)])
    return ["uid", *(field.name for field in fields), "fooled", "verdict", "votes", "tag", "writer"], rows


def _in_words(field: Any, value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else str(field.in_words(value))


def list_values(session: Session, round_: Round, filters: ExampleFilters, before: int | None) -> dict[str, Any]:
    """Return the values that `rounds/_round_examples.html` expects."""
    config = rounds.config_of(session, round_.version_id)
    reason = why_no_examples(config, RoundState(round_.state))
    values: dict[str, Any] = {"filters": filters, "no_examples": reason, "wrong": "", "page": ExamplesPage([], None)}
    values |= {"config": config}
    values |= {"tags": [], "writers_named": [], "after": before}
    if reason:
        return values
    values |= {"tags": tag_choices(session, round_), "writers_named": writer_choices(session, round_)}
    try:
        values["page"] = examples_page(session, round_, filters, before)
    except errors.Invalid as problem:
        values["wrong"] = join_messages(problem.fields.values())
    return values
