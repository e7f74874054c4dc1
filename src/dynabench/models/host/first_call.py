"""The first call to a model, made by the host itself once it has loaded it: it is slow, and no person waits for it."""

import logging
from typing import Any

from dynabench.errors import Problem
from dynabench.models import kinds, samples
from dynabench.models.protocol import Card

log = logging.getLogger("dynabench.host")

SECONDS = 30.0
"""How long a model may take to answer it; longer ones are served without."""


def inputs(card: Card) -> dict[str, str] | None:
    """Return a small input, None for models that are not asked without need: those that cost money elsewhere, and
    those that write long replies."""
    if not card.inside or kinds.kind(card.kind).converses:
        return None
    texts = samples.ORDINARY
    return {
        name: samples.picture() if name in card.images else texts[place % len(texts)]
        for place, name in enumerate(card.inputs)
    }


async def make(engine: Any, model: Any) -> None:
    """Ask the model once through `engine`; a model that does not take the input is served all the same."""
    given = inputs(model.card)
    if given is None:
        return
    try:
        await engine.predict(model, [given], SECONDS)
    except Problem as problem:
        log.info("first call to %s: %s", model.card.name, problem.detail)
    except Exception:
        log.exception("first call to %s", model.card.name)
