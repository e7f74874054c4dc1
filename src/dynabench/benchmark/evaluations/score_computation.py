"""Scores from stored answers: of the whole with interval and paired replicates, of slices, of perturbed copies."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import evaluation_run, queries, row_scores
from dynabench.benchmark.evaluations.answers import AnswerColumns, answer_field, gather_answers
from dynabench.benchmark.evaluations.measures import (
    ACCURACIES,
    BoundMetric,
    Replicates,
    bind_metric,
    formula_version,
    pack_replicates,
    same_answer,
)
from dynabench.benchmark.evaluations.tables import Score, Shard
from dynabench.evaluate.resampling import score_replicates
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import service as rounds
from dynabench.stats.bootstrap import cost_replicates, mean_replicates
from dynabench.stats.rates import clustered_rate, wilson
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice

MAX_SLICES = 500
"""Slices of one evaluation that are scored, the largest first."""


@dataclass(frozen=True)
class NewScore:
    """A score that is not stored yet; see `tables.Score`."""

    metric: str
    value: float
    low: float | None
    high: float | None
    n: int
    replicates: Replicates | None = None
    slice: str = ""


@dataclass(frozen=True)
class ScoringWork:
    """The input of scoring: the task's config, the digest that random numbers belong to, and the parts' answers."""

    config: TaskConfig
    digest: str
    visibility: str
    parts: Mapping[str, AnswerColumns]


def compute_scores(database: Database, settings: Settings, evaluation: int) -> list[NewScore]:
    """Return all scores of an answered evaluation, and store the scores of single rows (`row_scores`)."""
    work = database.read(_work, settings, evaluation)
    rows = work.parts[evaluation_run.ROWS]
    _keep_rows(settings, evaluation, work)
    names = list(dict.fromkeys([work.config.metrics.primary, *work.config.metrics.report]))
    new_scores = [new_score for name in names if (new_score := whole_score(name, rows, work.digest))]
    new_scores += calibration_score(rows, work.digest)
    new_scores += slice_scores(names, rows, Disclosure.at_most(work.visibility))
    for axis in (part for part in work.parts if part != evaluation_run.ROWS):
        new_scores += twin_scores(axis, work.config.metrics.primary, rows, work.parts[axis], work.digest)
    if rows.costs:
        new_scores.append(NewScore("price", 1000 * float(np.mean(rows.costs)), None, None, len(rows.costs)))
        paid = [cost for part in work.parts.values() for cost in part.costs]
        new_scores.append(NewScore("spent", float(np.sum(paid)), None, None, len(paid)))
    return new_scores


def restore_row_scores(
    database: Database, settings: Settings, progress: Callable[[int, int], None] = lambda done, of: None
) -> int:
    """Compute the scores of single rows again where their file is missing or broken; return the number of
    evaluations.

    Evaluations whose answers or dataset are missing as well are skipped.
    """
    count = 0
    answered = database.read(lambda session: session.execute(queries.answered_evaluations()).all())
    for done, (evaluation, rows) in enumerate(answered, 1):
        if not row_scores.is_whole(settings, evaluation, rows):
            with suppress(OSError, ValueError, KeyError):
                _keep_rows(settings, evaluation, database.read(_work, settings, evaluation, [evaluation_run.ROWS]))
                count += 1
        progress(done, len(answered))
    return count


def _keep_rows(settings: Settings, evaluation: int, work: ScoringWork) -> None:
    config = work.config
    row_scores.store_row_scores(
        settings,
        evaluation,
        row_scores.compute_row_scores(config.metrics.primary, config.fooled, work.parts[evaluation_run.ROWS]),
    )


def whole_score(name: str, rows: AnswerColumns, digest: str, title: str = "") -> NewScore | None:
    """A metric over all rows; None where it is undefined there."""
    try:
        chosen = bind_metric(name, rows.answer, rows.predictions, rows.right)
        value = _computed(chosen)
    except ValueError:
        return None
    if not isinstance(value, int | float) or not np.isfinite(value):
        return None
    try:
        drawn = score_replicates(chosen.module, chosen.columns, digest)[chosen.key] * chosen.scale
    except (ValueError, KeyError):
        return NewScore(title or name, float(value), None, None, len(rows.predictions))
    new_score = _with_interval(title or name, float(value), drawn, len(rows.predictions))
    if name not in ACCURACIES:
        return new_score
    rate = wilson(round(value * new_score.n), new_score.n)  # which has a width where all rows are right, too
    return replace(new_score, low=rate.low, high=rate.high)


def calibration_score(rows: AnswerColumns, digest: str) -> list[NewScore]:
    """Return the difference between the answers' probabilities and the rate of right answers, if there are
    probabilities."""
    if not isinstance(rows.answer, Choice) or not all(rows.chances):
        return []
    from dynabench import evaluate

    module = evaluate.load("expected_calibration_error")
    sure = [
        max(0.0, min(1.0, max(label_probabilities.values())))
        for label_probabilities in rows.chances
        if label_probabilities
    ]
    columns = {"predictions": sure, "references": [int(hit) for hit in rows.hits()]}
    key = "expected_calibration_error"
    value = float(module.compute(**columns)[key])
    return [_with_interval("calibration_error", value, score_replicates(module, columns, digest)[key], len(sure))]


def slice_scores(names: Sequence[str], rows: AnswerColumns, disclosure: Disclosure) -> Iterator[NewScore]:
    """Yield the scores of the rows with each tag: the share of right answers with Wilson's interval, and for texts
    the metrics.

    A slice with one label has no F1 over classes: what counts there is how often that label is found.
    """
    hits = np.array(rows.hits())
    by_size = sorted(rows.places.items(), key=lambda tagged: -len(tagged[1]))
    labels = isinstance(rows.answer, Choice)
    right = "accuracy" if labels else "exact_match"
    visible = [tagged for tagged in by_size if disclosure.shows_slice(len(tagged[1]), len(hits))]
    for tag, places in visible[:MAX_SLICES]:
        rate = wilson(int(hits[places].sum()), len(places))
        yield NewScore(right, float(rate.value or 0), rate.low, rate.high, len(places), slice=tag[:200])
        for name in names:
            if labels or name == right:
                continue
            part = AnswerColumns(
                rows.answer,
                predictions=[rows.predictions[at] for at in places],
                right=[rows.right[at] for at in places],
            )
            if new_score := whole_score(name, part, tag):
                yield NewScore(name, new_score.value, new_score.low, new_score.high, new_score.n, slice=tag[:200])


def twin_scores(axis: str, primary: str, rows: AnswerColumns, copies: AnswerColumns, digest: str) -> list[NewScore]:
    """Return how steady and how good answers are on perturbed copies of rows.

    `axis`: the share of an original's copies that get the original's own answer, averaged over originals that
    have copies (Dynaboard's fairness and robustness). `axis_score`: the primary metric over the copies.
    """
    own = dict(zip(rows.uids, rows.predictions, strict=True))
    same_by_original: dict[str, list[bool]] = defaultdict(list)
    for original, prediction in zip(copies.originals, copies.predictions, strict=True):
        if original in own:
            same_by_original[original].append(same_answer(rows.answer, own[original], prediction))
    new_scores = []
    if same_by_original:
        shares = np.array([np.mean(same_by_original[uid]) for uid in rows.uids if uid in same_by_original])
        rate = clustered_rate(shares, np.ones(len(shares)))  # which has a width where no answer changed, too
        new_scores.append(
            NewScore(axis, float(shares.mean()), rate.low, rate.high, len(shares), mean_replicates(shares, digest))
        )
    if copies.predictions and (new_score := whole_score(primary, copies, digest, f"{axis}_score")):
        new_scores.append(new_score)
    return new_scores


def store_scores(
    session: Session, evaluation: int, new_scores: Sequence[NewScore], costs: Sequence[Mapping[str, Any]]
) -> None:
    """Store scores in place of earlier ones. Without new `costs`, measured costs stay."""
    stays = [] if costs else [*_measured()]
    session.execute(delete(Score).where(Score.evaluation_id == evaluation, Score.metric.not_in(stays)))
    versions: dict[str, int] = {}
    for new_score in [*new_scores, *(_cost(evaluation, **cost) for cost in costs)]:
        drawn = None if new_score.replicates is None else pack_replicates(new_score.replicates)
        session.add(
            Score(
                evaluation_id=evaluation,
                metric=new_score.metric,
                slice=new_score.slice,
                value=new_score.value,
                low=new_score.low,
                high=new_score.high,
                n=new_score.n,
                replicates=drawn,
                made_at=now(),
                version=versions.setdefault(new_score.metric, formula_version(new_score.metric)),
            )
        )


def _cost(evaluation: int, metric: str, repeats: Sequence[float], **more: Any) -> NewScore:
    """With replicates where it was measured more than once; those of two evaluations are independent."""
    drawn = cost_replicates(repeats, f"{metric} of evaluation {evaluation}") if len(repeats) > 1 else None
    return NewScore(metric, **more, replicates=drawn)


def _computed(chosen: BoundMetric) -> Any:
    columns: dict[str, Any] = dict(chosen.columns)
    value = chosen.module.compute(**columns)[chosen.key]
    return value * chosen.scale if isinstance(value, int | float) else None


def _measured() -> tuple[str, ...]:
    from dynabench.benchmark.evaluations.costs import COST_METRICS

    return COST_METRICS


def _work(session: Session, settings: Settings, evaluation: int, only: Sequence[str] = ()) -> ScoringWork:
    _, submission, version, dataset = evaluation_run.load_evaluation(session, evaluation)
    config = rounds.newest_config(session, dataset.task_id)
    done: dict[str, list[Shard]] = defaultdict(list)
    for shard in session.scalars(queries.finished_shards(evaluation)):
        done[shard.part].append(shard)
    parts = evaluation_run.evaluation_parts(session, submission, version, config.metrics.perturb)
    field = answer_field(config, settings, done[evaluation_run.ROWS][0])
    gathered = {
        part.name: gather_answers(settings, field, part.digest, done[part.name], config.fooled.reads)
        for part in parts
        if sum(shard.rows for shard in done[part.name]) == part.rows and part.name in (only or [part.name])
    }
    return ScoringWork(config, version.digest, dataset.visibility, gathered)


def _with_interval(name: str, value: float, drawn: NDArray[np.float64], n: int) -> NewScore:
    """With a 95 % percentile interval of the replicates; samples where it is undefined count as the value."""
    filled = np.where(np.isfinite(drawn), drawn, value)
    low, high = np.quantile(filled, [0.025, 0.975])
    return NewScore(name, value, float(low), float(high), n, filled)
