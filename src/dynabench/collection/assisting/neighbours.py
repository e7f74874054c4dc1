"""Past successes as patterns: what fooled a model on a context like this one, in rounds that everybody may read."""

from collections.abc import Sequence

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from dynabench.collection.assisting.providers import Asked, Suggested, World
from dynabench.collection.tables import Example, Standing
from dynabench.people import disclosure
from dynabench.rounds.tables import Context, Round, RoundState
from dynabench.stats.minhash import shingle_hashes, similarity
from dynabench.tasks.fields import Text

POOL = 300
"""Examples that are compared, the newest."""
SHOWN = 200
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


def nearest(session: Session, asked: Asked, most: int) -> list[Suggested]:
    """Texts of those whose context, and text so far, are most alike (Jaccard of letter groups), the likest first."""
    mine = shingle_hashes(_said(asked, asked.context, asked.draft))
    found: list[tuple[float, int, Suggested]] = []
    for example, context in session.execute(_successes(asked.task_id)):
        text = example.input.get(asked.field.name)
        answers_goal = all(example.answer.get(name) == value for name, value in (asked.goal or {}).items())
        if not isinstance(text, str) or not answers_goal or example.author_id == asked.person_id:
            continue
        shown = asked.config.shown_context(context.values)
        near = similarity(mine, shingle_hashes(_said(asked, shown, text if asked.draft else "")))
        about = {"context": _first_text(asked, shown)[:SHOWN], "alike": round(near, 3)}
        found.append((near, example.id, Suggested(text, about)))
    found.sort(key=lambda each: each[:2], reverse=True)
    return [suggested for _, _, suggested in found[:most]]


async def suggest(asked: Asked, world: World) -> Sequence[Suggested]:
    """See `nearest`; more of them than are wanted, since some may have been shown before."""
    found: list[Suggested] = await world.db.aread(nearest, asked, asked.most * (asked.config.assistant.times + 1))
    return found


def _said(asked: Asked, context: object, text: str) -> str:
    values = context if isinstance(context, dict) else {}
    texts = [values.get(field.name) for field in asked.config.context if isinstance(field, Text)]
    return "\n".join([*(each for each in texts if isinstance(each, str)), text])


def _first_text(asked: Asked, context: dict[str, object]) -> str:
    texts = (context.get(field.name) for field in asked.config.context if isinstance(field, Text))
    return next((each for each in texts if isinstance(each, str)), "")
