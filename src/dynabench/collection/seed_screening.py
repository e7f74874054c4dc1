"""Seeds whose known answer already fools a round's targets: found, marked, and passed over by the draw.

Such a seed would give its annotator an example for nothing. A seed is marked with the round that it fools, so that the
draw walks past none of them; the marks of earlier rounds are taken back little by little, by the draws themselves.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session

from dynabench.collection import seeds
from dynabench.collection.handout_tables import Seed, SeedPrediction
from dynabench.kit import errors
from dynabench.models.client import Answer
from dynabench.rounds import plan, planning
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round
from dynabench.tasks import TaskConfig
from dynabench.tasks.rules.base import EnsembleRule, ensemble_fooled

MOST_ASKED = 4
"""Seeds about which the targets are asked for one hand-out; after these it begins without a seed."""
LONGEST_SECONDS = 5.0
"""After which no other seed is drawn for a hand-out, so that nobody waits long."""
MOST_KNOWN = 20
"""Seeds without a mark that one draw may find to fool by answers that are stored."""


@dataclass(frozen=True)
class Screening:
    """The facts that decide whether a seed fools the models that are asked about it.

    `stored` holds their answers so far, `by_round` tells that these models are the round's own targets.
    """

    round_id: int
    config: TaskConfig
    ensemble: EnsembleRule
    targets: tuple[plan.Target, ...]
    by_round: bool
    answer: Mapping[str, Any]
    inputs: dict[str, Any]
    stored: Mapping[plan.Target, SeedPrediction | Answer]

    @property
    def missing(self) -> tuple[plan.Target, ...]:
        """The models that have yet to be asked, so that it is not known whether the seed fools them."""
        return tuple(target for target in self.targets if target not in self.stored)

    def fools(self, answers: Iterable[Answer] = ()) -> bool:
        """Return whether the known answer fools the models, with further `answers` of theirs, as in the live loop.

        False where that is not known: a model has yet to answer, or answers something else than was asked.
        """
        by_target = {**self.stored, **{(answer.model, answer.version): answer for answer in answers}}
        if any(target not in by_target for target in self.targets):
            return False
        predictions = [by_target[target] for target in self.targets]
        try:
            flags = [
                self.config.fooled_by(prediction.answer, self.answer, self.inputs, prediction.probabilities)
                for prediction in predictions
            ]
        except errors.Unavailable:
            return False
        return ensemble_fooled(self.ensemble, flags) is True


def screens(round_: Round, config: TaskConfig) -> bool:
    """Return whether seeds that fool the targets are passed over in a round.

    They are not where its plan says so, where people or a judge model decide, or where models converse or draw.
    """
    computed = config.fooled.judged_by is None and config.chat is None and config.drawing is None
    return computed and planning.plan_of(round_).seeds == "not_fooling"


def screening_of(
    session: Session,
    round_: Round,
    config: TaskConfig,
    seed: Seed,
    targets: Sequence[plan.Target],
    stored: Mapping[plan.Target, SeedPrediction] | None = None,
) -> Screening | None:
    """Return what decides whether a seed fools these models; None where that is not asked.

    Nothing decides for a seed without a known answer. In an arm without `targets` the round's own decide, so that all
    arms draw from the same seeds.
    """
    if not seed.answer or not screens(round_, config):
        return None
    round_targets = rounds.targets_of(session, round_.id)
    targets = targets or round_targets
    if not targets:
        return None
    if stored is None:
        stored = {(row.model, row.version): row for row in session.scalars(seeds.seed_predictions(seed.id))}
    context = session.get_one(Context, seed.context_id)
    return Screening(
        round_id=round_.id,
        config=config,
        ensemble=cast(EnsembleRule, round_.fooled_when),
        targets=tuple(targets),
        by_round=set(targets) == set(round_targets),
        answer=seed.answer,
        inputs=config.model_inputs(context.values, seed.input),
        stored=stored,
    )


def draw_seed(
    session: Session,
    round_: Round,
    targets: Sequence[plan.Target],
    rng: random.Random,
    *,
    last: int,
    languages: Sequence[str],
    passed: list[int],
    keeps_marks: bool,
) -> Seed | None:
    """Draw a seed for a round that is not known to fool `targets`; None where there is none.

    Those of `passed` are left out, and seeds found to fool are added to it; with `keeps_marks` they are marked. `last`
    is the seed that the person had before.
    """
    config = rounds.config_of(session, round_.version_id)
    marked = round_.id if screens(round_, config) else 0
    if keeps_marks:
        seeds.remove_older_marks(session, round_.task_id, marked)
    for _ in range(MOST_KNOWN):
        seed = seeds.pick(session, round_.task_id, rng, last, languages, round_id=marked, passed=passed)
        screening = screening_of(session, round_, config, seed, targets) if seed else None
        if seed is None or screening is None or not screening.fools():
            return seed
        if keeps_marks:
            mark(session, seed.id, screening)
        passed.append(seed.id)
    return None


def mark(session: Session, seed_id: int, screening: Screening) -> None:
    """Mark a seed that fools a round's own targets, so that no draw of the round meets it again."""
    if not screening.by_round:
        return
    free = select(Seed.id).where(Seed.id == seed_id, Seed.fooled_round != screening.round_id)
    if session.scalar(free.with_for_update(skip_locked=True)):  # else another draw is at it, and nobody waits
        change = update(Seed).where(Seed.id == seed_id).values(fooled_round=screening.round_id)
        session.execute(change, execution_options={"synchronize_session": False})


def is_any_marked(session: Session, round_: Round) -> bool:
    """Return whether a seed is passed over in a round: one index probe."""
    return session.scalar(_marked(round_).with_only_columns(Seed.id).limit(1)) is not None


@dataclass(frozen=True)
class SeedCounts:
    """The number of a task's seeds, and of those that are not handed out in a round."""

    all: int
    fooling: int


def count_seeds(session: Session, round_: Round) -> SeedCounts:
    """Count a task's seeds and those that are passed over in a round: walks the task's part of an index."""
    total = session.scalar(select(func.count()).select_from(Seed).where(Seed.task_id == round_.task_id)) or 0
    screened = screens(round_, rounds.config_of(session, round_.version_id))
    fooling = session.scalar(_marked(round_).with_only_columns(func.count())) if screened and total else 0
    return SeedCounts(total, fooling or 0)


def _marked(round_: Round) -> Select[Any]:
    return select(Seed.id).where(Seed.task_id == round_.task_id, Seed.fooled_round == round_.id)
