"""Decide a turn: apply the rule to the candidates, and compare the errors of old and new target on each round."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy.orm import Session

from dynabench.benchmark.releases import service as releases
from dynabench.cycle import neutral_guard, promotion, queries, scores, service, training, training_sources
from dynabench.cycle.promotion import IntervalFigure, PromotionDecision
from dynabench.cycle.report import RoundChangeOut, TurnFigureOut, TurnReport
from dynabench.cycle.scores import BoolArray, RoundRows
from dynabench.cycle.tables import CandidateState, CycleTurn
from dynabench.cycle.training_sources import RoundRelease
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.stats import replicates
from dynabench.stats.rates import wilson

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
    tested = [
        item for item in training_sources.ancestor_releases(session, settings, cycle_turn) if item.test is not None
    ]
    task, excluded = cycle_turn.task_id, dict[str, str]()
    rows_by_model: RowsByModel = {}
    neutral_data, on_neutral = (
        neutral_guard.neutral_datasets(session, cycle_turn),
        dict[str, dict[str, promotion.NeutralScore]](),
    )
    for name, submission in old.items():
        rows = scores.read_scores(session, settings, task, submission, tested)
        if rows is not None:
            rows_by_model[name] = rows
            on_neutral[name] = neutral_guard.neutral_scores(session, cycle_turn, submission, neutral_data)
    present = list(rows_by_model)
    models = {}
    for item in session.scalars(queries.candidates_of_turn(turn)):
        rows = scores.read_scores(session, settings, task, item.submission_id, tested) if item.submission_id else None
        if item.state != CandidateState.READY or item.submission_id is None:
            excluded[item.name] = item.reason or "untrained"
        elif rows is None:
            excluded[item.name] = "unscored"
        elif f"{item.name}@{item.version}" in present:
            excluded[item.name] = "present"
        else:
            rows_by_model[item.name], models[item.name] = rows, item.version
            on_neutral[item.name] = neutral_guard.neutral_scores(session, cycle_turn, item.submission_id, neutral_data)
    if not tested or not present:
        return TurnReport.of(rule, excluded=excluded, models=models)
    fooled = scores.fooling_masks(settings, tested)
    digests = [item.test_digest for item in tested]
    seen = {
        name: scores.model_scores(name, rows, fooled, digests, on_neutral[name]) for name, rows in rows_by_model.items()
    }
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
        *promotion.percentile_interval(replicates.mean_replicates(moved, digest), promotion.LEVEL),
        len(moved),
    )


def next_targets(session: Session, turn: int) -> list[str]:
    """Return the targets of the next round as `name@version`, best first."""
    cycle_turn = session.get_one(CycleTurn, turn)
    report, plan = TurnReport.model_validate(cycle_turn.report), service.turn_plan(cycle_turn)
    if not report.promoted:
        return list(cycle_turn.present)
    chosen = [f"{name}@{report.models[name]}" for name in report.promoted]
    return [*cycle_turn.present, *chosen] if plan.promote.with_present else chosen
