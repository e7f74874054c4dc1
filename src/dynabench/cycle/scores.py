"""How the present targets and the candidates of a turn did on the rounds: waited for, then read for the rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from dynabench.cycle import neutral, queries, sources
from dynabench.cycle.promotion import Neutral, Scored
from dynabench.cycle.sources import Released
from dynabench.cycle.tables import CycleTurn
from dynabench.datasets import stored
from dynabench.rounds import service as rounds
from dynabench.scoring import queries as scoring_queries
from dynabench.scoring import queueing, row_scores
from dynabench.scoring.measures import measure, unpacked
from dynabench.scoring.queries import OPEN
from dynabench.scoring.tables import EvaluationState
from dynabench.settings import Settings
from dynabench.stats import replicates

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """How a model answered the rows of one round's test part: `right` (n,), and its primary metric with replicates."""

    right: Bools
    value: float
    drawn: NDArray[np.float64]


def versions(released: Sequence[Released]) -> list[int]:
    """The test parts of releases, public and hidden, that all models are scored on."""
    return [id for each in released for id in (each.test, each.hidden) if id is not None]


def left(session: Session, settings: Settings, turn: int, submissions: Sequence[int]) -> tuple[int, int]:
    """How many evaluations of these submissions on the turn's rounds and on neutral data go on or are not queued
    yet, and of how many."""
    found = session.get_one(CycleTurn, turn)
    wanted = versions(sources.ancestry(session, settings, found)) + neutral.versions(neutral.data(session, found))
    going = 0
    for each in submissions:
        known = list(session.scalars(queries.evaluations(each, wanted)))
        missing = {version.id for _, version in session.execute(scoring_queries.missing(each))}
        going += sum(one.state in OPEN for one in known) + len(missing & set(wanted))
    return going, len(wanted) * len(submissions)


def ask(session: Session, submissions: Sequence[int]) -> None:
    """Queue what these submissions lack; again, it queues nothing."""
    for each in submissions:
        queueing.queue(session, {"submission": each})


def read(
    session: Session, settings: Settings, task: str, submission: int, released: Sequence[Released]
) -> list[Rows] | None:
    """A model on the public test part of each release that has one; None where one was not scored."""
    primary = measure(rounds.newest_config(session, task).metrics.primary)
    found = []
    for each in released:
        if each.test is None:
            continue
        evaluation = session.scalars(queries.evaluations(submission, [each.test])).first()
        if evaluation is None or evaluation.state != EvaluationState.DONE:
            return None
        score = session.scalar(queries.score(evaluation.id, primary.name))
        rows = row_scores.read(settings, evaluation.id)
        if score is None or score.replicates is None or rows is None:
            return None
        sign = primary.direction
        found.append(Rows(rows[1] > 0.5, sign * score.value, sign * unpacked(score.replicates)))
    return found


def fooling(settings: Settings, released: Sequence[Released]) -> list[Bools]:
    """Of each release's public test part, which rows fooled the targets of their time: all of them are verified."""
    tests = [each for each in released if each.test is not None]
    return [np.array(["fooled" in row.tags for row in stored.read(settings, each.test_digest)], bool) for each in tests]


def scored(
    name: str,
    rows: Sequence[Rows],
    fooled: Sequence[Bools],
    digests: Sequence[str],
    on_neutral: Mapping[str, Neutral],
) -> Scored:
    """A model as the rules see it."""
    caught = np.concatenate([each.right[mask] for each, mask in zip(rows, fooled, strict=True)])
    redrawn = replicates.mean_replicates(caught, "".join(digests)) if len(caught) else np.zeros(1)
    return Scored(
        name=name,
        values=np.array([each.value for each in rows]),
        drawn=np.stack([each.drawn for each in rows]),
        caught=caught,
        redrawn=redrawn,
        neutral=on_neutral,
    )
