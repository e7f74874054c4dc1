"""The judge model of a task's rule, which says whether the targets' answers are wrong."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection.drafts import Draft
from dynabench.collection.tables import Judgement, Prediction
from dynabench.models.client import Answer, Host
from dynabench.tasks.rules import JudgedByModel

if TYPE_CHECKING:
    from dynabench.collection.targets import Verdict


@dataclass(frozen=True)
class Said:
    """The judge model's words on one answer, and their meaning.

    `fooled` is True if they call the answer wrong, None if they say neither.
    """

    answer: Answer
    fooled: bool | None


async def ask(host: Host, draft: Draft, answers: Sequence[Answer]) -> tuple[Said, ...]:
    """The judge's word on each answer, asked at the same time; none where the task's rule is another.

    Raises `Unavailable` where the judge does not answer: what it would have said is not guessed.
    """
    rule = draft.config.fooled
    if not isinstance(rule, JudgedByModel) or draft.judge is None:
        return ()
    known = {"context": draft.inputs, "input": draft.input, "claim": draft.answer}
    asked = [rule.given_to_judge(draft.config, known | {"answer": each.answer}) for each in answers]
    said = await asyncio.gather(*(host.answer(*draft.judge, each) for each in asked))
    return tuple(Said(each, rule.verdict(each.answer)) for each in said)


def keep(session: Session, example_id: int, said: Sequence[Said]) -> None:
    """Record what the judge model said of an example's answers."""
    wanted = select(Prediction.id).where(Prediction.example_id == example_id).order_by(Prediction.position)
    session.add_all(
        Judgement(
            example_id=example_id,
            prediction_id=prediction,
            by="model",
            model=each.answer.model,
            version=each.answer.version,
            fooled=each.fooled,
            said=each.answer.answer,
        )
        for prediction, each in zip(session.scalars(wanted).all(), said, strict=True)
    )


def recorded(session: Session, draft: Draft, verdict: "Verdict", example_id: int) -> None:
    """Record what the judge model said of an example's answers."""
    if verdict.said:
        keep(session, example_id, verdict.said)
