"""Decide a turn: apply the rule to the candidates, and compare the errors of old and new target on each round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries as scoring_queries
from dynabench.benchmark.evaluations import row_scores
from dynabench.benchmark.evaluations import service as evaluations
from dynabench.benchmark.evaluations.measures import find_measure, unpack_replicates
from dynabench.benchmark.evaluations.queries import OPEN_STATES
from dynabench.benchmark.evaluations.tables import EvaluationState
from dynabench.benchmark.releases import service as releases
from dynabench.cycle import promotion, queries, service, training
from dynabench.cycle.plan import TurnPlan
from dynabench.cycle.promotion import IntervalFigure, ModelScores, NeutralScore, PromotionDecision
from dynabench.cycle.report import RoundChangeOut, TurnFigureOut, TurnReport
from dynabench.cycle.tables import CandidateState, CycleTurn
from dynabench.cycle.training import RoundRelease
from dynabench.datasets import stored
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.rounds import service as rounds
from dynabench.stats import bootstrap
from dynabench.stats.rates import FEW_ROWS, wilson

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class RoundRows:
    """A model's answers to one round's test part: `right` (n,), and the primary metric with replicates `drawn` (B,)."""

    right: BoolArray
    value: float
    drawn: NDArray[np.float64]


@dataclass(frozen=True)
class NeutralData:
    """A neutral dataset in its current version."""

    name: str
    version: int


RowsByModel = dict[str, list[RoundRows]]


def decide_turn(db: Database, settings: Settings, turn: int, attempt: int) -> None:
    """Decide a turn and store its report. A turn that was decided before stays as it was."""
    if db.read(lambda session: bool(service.running_turn(session, turn, attempt).report)):
        return
    old = db.write(training.present_submissions, turn, attempt)
    report = db.read(_report, settings, turn, attempt, old)
    db.write(_keep, turn, attempt, report)


def _keep(session: Session, turn: int, attempt: int, report: TurnReport) -> None:
    cycle_turn = service.running_turn(session, turn, attempt, lock=True)
    if not cycle_turn.report:
        cycle_turn.report = report.model_dump(mode="json")


def _report(session: Session, settings: Settings, turn: int, attempt: int, old: dict[str, int]) -> TurnReport:
    cycle_turn = service.running_turn(session, turn, attempt)
    rule = service.turn_plan(cycle_turn).promote
    tested = [item for item in training.ancestor_releases(session, settings, cycle_turn) if item.test is not None]
    task, excluded = cycle_turn.task_id, dict[str, str]()
    rows_by_model: RowsByModel = {}
    neutral_data, on_neutral = (
        neutral_datasets(session, cycle_turn),
        dict[str, dict[str, promotion.NeutralScore]](),
    )
    for name, submission in old.items():
        rows = read_scores(session, settings, task, submission, tested)
        if rows is not None:
            rows_by_model[name] = rows
            on_neutral[name] = neutral_scores(session, cycle_turn, submission, neutral_data)
    present = list(rows_by_model)
    models = {}
    for item in session.scalars(queries.candidates_of_turn(turn)):
        rows = read_scores(session, settings, task, item.submission_id, tested) if item.submission_id else None
        if item.state != CandidateState.READY or item.submission_id is None:
            excluded[item.name] = item.reason or "untrained"
        elif rows is None:
            excluded[item.name] = "unscored"
        elif f"{item.name}@{item.version}" in present:
            excluded[item.name] = "present"
        else:
            rows_by_model[item.name], models[item.name] = rows, item.version
            on_neutral[item.name] = neutral_scores(session, cycle_turn, item.submission_id, neutral_data)
    if not tested or not present:
        return TurnReport.of(rule, excluded=excluded, models=models)
    fooled = fooling_masks(settings, tested)
    digests = [item.test_digest for item in tested]
    seen = {name: model_scores(name, rows, fooled, digests, on_neutral[name]) for name, rows in rows_by_model.items()}
    decision = promotion.decide_promotion(rule, [seen[name] for name in present], [seen[name] for name in models])
    best = _best(decision)
    return TurnReport.of(
        rule,
        decision,
        new=best,
        excluded=excluded,
        rounds=_rounds(session, task, tested, fooled, rows_by_model, decision.present, best) if best else [],
        neutral=[item.name for item in neutral_data],
        models=models,
    )


def _best(decision: PromotionDecision) -> str:
    """The candidate that is compared with the old target: the first promoted one, else the best by the rule."""
    if decision.promoted:
        return decision.promoted[0]
    ordered = sorted(decision.candidates, key=lambda candidate: -(candidate.figure.value or 0.0))
    return ordered[0].name if ordered else ""


def _rounds(
    session: Session,
    task: str,
    tested: Sequence[RoundRelease],
    fooled: Sequence[BoolArray],
    rows_by_model: RowsByModel,
    old: str,
    new: str,
) -> list[RoundChangeOut]:
    changes = []
    for place, release_of_round in enumerate(tested):
        before, after = ~rows_by_model[old][place].right, ~rows_by_model[new][place].right
        release = releases.release_of_round(session, task, release_of_round.number)
        changes.append(
            RoundChangeOut(
                round=release_of_round.number,
                digest=release.digest if release else "",
                n=len(before),
                fooling=int(fooled[place].sum()),
                old=error_rate(before),
                new=error_rate(after),
                change=TurnFigureOut.of(error_change(before, after, release_of_round.test_digest)),
            )
        )
    return changes


def error_rate(wrong: BoolArray) -> TurnFigureOut:
    """Return the share of wrong answers among rows (n,), with Wilson's interval at 95 %."""
    rate = wilson(int(wrong.sum()), len(wrong))
    return TurnFigureOut(value=rate.value, low=rate.low, high=rate.high, n=rate.n)


def error_change(before: BoolArray, after: BoolArray, digest: str) -> IntervalFigure:
    """Return the change of the error on the same rows (n,), with the paired bootstrap's interval at 95 %."""
    moved = after.astype(np.float64) - before.astype(np.float64)
    return IntervalFigure(
        float(moved.mean()),
        *promotion.percentile_interval(bootstrap.mean_replicates(moved, digest), promotion.LEVEL),
        len(moved),
    )


def neutral_datasets(session: Session, turn: CycleTurn) -> list[NeutralData]:
    """Return the neutral datasets of a turn, by name: those that no candidate may be worse on.

    They come from no round, have 30 rows or more and are not trained on, unless the plan names them. Examples that
    fool one model say little about ordinary data, so a gain on rounds may cost more there than it brings.
    """
    plan, learnt = TurnPlan.model_validate(turn.plan), {item["name"] for item in turn.outside}
    rows = session.execute(queries.neutral_datasets(turn.task_id)).all()
    return [
        NeutralData(dataset.name, version.id)
        for dataset, version in rows
        if dataset.name not in learnt
        and (dataset.name in plan.promote.neutral if plan.promote.neutral is not None else version.rows >= FEW_ROWS)
    ]


def neutral_scores(
    session: Session, turn: CycleTurn, submission: int, datasets: Sequence[NeutralData]
) -> dict[str, NeutralScore]:
    """Return a submission's scores on neutral datasets by name; higher is better.

    A dataset that the submission was not evaluated on, because it is newer, is absent; the value is None where
    the evaluation failed.
    """
    primary = find_measure(rounds.newest_config(session, turn.task_id).metrics.primary)
    score_by_dataset: dict[str, NeutralScore] = {}
    for dataset in datasets:
        evaluation = session.scalars(queries.evaluations_on(submission, [dataset.version])).first()
        if evaluation is None:
            continue
        score = (
            session.scalar(queries.metric_score(evaluation.id, primary.name))
            if evaluation.state == EvaluationState.DONE
            else None
        )
        if score is None or score.replicates is None:
            score_by_dataset[dataset.name] = NeutralScore(None, np.zeros(0))
        else:
            sign = primary.direction
            score_by_dataset[dataset.name] = NeutralScore(
                sign * score.value, sign * unpack_replicates(score.replicates)
            )
    return score_by_dataset


def test_versions(released: Sequence[RoundRelease]) -> list[int]:
    """Return the ids of the test parts of releases, public and hidden, that all models are scored on."""
    return [id for round_release in released for id in (round_release.test, round_release.hidden) if id is not None]


def count_remaining(session: Session, settings: Settings, turn: int, submissions: Sequence[int]) -> tuple[int, int]:
    """Count the evaluations of these submissions on the turn's rounds and neutral data: (unfinished, all)."""
    cycle_turn = session.get_one(CycleTurn, turn)
    version_ids = test_versions(training.ancestor_releases(session, settings, cycle_turn))
    version_ids += [dataset.version for dataset in neutral_datasets(session, cycle_turn)]
    going = 0
    for submission in submissions:
        evaluations = list(session.scalars(queries.evaluations_on(submission, version_ids)))
        missing = {version.id for _, version in session.execute(scoring_queries.missing_evaluations(submission))}
        going += sum(evaluation.state in OPEN_STATES for evaluation in evaluations) + len(missing & set(version_ids))
    return going, len(version_ids) * len(submissions)


def queue_evaluations(session: Session, submissions: Sequence[int]) -> None:
    """Queue the evaluations that these submissions lack; a second call queues nothing."""
    for submission in submissions:
        evaluations.queue_evaluations(session, {"submission": submission})


def read_scores(
    session: Session, settings: Settings, task: str, submission: int, released: Sequence[RoundRelease]
) -> list[RoundRows] | None:
    """Return a model's scores on the public test part of each release that has one; None if any score is missing."""
    primary = find_measure(rounds.newest_config(session, task).metrics.primary)
    scores = []
    for round_release in released:
        if round_release.test is None:
            continue
        evaluation = session.scalars(queries.evaluations_on(submission, [round_release.test])).first()
        if evaluation is None or evaluation.state != EvaluationState.DONE:
            return None
        score = session.scalar(queries.metric_score(evaluation.id, primary.name))
        rows = row_scores.read_row_scores(settings, evaluation.id)
        if score is None or score.replicates is None or rows is None:
            return None
        sign = primary.direction
        scores.append(RoundRows(rows[1] > 0.5, sign * score.value, sign * unpack_replicates(score.replicates)))
    return scores


def fooling_masks(settings: Settings, released: Sequence[RoundRelease]) -> list[BoolArray]:
    """Return one mask per public test part: True (n,) for rows that fooled the targets of their round."""
    tests = [round_release for round_release in released if round_release.test is not None]
    return [
        np.array(["fooled" in row.tags for row in stored.read_rows(settings, round_release.test_digest)], bool)
        for round_release in tests
    ]


def model_scores(
    name: str,
    rows: Sequence[RoundRows],
    fooled: Sequence[BoolArray],
    digests: Sequence[str],
    on_neutral: Mapping[str, NeutralScore],
) -> ModelScores:
    """Return a model's scores in the form that the rules compare."""
    caught = np.concatenate([round_rows.right[mask] for round_rows, mask in zip(rows, fooled, strict=True)])
    redrawn = bootstrap.mean_replicates(caught, "".join(digests)) if len(caught) else np.zeros(1)
    return ModelScores(
        name=name,
        values=np.array([round_rows.value for round_rows in rows]),
        drawn=np.stack([round_rows.drawn for round_rows in rows]),
        caught=caught,
        redrawn=redrawn,
        neutral=on_neutral,
    )
