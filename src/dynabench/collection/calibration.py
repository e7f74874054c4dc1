"""The quality of judgements: answers that authors or a judge model call wrong, beside the verdicts.

It is measured on examples with a judgement and a verdict of `correct` (the model errs) or `incorrect`
(it does not). Programs' examples count too: the judge reads them in the same way. Intervals are
clustered by author.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Standing
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.stats.rates import UNKNOWN, Rate, clustered_rate
from dynabench.stats.verdict import Verdict


@dataclass(frozen=True)
class Calibration:
    """Counts of (judged wrong, found wrong) and their shares; `judge` is who judges, with the model's name.

    `agreement` = both say the same / all; `precision` = found wrong / judged wrong; `recall` = judged wrong / found
    wrong, which is known only where examples that fooled nobody are checked as well.
    """

    judge: str
    model: str
    both: int
    judged_only: int
    found_only: int
    neither: int
    agreement: Rate
    precision: Rate
    recall: Rate


def calibration(session: Session, of: Round) -> Calibration | None:
    """The judgements of a round beside its verdicts; None where the task's rule has no judge but the validators."""
    config = rounds.config_of(session, of.version_id)
    judge = config.fooled.judged_by
    if judge in (None, "validators"):
        return None
    rows = session.execute(_counted(of.id)).all()
    both, judged, found, neither = (
        np.array([int(getattr(row, name)) for row in rows]) for name in ("both", "judged", "found", "neither")
    )
    checked = config.validation.also_not_fooled
    whole = both + judged + found + neither
    return Calibration(
        judge=str(judge),
        model=str(of.judge["model"]) if of.judge else "",
        both=int(both.sum()),
        judged_only=int(judged.sum()),
        found_only=int(found.sum()),
        neither=int(neither.sum()),
        agreement=clustered_rate(both + neither, whole) if checked else UNKNOWN,
        precision=clustered_rate(both, both + judged),
        recall=clustered_rate(both, both + found) if checked else UNKNOWN,
    )


def _counted(round_id: int) -> Select[Any]:
    """Counts by author: reads the standings of the round."""

    def count(judged: bool, verdict: Verdict) -> Any:
        hit = (Standing.fooled if judged else ~Standing.fooled) & (Standing.verdict == str(verdict))
        return func.sum(case((hit, 1), else_=0))

    return (
        select(
            Standing.author_id,
            count(True, Verdict.CORRECT).label("both"),
            count(True, Verdict.INCORRECT).label("judged"),
            count(False, Verdict.CORRECT).label("found"),
            count(False, Verdict.INCORRECT).label("neither"),
        )
        .where(Standing.round_id == round_id, ~Standing.retracted, ~Standing.hidden, Standing.fooled.is_not(None))
        .group_by(Standing.author_id)
    )
