"""Boards of any size, as evaluations would have left them: paired replicates of models that differ by known amounts."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import answers, row_scores
from dynabench.benchmark.evaluations.measures import REPLICATES, find_measure, pack_replicates
from dynabench.benchmark.evaluations.tables import Evaluation, Score, Shard
from dynabench.benchmark.registry.tables import Submission
from dynabench.benchmark.standings import Entrant, Pending, ScoredDataset, Standings, TaskBoard
from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit.db import now
from dynabench.kit.settings import Settings
from dynabench.models.protocol import ModelOutput
from dynabench.tasks import shipped_tasks

METRICS = ("accuracy", "fairness", "robustness", "throughput", "memory")


def furnish(
    session: Session,
    task: str,
    skills: Sequence[float] = (0.9, 0.8, 0.7),
    datasets: Sequence[str] = ("first", "second"),
    metrics: Sequence[str] = METRICS,
    rows: int = 400,
    seed: int = 0,
    person: int | None = None,
) -> list[int]:
    """Ready submissions, one for each of `skills` (the chance to answer right), scored on all datasets; their ids.

    What is right differs by dataset; models of equal skill answer the same rows right, so that they tie.
    """
    versions = [_version(session, task, name, rows) for name in datasets]
    result = []
    for number, skill in enumerate(skills):
        submission = Submission(
            task_id=task, kind="installed", name=f"model-{number}", model=f"model-{number}", version=f"{number:016x}",
            inside=True, state="ready", person_id=person, card={"languages": ["en"], "licence": "MIT", "size_bytes": 1},
        )  # fmt: skip
        session.add(submission)
        session.flush()
        result.append(submission.id)
        for place, version in enumerate(versions):
            evaluation = Evaluation(
                submission_id=submission.id, version_id=version.id, state="done", rows=rows, rows_done=rows,
                started_at=now(), ended_at=now(),
            )  # fmt: skip
            session.add(evaluation)
            session.flush()
            session.add_all(_scores(evaluation.id, metrics, skill, number, rows, seed + place))
    session.flush()
    return result


def _version(session: Session, task: str, name: str, rows: int) -> DatasetVersion:
    dataset = Dataset(task_id=task, name=name, title=name.capitalize(), visibility="public", licence="CC-BY-4.0")
    session.add(dataset)
    session.flush()
    version = DatasetVersion(dataset_id=dataset.id, number=1, state="ready", digest=f"{dataset.id:064x}", rows=rows)
    session.add(version)
    session.flush()
    dataset.version_id = version.id
    return version


def _scores(evaluation: int, metrics: Sequence[str], skill: float, number: int, rows: int, seed: int) -> list[Score]:
    created = []
    for place, name in enumerate(metrics):
        if find_measure(name).cost:
            value = {"throughput": 100.0 - 10 * number, "memory": 1.0 + number}.get(name, 10.0 + number)
            created.append(Score(evaluation_id=evaluation, metric=name, value=value, low=value, high=value, n=3))
            continue
        rng = np.random.default_rng([seed, place])
        right = rng.random(rows) < skill
        drawn = right[rng.integers(rows, size=(REPLICATES, rows))].mean(1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        created.append(
            Score(
                evaluation_id=evaluation,
                metric=name,
                value=float(right.mean()),
                low=float(low),
                high=float(high),
                n=rows,
                replicates=pack_replicates(drawn),
            )
        )
    return created


def answered(
    session: Session, settings: Settings, submissions: Sequence[int], skills: Sequence[float], seed: int = 0
) -> None:
    """The rows of the task's datasets and what the models of `furnish` answered to them, in two shards each.

    Rows are sentences about numbers, tagged `even` or `odd`; hidden datasets say so in their texts.
    """
    task = session.get_one(Submission, submissions[0]).task_id
    datasets = session.scalars(select(Dataset).where(Dataset.task_id == task).order_by(Dataset.id)).all()
    for place, dataset in enumerate(datasets):
        version = session.get_one(DatasetVersion, dataset.version_id)
        word = "SECRET" if dataset.visibility == "hidden" else "number"
        rows = [
            StoredRow(
                uid=f"{dataset.name}-{number}",
                inputs={"statement": f"{word} {number} of {dataset.name}"},
                answers=({"label": "positive"},),
                tags=("even" if number % 2 == 0 else "odd",),
            )
            for number in range(version.rows)
        ]
        written = stored.write_rows(settings, rows)
        version.digest, version.slices = written.digest, written.tags
        for submission, skill in zip(submissions, skills, strict=True):
            right = np.random.default_rng([seed + place, 0]).random(version.rows) < skill
            source = select(Evaluation).where(
                Evaluation.submission_id == submission, Evaluation.version_id == version.id
            )
            _shards(session, settings, session.scalars(source).one().id, rows, right)
    session.flush()


def _shards(
    session: Session, settings: Settings, evaluation: int, rows: Sequence[StoredRow], right: np.ndarray
) -> None:
    half = len(rows) // 2
    for number, (first, last) in enumerate(((0, half), (half, len(rows)))):
        model_outputs = [ModelOutput({"label": "positive" if good else "negative"}) for good in right[first:last]]
        waiting = answers.write_answers(settings, [row.uid for row in rows[first:last]], model_outputs)
        waiting.keep(answers.answers_path(settings, evaluation, "rows", number))
        session.add(
            Shard(evaluation_id=evaluation, part="rows", number=number, first=first, rows=last - first,
                  digest=waiting.digest, seconds=1.0)
        )  # fmt: skip
    row_scores.store_row_scores(settings, evaluation, np.stack([right, right]).astype(np.float32))


def submitted(number: int, day: int = 0) -> Entrant:
    """An entrant, `model-<number>`, that was entered on a day of 2026."""
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)
    name = f"model-{number}"
    return Entrant(number, name, "installed", name, "1", moment, label=name)


def scored_dataset(number: int, rows: int, round: int | None = None) -> ScoredDataset:
    """A public dataset, `data-<number>`, of so many rows."""
    name, title = f"data-{number}", f"Data {number}"
    return ScoredDataset(number, name, title, "rows", "public", 5, number, 1, "0" * 64, rows, "", (), {}, round)


def board_of(metrics: Sequence[str], values: np.ndarray, replicates: np.ndarray, rows: Sequence[int]) -> TaskBoard:
    """A board of scores (models, datasets, metrics) with replicates, without a database; limits are the scores."""
    models, datasets, _metrics = values.shape
    standings = Standings(
        entrants=tuple(map(submitted, range(models))),
        datasets=tuple(scored_dataset(number, many) for number, many in enumerate(rows)),
        metrics=tuple(map(find_measure, metrics)),
        values=values,
        low=values,
        high=values,
        n=np.full(values.shape, 100),
        replicates=replicates,
        resampled=np.ones(values.shape, bool),
        signatures=np.full((models, datasets), "", object),
        sources=np.repeat(np.arange(models)[:, None], datasets, axis=1),
    )
    config = shipped_tasks()[0].config
    return TaskBoard(
        config, standings, standings.entrants, np.arange(models), np.arange(datasets), Pending({}, frozenset())
    )
