"""Deciding a turn: what the rule says of the candidates, and how old and new target err on each round."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy.orm import Session

from dynabench.cycle import neutral, promotion, queries, scores, service, sources, training
from dynabench.cycle.promotion import Decision, Figure
from dynabench.cycle.report import RoundChangeOut, TurnFigureOut, TurnReport
from dynabench.cycle.scores import Bools, Rows
from dynabench.cycle.sources import Released
from dynabench.cycle.tables import CandidateState, CycleTurn
from dynabench.db import Database
from dynabench.releases import service as releases
from dynabench.settings import Settings
from dynabench.stats import replicates
from dynabench.stats.rates import wilson

Known = dict[str, list[Rows]]


def decide(db: Database, settings: Settings, turn: int, attempt: int) -> None:
    """Decide a turn and keep its report. Decided before, it stays as it was."""
    if db.read(lambda session: bool(service.mine(session, turn, attempt).report)):
        return
    old = db.write(training.present, turn, attempt)
    made = db.read(_report, settings, turn, attempt, old)
    db.write(_keep, turn, attempt, made)


def _keep(session: Session, turn: int, attempt: int, made: TurnReport) -> None:
    found = service.mine(session, turn, attempt, lock=True)
    if not found.report:
        found.report = made.model_dump(mode="json")


def _report(session: Session, settings: Settings, turn: int, attempt: int, old: dict[str, int]) -> TurnReport:
    found = service.mine(session, turn, attempt)
    rule = service.plan_of(found).promote
    tested = [each for each in sources.ancestry(session, settings, found) if each.test is not None]
    task, excluded = found.task_id, dict[str, str]()
    known: Known = {}
    neutral_data, on_neutral = neutral.data(session, found), dict[str, dict[str, promotion.Neutral]]()
    for name, submission in old.items():
        rows = scores.read(session, settings, task, submission, tested)
        if rows is not None:
            known[name] = rows
            on_neutral[name] = neutral.scores(session, found, submission, neutral_data)
    present = list(known)
    models = {}
    for each in session.scalars(queries.candidates(turn)):
        rows = scores.read(session, settings, task, each.submission_id, tested) if each.submission_id else None
        if each.state != CandidateState.READY or each.submission_id is None:
            excluded[each.name] = each.reason or "untrained"
        elif rows is None:
            excluded[each.name] = "unscored"
        elif f"{each.name}@{each.version}" in present:
            excluded[each.name] = "present"
        else:
            known[each.name], models[each.name] = rows, each.version
            on_neutral[each.name] = neutral.scores(session, found, each.submission_id, neutral_data)
    if not tested or not present:
        return TurnReport.of(rule, excluded=excluded, models=models)
    fooled = scores.fooling(settings, tested)
    digests = [each.test_digest for each in tested]
    seen = {name: scores.scored(name, rows, fooled, digests, on_neutral[name]) for name, rows in known.items()}
    decision = promotion.decide(rule, [seen[name] for name in present], [seen[name] for name in models])
    best = _best(decision)
    return TurnReport.of(
        rule,
        decision,
        new=best,
        excluded=excluded,
        rounds=_rounds(session, task, tested, fooled, known, decision.present, best) if best else [],
        neutral=[each.name for each in neutral_data],
        models=models,
    )


def _best(decision: Decision) -> str:
    """The candidate that the old target is compared with: the first that is promoted, else the best by the rule."""
    if decision.promoted:
        return decision.promoted[0]
    ordered = sorted(decision.candidates, key=lambda each: -(each.figure.value or 0.0))
    return ordered[0].name if ordered else ""


def _rounds(
    session: Session, task: str, tested: Sequence[Released], fooled: Sequence[Bools], known: Known, old: str, new: str
) -> list[RoundChangeOut]:
    made = []
    for place, each in enumerate(tested):
        before, after = ~known[old][place].right, ~known[new][place].right
        release = releases.of_round(session, task, each.number)
        made.append(
            RoundChangeOut(
                round=each.number,
                digest=release.digest if release else "",
                n=len(before),
                fooling=int(fooled[place].sum()),
                old=error(before),
                new=error(after),
                change=TurnFigureOut.of(change(before, after, each.test_digest)),
            )
        )
    return made


def error(wrong: Bools) -> TurnFigureOut:
    """A share of rows that are answered wrongly, with Wilson's interval."""
    rate = wilson(int(wrong.sum()), len(wrong))
    return TurnFigureOut(value=rate.value, low=rate.low, high=rate.high, n=rate.n)


def change(before: Bools, after: Bools, digest: str) -> Figure:
    """How the error changes on the same rows, with the paired bootstrap's interval at 95 %."""
    moved = after.astype(np.float64) - before.astype(np.float64)
    return Figure(
        float(moved.mean()), *promotion.limits(replicates.mean_replicates(moved, digest), promotion.LEVEL), len(moved)
    )


def cards_of(session: Session, turn: int) -> list[str]:
    """The targets of the next round, `name@version`, best first."""
    found = session.get_one(CycleTurn, turn)
    report, plan = TurnReport.model_validate(found.report), service.plan_of(found)
    if not report.promoted:
        return list(found.present)
    chosen = [f"{name}@{report.models[name]}" for name in report.promoted]
    return [*found.present, *chosen] if plan.promote.with_present else chosen
