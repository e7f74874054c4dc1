"""Texts of a language model: one that the host serves and that converses, our own or any that speaks OpenAI's way."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.collection.assisting import neighbours
from dynabench.collection.assisting.providers import Asked, Suggested, World
from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _
from dynabench.models.protocol import Card
from dynabench.tasks.sections import PROMPT, PROMPT_PLACEHOLDER, AssistantModel

SECONDS = 30.0
"""That a model may take."""
LONGEST = 20_000
"""Characters of its reply that are read."""
EXAMPLES = 5
_LEAD = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.):])\s+")
_QUOTES = {'"': '"', "“": "”", "'": "'", "«": "»"}


async def suggest(asked: Asked, world: World) -> Sequence[Suggested]:
    """Return the texts, one per line, that the config's model writes for its prompt."""
    model = asked.config.assistant.model
    if model is None:
        return []
    patterns = await world.db.aread(neighbours.nearest, asked, EXAMPLES)
    content = filled(asked, model, [each.text for each in patterns])
    messages = [{"role": "system", "content": model.system}] if model.system else []
    messages.append({"role": "user", "content": content})
    try:
        async with asyncio.timeout(SECONDS):
            card = _served(model.name, await world.host.index())
            said = ""
            async for piece in world.host.converse(card.name, card.version, messages, model.max_tokens):
                said += piece
                if len(said) > LONGEST:
                    break
    except TimeoutError:
        raise Unavailable(
            _("The assistant's model has not answered in time. Go on without it, or ask again.")
        ) from None
    return [Suggested(text, {}, card.name, card.version) for text in lines(said)]


def filled(asked: Asked, model: AssistantModel, examples: Sequence[str]) -> str:
    """The prompt with its values; what people wrote is filled in once, and never read as a prompt itself."""
    config, context = asked.config, asked.context
    texts = {field.name: field.in_words(context[field.name]) for field in config.context if field.name in context}
    values: Mapping[str, Any] = {
        "number": asked.most,
        "goal": _goal(asked),
        "draft": asked.draft or "(nothing)",
        "examples": "\n".join(examples) or "(none)",
        "instructions": config.instructions.create,
        "given": "\n".join(f"{field.label}: {texts[field.name]}" for field in config.context if field.name in texts),
        **texts,
    }
    return PROMPT_PLACEHOLDER.sub(lambda place: str(values.get(place[1], place[0])), model.prompt or PROMPT)


def lines(said: str) -> list[str]:
    """The texts of a reply, without the numbers, dashes and quotation marks that models put around them anyway."""
    found = []
    for line in said.splitlines():
        text = _LEAD.sub("", line).strip()
        if len(text) > 2 and _QUOTES.get(text[0]) == text[-1]:
            text = text[1:-1].strip()
        if text:
            found.append(text)
    return found


def _goal(asked: Asked) -> str:
    """The answer that the text must have, in words."""
    fields = {field.name: field for field in asked.config.answer}
    return ", ".join(str(fields[name].in_words(value)) for name, value in (asked.goal or {}).items()) or "(anything)"


def _served(name: str, cards: Sequence[Card]) -> Card:
    """The model version that the config means."""
    found = next((card for card in cards if name in (card.name, f"{card.name}@{card.version}")), None)
    if found is None:
        raise Unavailable(_("The assistant's model is not served at the moment. Go on without it."))
    return found
