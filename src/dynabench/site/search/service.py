"""Search over tasks, models, datasets, metrics, people, examples and the documentation, each with its own order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import quote

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.benchmark.registry.service import ListedModel
from dynabench.collection import search as example_search
from dynabench.collection.overview import excerpt
from dynabench.collection.search import FoundExample
from dynabench.collection.terms import strings
from dynabench.datasets import library_api as dataset_lists
from dynabench.kit.language import _, translate
from dynabench.people.accounts.tables import Person
from dynabench.recognition.hall.service import find_people
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.site.cards import library
from dynabench.site.documentation import documents
from dynabench.tasks import TaskConfig
from dynabench.web.filters import summary

MAX_TASKS = 1000
LONGEST = 200
"""Characters of a query that are read."""
MOST_EXAMPLES = 50
"""Examples that are looked up; where there are more, the count says so."""
EXCERPT = 180
KINDS = {
    "tasks": _("Tasks"),
    "docs": _("Documentation"),
    "models": _("Models"),
    "datasets": _("Datasets"),
    "metrics": _("Metrics"),
    "people": _("People"),
    "examples": _("Examples"),
}


@dataclass(frozen=True)
class SearchHit:
    """Something that was found. `write` is where one writes for a task whose round is open."""

    title: str
    address: str
    text: str = ""
    place: str = ""
    write: str = ""


@dataclass(frozen=True)
class SearchGroup:
    """The hits of one kind, best first; `count` is their number, and there may be `more` than that."""

    kind: str
    count: int
    hits: Sequence[SearchHit] = field(default_factory=tuple)
    more: bool = False

    @property
    def title(self) -> str:
        """The kind in words."""
        return KINDS[self.kind]

    def begins_with(self, query: str) -> bool:
        """Return whether the title of a hit begins with the query."""
        return any(hit.title.casefold().startswith(query.strip().casefold()) for hit in self.hits)


def words_of(query: str) -> list[str]:
    """Return the words of a query, folded for comparison."""
    return query[:LONGEST].casefold().split()


def search_stored(session: Session, viewer: Person | None, query: str, limit: int) -> list[SearchGroup]:
    """Return the groups that are read from the database: tasks, datasets, people and examples."""
    rows = session.scalars(round_queries.tasks("", MAX_TASKS)).all()
    tasks = {row.id: rounds.config_of(session, row.version_id) for row in rows if row.version_id is not None}
    words = words_of(query)
    return [
        _tasks(session, tasks, words, limit),
        _datasets(session, viewer, tasks, query, limit),
        _people(session, query, limit),
        _examples(session, tasks, query, limit),
    ]


def _tasks(session: Session, tasks: dict[str, TaskConfig], words: list[str], limit: int) -> SearchGroup:
    scores = {
        id: score
        for id, config in tasks.items()
        if (score := _score(words, f"{config.name} {id}", "", config.description))
    }
    best = sorted(scores, key=lambda id: (-scores[id], tasks[id].name))
    open_rounds = select(Round.task_id).where(Round.state == RoundState.OPEN, Round.task_id.in_(best[:limit]))
    playable = set(session.scalars(open_rounds)) if best else set()
    hits = [
        SearchHit(
            tasks[id].name,
            f"/tasks/{id}",
            summary(tasks[id].description),
            write=f"/tasks/{id}/create" if id in playable else "",
        )
        for id in best[:limit]
    ]
    return SearchGroup("tasks", len(best), hits)


def _datasets(
    session: Session, viewer: Person | None, tasks: dict[str, TaskConfig], query: str, limit: int
) -> SearchGroup:
    text = query.strip()[:100]
    count = sum(dataset_lists.dataset_counts(session, viewer, text).values())
    page = dataset_lists.dataset_page(session, viewer, "", text, limit=limit)
    hits = [
        SearchHit(
            dataset.title or dataset.name,
            f"/tasks/{dataset.task}/datasets/{dataset.name}",
            place=tasks[dataset.task].name if dataset.task in tasks else dataset.task,
        )
        for dataset in page.items
    ]
    return SearchGroup("datasets", count, hits)


def _people(session: Session, query: str, limit: int) -> SearchGroup:
    """People with public profiles, by their public names."""
    count, names = find_people(session, query[:LONGEST], limit)
    return SearchGroup("people", count, [SearchHit(name, f"/people/{quote(name, safe='')}") for name in names])


def _examples(session: Session, tasks: dict[str, TaskConfig], query: str, limit: int) -> SearchGroup:
    """Verified examples of released rounds: those of tasks that need a warning are on no page that does not warn."""
    calm = [id for id, config in tasks.items() if not config.content_warning]
    numbers = {
        (task_id, number)
        for task_id, number in session.execute(
            select(Round.task_id, Round.number).where(Round.state == RoundState.RELEASED, Round.task_id.in_(calm))
        )
    }
    matches = example_search.released_examples(session, query[:LONGEST], numbers, MOST_EXAMPLES + 1)
    examples = [seen for seen in matches if not seen.config.content_warning]
    hits = [_example_hit(seen, query) for seen in examples[: min(limit, MOST_EXAMPLES)]]
    return SearchGroup("examples", min(len(examples), MOST_EXAMPLES), hits, more=len(examples) > MOST_EXAMPLES)


def _example_hit(seen: FoundExample, query: str) -> SearchHit:
    config = seen.config
    written = [
        field.in_words(seen.example.input[field.name]) for field in config.input if field.name in seen.example.input
    ]
    context = list(strings(config.shown_context(seen.context.values)))
    answer = ", ".join(
        field.in_words(seen.example.answer[field.name]) for field in config.answer if field.name in seen.example.answer
    )
    return SearchHit(
        _around(" ".join(written), query) or translate(_("Example %(id)s", id=seen.example.id)),
        f"/tasks/{seen.round.task_id}/rounds/{seen.round.number}",
        _around(" ".join(context), query),
        f"{config.name} · {translate(_('round %(n)s', n=seen.round.number))}" + (f" · {answer}" if answer else ""),
    )


def _around(text: str, query: str) -> str:
    """The part of a text that has the first of the words that occurs in it."""
    folded = text.casefold()
    at = min((place for word in words_of(query) if (place := folded.find(word)) >= 0), default=0)
    return excerpt(text, at, EXCERPT)


def search_models(models: Sequence[ListedModel], query: str, limit: int, task_names: Mapping[str, str]) -> SearchGroup:
    """Return the models whose name or task has the words, with their tasks' names."""
    words = words_of(query)
    scores = {model.name: score for model in models if (score := _score(words, model.name, model.task, ""))}
    best = sorted((model for model in models if model.name in scores), key=lambda m: (-scores[m.name], m.name))
    hits = [SearchHit(model.name, f"/models/{model.name}", place=task_names[model.task]) for model in best[:limit]]
    return SearchGroup("models", len(best), hits)


def search_metrics(query: str, limit: int) -> SearchGroup:
    """Return the evaluation modules that have the words."""
    entries = library.search_entries(query[:LONGEST]) if query.strip() else []
    hits = [
        SearchHit(entry.name, f"/evaluate/{entry.kind}/{entry.name}", translate(entry.line), entry.kind)
        for entry in entries[:limit]
    ]
    return SearchGroup("metrics", len(entries), hits)


@dataclass(frozen=True)
class DocumentPassage:
    """The text below a heading of the documentation, also folded for comparison."""

    title: str
    heading: str
    address: str
    section: str
    text: str
    folded: tuple[str, str, str]


@cache
def _passages() -> tuple[DocumentPassage, ...]:
    return tuple(
        DocumentPassage(
            page.title,
            heading.text if heading.level > 1 else "",
            f"{page.address}#{heading.anchor}" if heading.level > 1 else page.address,
            page.section,
            text,
            (page.title.casefold(), heading.text.casefold(), text.casefold()),
        )
        for page in documents.documents().values()
        for heading, text in page.passages
    )


def search_documents(query: str, limit: int) -> SearchGroup:
    """Return the passages of the documentation that have the words, those with them in a title first."""
    words = words_of(query)
    scores = [(score, passage) for passage in _passages() if (score := _score(words, *passage.folded))]
    scores.sort(key=lambda pair: (-pair[0], len(pair[1].text)))
    hits = [
        SearchHit(
            f"{passage.title} › {passage.heading}" if passage.heading else passage.title,
            passage.address,
            _around(passage.text, query),
            passage.section,
        )
        for _weight_of_it, passage in scores[:limit]
    ]
    return SearchGroup("docs", len(scores), hits)


def _score(words: Sequence[str], title: str, heading: str, text: str) -> int:
    """The rank of texts for some words, 0 unless each word is in one of them."""
    folded = ((9, title.casefold()), (5, heading.casefold()), (1, text.casefold()))
    weights = [max(factor * _weight(word, value) for factor, value in folded) for word in words]
    return sum(weights) if all(weights) else 0


def _weight(word: str, text: str) -> int:
    """3 for a whole word, 2 for the beginning of one, 1 for a part."""
    at = text.find(word)
    if at < 0:
        return 0
    padded = f" {text} "
    return 3 if f" {word} " in padded else 2 if f" {word}" in padded else 1
