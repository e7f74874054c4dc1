"""Scores from stored answers: of the whole with interval and paired replicates, of slices, of perturbed copies."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete
from sqlalchemy.orm import Session

from dynabench.benchmark.disclosure import Disclosure
from dynabench.db import Database, now
from dynabench.evaluate.replicates import score_replicates
from dynabench.rounds import service as rounds
from dynabench.scoring import planning, queries, row_scores
from dynabench.scoring.columns import Metric, metric, same
from dynabench.scoring.gathering import Gathered, answer_field, gather
from dynabench.scoring.measures import Replicates, packed, version_of
from dynabench.scoring.tables import Score, Shard
from dynabench.settings import Settings
from dynabench.stats.rates import clustered_rate, wilson
from dynabench.stats.replicates import cost_replicates, mean_replicates
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice

SLICES = 500
"""Slices of one evaluation that are scored, the largest first."""
RATES = ("accuracy", "exact_match")
"""Metrics that are a share of rows."""


@dataclass(frozen=True)
class Made:
    """A score that is not stored yet; see `tables.Score`."""

    metric: str
    value: float
    low: float | None
    high: float | None
    n: int
    replicates: Replicates | None = None
    slice: str = ""


@dataclass(frozen=True)
class Work:
    """What is scored: the task's config, the digest that random numbers belong to, and the parts' answers."""

    config: TaskConfig
    digest: str
    visibility: str
    parts: Mapping[str, Gathered]


def scores(database: Database, settings: Settings, evaluation: int) -> list[Made]:
    """All scores of an evaluation whose rows are answered; those of single rows are kept on the way (`row_scores`)."""
    work = database.read(_work, settings, evaluation)
    rows = work.parts[planning.ROWS]
    _keep_rows(settings, evaluation, work)
    names = list(dict.fromkeys([work.config.metrics.primary, *work.config.metrics.report]))
    found = [made for name in names if (made := whole(name, rows, work.digest))]
    found += calibration(rows, work.digest)
    found += slices(names, rows, Disclosure.at_most(work.visibility))
    for axis in (part for part in work.parts if part != planning.ROWS):
        found += perturbed(axis, work.config.metrics.primary, rows, work.parts[axis], work.digest)
    if rows.costs:
        found.append(Made("price", 1000 * float(np.mean(rows.costs)), None, None, len(rows.costs)))
        paid = [cost for part in work.parts.values() for cost in part.costs]
        found.append(Made("spent", float(np.sum(paid)), None, None, len(paid)))
    return found


def missing_rows(database: Database, settings: Settings) -> int:
    """Make the scores of single rows anew (`row_scores`) where their file is gone or broken; of how many evaluations.

    Those whose answers or dataset are gone as well are passed over.
    """
    made = 0
    for evaluation, rows in database.read(lambda session: session.execute(queries.answered()).all()):
        if not row_scores.is_whole(settings, evaluation, rows):
            with suppress(OSError, ValueError, KeyError):
                _keep_rows(settings, evaluation, database.read(_work, settings, evaluation, [planning.ROWS]))
                made += 1
    return made


def _keep_rows(settings: Settings, evaluation: int, work: Work) -> None:
    config = work.config
    row_scores.keep(
        settings, evaluation, row_scores.of(config.metrics.primary, config.fooled, work.parts[planning.ROWS])
    )


def whole(name: str, rows: Gathered, digest: str, title: str = "") -> Made | None:
    """A metric over all rows; None where it is undefined there."""
    try:
        chosen = metric(name, rows.answer, rows.said, rows.right)
        value = _computed(chosen)
    except ValueError:
        return None
    if not isinstance(value, int | float) or not np.isfinite(value):
        return None
    try:
        drawn = score_replicates(chosen.module, chosen.columns, digest)[chosen.key] * chosen.scale
    except (ValueError, KeyError):
        return Made(title or name, float(value), None, None, len(rows.said))
    made = _with_interval(title or name, float(value), drawn, len(rows.said))
    if name not in RATES:
        return made
    rate = wilson(round(value * made.n), made.n)  # which has a width where all rows are right, too
    return replace(made, low=rate.low, high=rate.high)


def calibration(rows: Gathered, digest: str) -> list[Made]:
    """How far the probabilities of the answers are from how often these are right, where there are probabilities."""
    if not isinstance(rows.answer, Choice) or not all(rows.chances):
        return []
    from dynabench import evaluate

    module = evaluate.load("expected_calibration_error")
    sure = [max(0.0, min(1.0, max(each.values()))) for each in rows.chances if each]
    columns = {"predictions": sure, "references": [int(hit) for hit in rows.hits()]}
    key = "expected_calibration_error"
    value = float(module.compute(**columns)[key])
    return [_with_interval("calibration_error", value, score_replicates(module, columns, digest)[key], len(sure))]


def slices(names: Sequence[str], rows: Gathered, disclosure: Disclosure) -> Iterator[Made]:
    """Of the rows with one tag: how many are right with Wilson's interval, and of marked or written texts the metrics.

    A slice with one label has no F1 over classes: what counts there is how often that label is found.
    """
    hits = np.array(rows.hits())
    by_size = sorted(rows.places.items(), key=lambda each: -len(each[1]))
    labels = isinstance(rows.answer, Choice)
    right = "accuracy" if labels else "exact_match"
    shown = [each for each in by_size if disclosure.shows_slice(len(each[1]), len(hits))]
    for tag, places in shown[:SLICES]:
        rate = wilson(int(hits[places].sum()), len(places))
        yield Made(right, float(rate.value or 0), rate.low, rate.high, len(places), slice=tag[:200])
        for name in names:
            if labels or name == right:
                continue
            part = Gathered(rows.answer, said=[rows.said[at] for at in places], right=[rows.right[at] for at in places])
            if made := whole(name, part, tag):
                yield Made(name, made.value, made.low, made.high, made.n, slice=tag[:200])


def perturbed(axis: str, primary: str, rows: Gathered, copies: Gathered, digest: str) -> list[Made]:
    """How steady answers are over perturbed copies of rows, and how good they are there.

    `axis`: the share of an original's copies that get the original's own answer, averaged over originals that have
    copies (Dynaboard's fairness and robustness). `axis_score`: the primary metric over the copies.
    """
    own = dict(zip(rows.uids, rows.said, strict=True))
    kept: dict[str, list[bool]] = defaultdict(list)
    for of, said in zip(copies.of, copies.said, strict=True):
        if of in own:
            kept[of].append(same(rows.answer, own[of], said))
    found = []
    if kept:
        shares = np.array([np.mean(kept[uid]) for uid in rows.uids if uid in kept])
        rate = clustered_rate(shares, np.ones(len(shares)))  # which has a width where no answer changed, too
        found.append(
            Made(axis, float(shares.mean()), rate.low, rate.high, len(shares), mean_replicates(shares, digest))
        )
    if copies.said and (made := whole(primary, copies, digest, f"{axis}_score")):
        found.append(made)
    return found


def keep(session: Session, evaluation: int, made: Sequence[Made], costs: Sequence[Mapping[str, Any]]) -> None:
    """Store scores in the place of earlier ones. What was measured stays where nothing was measured anew."""
    stays = [] if costs else [*_measured()]
    session.execute(delete(Score).where(Score.evaluation_id == evaluation, Score.metric.not_in(stays)))
    versions: dict[str, int] = {}
    for each in [*made, *(_cost(evaluation, **cost) for cost in costs)]:
        drawn = None if each.replicates is None else packed(each.replicates)
        session.add(
            Score(
                evaluation_id=evaluation, metric=each.metric, slice=each.slice, value=each.value, low=each.low,
                high=each.high, n=each.n, replicates=drawn, made_at=now(),
                version=versions.setdefault(each.metric, version_of(each.metric)),
            )
        )  # fmt: skip


def _cost(evaluation: int, metric: str, repeats: Sequence[float], **more: Any) -> Made:
    """With replicates where it was measured more than once; those of two evaluations are independent."""
    drawn = cost_replicates(repeats, f"{metric} of evaluation {evaluation}") if len(repeats) > 1 else None
    return Made(metric, **more, replicates=drawn)


def _computed(chosen: Metric) -> Any:
    columns: dict[str, Any] = dict(chosen.columns)
    found = chosen.module.compute(**columns)[chosen.key]
    return found * chosen.scale if isinstance(found, int | float) else None


def _measured() -> tuple[str, ...]:
    from dynabench.scoring.costs import MEASURED

    return MEASURED


def _work(session: Session, settings: Settings, evaluation: int, only: Sequence[str] = ()) -> Work:
    _, submission, version, dataset = planning.whole(session, evaluation)
    config = rounds.newest_config(session, dataset.task_id)
    done: dict[str, list[Shard]] = defaultdict(list)
    for shard in session.scalars(queries.shards(evaluation)):
        done[shard.part].append(shard)
    parts = planning.parts(session, submission, version, config.metrics.perturb)
    field = answer_field(config, settings, done[planning.ROWS][0])
    gathered = {
        part.name: gather(settings, field, part.digest, done[part.name], config.fooled.reads)
        for part in parts
        if sum(shard.rows for shard in done[part.name]) == part.rows and part.name in (only or [part.name])
    }
    return Work(config, version.digest, dataset.visibility, gathered)


def _with_interval(name: str, value: float, drawn: NDArray[np.float64], n: int) -> Made:
    """With a 95 % percentile interval of the replicates; samples where it is undefined count as the value."""
    filled = np.where(np.isfinite(drawn), drawn, value)
    low, high = np.quantile(filled, [0.025, 0.975])
    return Made(name, value, float(low), float(high), n, filled)
