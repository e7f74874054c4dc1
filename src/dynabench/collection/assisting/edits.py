"""Small edits of what somebody has written: such as keep its meaning, and such as swap who it is about."""

from collections.abc import Sequence
from random import Random

from anyio import to_thread

from dynabench.adversaries.perturbations import transformations
from dynabench.collection.assisting.providers import Asked, Suggested, World
from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _


def edits(asked: Asked) -> list[Suggested]:
    """The draft changed by each of the config's transformations that change anything, in random order."""
    known, rng = transformations(), Random(asked.seed)
    names = asked.config.assistant.edits
    if unknown := [name for name in names if name not in known]:
        raise Unavailable(_("The task's config names an edit that there is not: %(name)s.", name=unknown[0]))
    found: dict[str, Suggested] = {}
    for name in rng.sample(names, len(names)):
        changed = known[name].apply({asked.field.name: asked.draft}, rng) if asked.draft else None
        if changed is not None and (text := changed[asked.field.name].text) != asked.draft:
            found.setdefault(text, Suggested(text, {"edit": known[name].title}))
    return list(found.values())


async def suggest(asked: Asked, world: World) -> Sequence[Suggested]:
    """See `edits`; computed beside the event loop."""
    return await to_thread.run_sync(edits, asked)
