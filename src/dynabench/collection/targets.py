"""The judge model of a task's rule, which says whether the targets' answers are wrong."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection.chat.sending import Conversed
from dynabench.collection.drafts import Draft
from dynabench.collection.drawing.service import Drawn
from dynabench.collection.tables import Judgement, Prediction
from dynabench.models.client import Answer, Host
from dynabench.tasks.rules import JudgedByModel
from dynabench.tasks.rules.base import ensemble_fooled


@dataclass(frozen=True)
class JudgeAnswer:
    """The judge model's words on one answer, and their meaning.

    `fooled` is True if they call the answer wrong, None if they say neither.
    """

    answer: Answer
    fooled: bool | None


async def ask_judge(host: Host, draft: Draft, answers: Sequence[Answer]) -> tuple[JudgeAnswer, ...]:
    """The judge's word on each answer, asked at the same time; none where the task's rule is another.

    Raises `Unavailable` where the judge does not answer: what it would have said is not guessed.
    """
    rule = draft.config.fooled
    if not isinstance(rule, JudgedByModel) or draft.judge is None:
        return ()
    example_values = {"context": draft.inputs, "input": draft.input, "claim": draft.answer}
    judge_inputs = [rule.given_to_judge(draft.config, example_values | {"answer": answer.answer}) for answer in answers]
    judge_outputs = await asyncio.gather(*(host.answer(*draft.judge, judge_input) for judge_input in judge_inputs))
    return tuple(JudgeAnswer(output, rule.verdict(output.answer)) for output in judge_outputs)


def keep(session: Session, example_id: int, judge_answers: Sequence[JudgeAnswer]) -> None:
    """Record what the judge model said of an example's answers."""
    prediction_ids = select(Prediction.id).where(Prediction.example_id == example_id).order_by(Prediction.position)
    session.add_all(
        Judgement(
            example_id=example_id,
            prediction_id=prediction,
            by="model",
            model=judge_answer.answer.model,
            version=judge_answer.answer.version,
            fooled=judge_answer.fooled,
            said=judge_answer.answer.answer,
        )
        for prediction, judge_answer in zip(session.scalars(prediction_ids).all(), judge_answers, strict=True)
    )


def recorded(session: Session, draft: Draft, verdict: "TargetVerdict", example_id: int) -> None:
    """Record what the judge model said of an example's answers."""
    if verdict.judge_answers:
        keep(session, example_id, verdict.judge_answers)


@dataclass(frozen=True)
class TargetVerdict:
    """The targets' answers: one flag per answer, the ensemble's, and the whole wait in milliseconds.

    A flag is None where people say later whether that answer is wrong. `judge_answers` are a judge
    model's answers about each.
    """

    answers: tuple[Answer, ...]
    flags: tuple[bool | None, ...]
    fooled: bool | None
    latency_ms: float
    judge_answers: tuple[JudgeAnswer, ...] = ()

    @property
    def doubt(self) -> int | None:
        """The mean uncertainty of the targets, from 0 (certain) to 1000 (all labels equally likely).

        None where the targets give no probabilities.
        """
        distributions = [list(answer.probabilities.values()) for answer in self.answers if answer.probabilities]
        unsure = [(1 - max(some)) / (1 - 1 / len(some)) for some in distributions if len(some) > 1]
        return round(1000 * min(max(sum(unsure) / len(unsure), 0.0), 1.0)) if unsure else None


UNASKED = TargetVerdict((), (), fooled=None, latency_ms=0.0)


async def ask(host: Host, draft: Draft) -> TargetVerdict:
    """Ask every target of the draft at the same time; `Unavailable` if any does not answer.

    Without targets nobody is asked, and whether anybody would have been fooled is not known; where they have conversed
    with the author, or drawn, they have answered already.
    """
    if (live := draft.conversed or draft.drawn) is not None:
        return _stood(draft, live)
    if not draft.targets:
        return UNASKED
    begun = time.perf_counter()
    answers = await gather(host, draft.targets, draft.inputs)
    latency = (time.perf_counter() - begun) * 1000
    computed = tuple(_fooled(draft, answer) for answer in answers)  # also says whether these are answers at all
    judge_answers = await ask_judge(host, draft, answers) if draft.judge else ()
    judged = tuple(judge_answer.fooled for judge_answer in judge_answers) or _unjudged(draft, computed)
    flags = computed if draft.config.fooled.judged_by is None else judged
    fooled = flags[0] if len(flags) == 1 else ensemble_fooled(draft.fooled_when, flags)
    return TargetVerdict(answers, flags, fooled, latency, judge_answers)


def _fooled(draft: Draft, answer: Answer) -> bool:
    return draft.config.fooled_by(answer.answer, draft.answer, draft.inputs, answer.probabilities)


def _unjudged(draft: Draft, computed: Sequence[bool]) -> tuple[bool | None, ...]:
    """Return the flags before people judge: False where no error is possible, else None.

    An answer that its author claims to be right is no error.
    """
    config = draft.config
    claimed = [draft.answer.get(field.name) is not None for field in config.fooled.counting(config.answer)]
    own = config.fooled.judged_by == "annotator" and claimed and all(claimed)
    return tuple(False if own and not differs else None for differs in computed)


def _stood(draft: Draft, live_answers: Conversed | Drawn) -> TargetVerdict:
    """A side is fooled where the author claims something else of what it did than models claim by doing it."""
    stands = bool(draft.config.claims)
    flags = tuple(
        stands and picked and draft.config.fooled_by(answer.answer, draft.answer, draft.inputs)
        for answer, picked in zip(live_answers.answers, live_answers.picked, strict=True)
    )
    waited = max(answer.latency_ms for answer in live_answers.answers)
    return TargetVerdict(live_answers.answers, flags, ensemble_fooled(draft.fooled_when, flags), waited)


async def gather(host: Host, targets: Sequence[tuple[str, str]], inputs: dict[str, Any]) -> tuple[Answer, ...]:
    """Return the answer of each target (model and version) to `inputs`.

    Raise `Unavailable` if any of them does not answer.
    """
    if len(targets) == 1:
        return (await host.answer(*targets[0], inputs),)
    tasks = [asyncio.create_task(host.answer(*target, inputs)) for target in targets]
    try:
        return tuple(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:  # the others' answers are of no use any more
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
