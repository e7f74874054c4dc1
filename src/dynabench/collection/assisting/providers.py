"""The providers of suggestions.

A provider is asked with what the annotator has on the page, and answers with texts.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from anyio import to_thread
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from dynabench.adversaries.perturbations import transformations
from dynabench.collection.tables import Example, Standing
from dynabench.kit.db import Database
from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _
from dynabench.models.client import Host
from dynabench.models.protocol import ModelCard
from dynabench.people import disclosure
from dynabench.rounds.tables import Context, Round, RoundState
from dynabench.stats.minhash import shingle_hashes, similarity
from dynabench.tasks import TaskConfig
from dynabench.tasks.assistant_sections import PROMPT_PLACEHOLDER, AssistantModel
from dynabench.tasks.fields import Text
from dynabench.tasks.sections import PROMPT


@dataclass(frozen=True)
class SuggestionRequest:
    """An annotator's request for suggestions, with all that a provider may know.

    `context` is the text shown to the annotator, `goal` the answer that they write for (None where they choose it),
    `draft` the text of the `field` so far; `seed` differs for each request.
    """

    task_id: str
    person_id: int
    handout_id: int
    context_id: int
    config: TaskConfig
    field: Text
    context: Mapping[str, Any]
    goal: Mapping[str, Any] | None
    draft: str
    seed: str

    @property
    def most(self) -> int:
        """Suggestions that are wanted."""
        return self.config.assistant.most


@dataclass(frozen=True)
class Suggested:
    """A text, and what people are told of it, as plain JSON values by name."""

    text: str
    about: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    version: str = ""


@dataclass(frozen=True)
class World:
    """The database and the model host, as providers reach them.

    Nothing of the database is held while a provider waits for a model.
    """

    db: Database
    host: Host


class Provider(Protocol):
    """Suggests texts."""

    async def __call__(self, request: SuggestionRequest, world: World) -> Sequence[Suggested]:
        """The best first, none where it knows none; raises `Unavailable` with a sentence for people."""
        ...


def providers() -> Mapping[str, Provider]:
    """Every provider by the name that configs give it."""
    return {"neighbours": suggest_neighbours, "edits": suggest_edits, "model": suggest_texts}


POOL = 300
"""Examples that are compared, the newest."""
CONTEXT_LENGTH = 200
"""Characters of their context that are told."""


def _successes(task_id: str) -> Select[Example, Context]:
    """Released examples that fooled and were found correct, newest first: walks the index of each released round.

    What a release keeps hidden is withheld, and what is not released may be hidden yet: neither is ever shown.
    """
    return (
        select(Example, Context)
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .join(Context, Context.id == Example.context_id)
        .where(
            Round.task_id == task_id,
            Round.state == RoundState.RELEASED,
            Standing.verdict == "correct",
            Standing.fooled.is_(True),
        )
        .where(disclosure.shown_examples(Standing))
        .order_by(Example.id.desc())
        .limit(POOL)
    )


def nearest(session: Session, request: SuggestionRequest, most: int) -> list[Suggested]:
    """Texts of those whose context, and text so far, are most alike (Jaccard of letter groups), the likest first."""
    mine = shingle_hashes(_compared_text(request, request.context, request.draft))
    scored: list[tuple[float, int, Suggested]] = []
    for example, context in session.execute(_successes(request.task_id)):
        text = example.input.get(request.field.name)
        answers_goal = all(example.answer.get(name) == value for name, value in (request.goal or {}).items())
        if not isinstance(text, str) or not answers_goal or example.author_id == request.person_id:
            continue
        context_values = request.config.shown_context(context.values)
        near = similarity(mine, shingle_hashes(_compared_text(request, context_values, text if request.draft else "")))
        about = {"context": _first_text(request, context_values)[:CONTEXT_LENGTH], "alike": round(near, 3)}
        scored.append((near, example.id, Suggested(text, about)))
    scored.sort(key=lambda entry: entry[:2], reverse=True)
    return [suggested for _, _, suggested in scored[:most]]


async def suggest_neighbours(request: SuggestionRequest, world: World) -> Sequence[Suggested]:
    """See `nearest`; more of them than are wanted, since some may have been shown before."""
    suggestions: list[Suggested] = await world.db.aread(
        nearest, request, request.most * (request.config.assistant.times + 1)
    )
    return suggestions


def _compared_text(request: SuggestionRequest, context: object, text: str) -> str:
    values = context if isinstance(context, dict) else {}
    texts = [values.get(field.name) for field in request.config.context if isinstance(field, Text)]
    return "\n".join([*(part for part in texts if isinstance(part, str)), text])


def _first_text(request: SuggestionRequest, context: dict[str, object]) -> str:
    texts = (context.get(field.name) for field in request.config.context if isinstance(field, Text))
    return next((text for text in texts if isinstance(text, str)), "")


def edits(request: SuggestionRequest) -> list[Suggested]:
    """The draft changed by each of the config's transformations that change anything, in random order."""
    transformations_by_name, rng = transformations(), Random(request.seed)
    names = request.config.assistant.edits
    if unknown := [name for name in names if name not in transformations_by_name]:
        raise Unavailable(_("The task's config names an unknown edit: %(name)s.", name=unknown[0]))
    suggestions: dict[str, Suggested] = {}
    for name in rng.sample(names, len(names)):
        changed = (
            transformations_by_name[name].apply({request.field.name: request.draft}, rng) if request.draft else None
        )
        if changed is not None and (text := changed[request.field.name].text) != request.draft:
            suggestions.setdefault(text, Suggested(text, {"edit": transformations_by_name[name].title}))
    return list(suggestions.values())


async def suggest_edits(request: SuggestionRequest, world: World) -> Sequence[Suggested]:
    """See `edits`; computed beside the event loop."""
    return await to_thread.run_sync(edits, request)


SECONDS = 30.0
"""That a model may take."""
LONGEST = 20_000
"""Characters of its reply that are read."""
EXAMPLES = 5
_LEAD = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.):])\s+")
_QUOTES = {'"': '"', "“": "”", "'": "'", "«": "»"}


async def suggest_texts(request: SuggestionRequest, world: World) -> Sequence[Suggested]:
    """Return the texts, one per line, that the config's model writes for its prompt."""
    model = request.config.assistant.model
    if model is None:
        return []
    patterns = await world.db.aread(nearest, request, EXAMPLES)
    content = filled(request, model, [pattern.text for pattern in patterns])
    messages = [{"role": "system", "content": model.system}] if model.system else []
    messages.append({"role": "user", "content": content})
    try:
        async with asyncio.timeout(SECONDS):
            card = _served(model.name, await world.host.index())
            reply = ""
            async for piece in world.host.converse(card.name, card.version, messages, model.max_tokens):
                reply += piece
                if len(reply) > LONGEST:
                    break
    except TimeoutError:
        raise Unavailable(
            _("The assistant's model did not answer in time. Continue without it or ask again.")
        ) from None
    return [Suggested(text, {}, card.name, card.version) for text in lines(reply)]


def filled(request: SuggestionRequest, model: AssistantModel, examples: Sequence[str]) -> str:
    """The prompt with its values; what people wrote is filled in once, and never read as a prompt itself."""
    config, context = request.config, request.context
    texts = {field.name: field.in_words(context[field.name]) for field in config.context if field.name in context}
    values: Mapping[str, Any] = {
        "number": request.most,
        "goal": _goal_in_words(request),
        "draft": request.draft or "(nothing)",
        "examples": "\n".join(examples) or "(none)",
        "instructions": config.instructions.briefing,
        "given": "\n".join(f"{field.label}: {texts[field.name]}" for field in config.context if field.name in texts),
        **texts,
    }
    return PROMPT_PLACEHOLDER.sub(lambda place: str(values.get(place[1], place[0])), model.prompt or PROMPT)


def lines(reply: str) -> list[str]:
    """The texts of a reply, without the numbers, dashes and quotation marks that models put around them anyway."""
    texts = []
    for line in reply.splitlines():
        text = _LEAD.sub("", line).strip()
        if len(text) > 2 and _QUOTES.get(text[0]) == text[-1]:
            text = text[1:-1].strip()
        if text:
            texts.append(text)
    return texts


def _goal_in_words(request: SuggestionRequest) -> str:
    fields = {field.name: field for field in request.config.answer}
    return ", ".join(str(fields[name].in_words(value)) for name, value in (request.goal or {}).items()) or "(anything)"


def _served(name: str, cards: Sequence[ModelCard]) -> ModelCard:
    match = next((card for card in cards if name in (card.name, f"{card.name}@{card.version}")), None)
    if match is None:
        raise Unavailable(_("The assistant's model is not available right now. Continue without it."))
    return match
