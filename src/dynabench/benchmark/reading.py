"""Boards read from the database: standings are kept in memory for as long as nothing changes them."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sqlalchemy import Pool
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries
from dynabench.benchmark.evaluations.measures import REPLICATES, Measure, find_measure
from dynabench.benchmark.evaluations.score_ladder import NO_SCORES, score_sources
from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.benchmark.standings import Entrant, Pending, ScoreCell, ScoredDataset, Standings, TaskBoard
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure, label_without_name
from dynabench.rounds import service as rounds
from dynabench.tasks import TaskConfig

TASKS = 8  # whose standings are kept in memory: 20 MB each with 100 models, 5 metrics and 10 datasets

_lock = threading.Lock()
_cache: WeakKeyDictionary[Pool, OrderedDict[str, tuple[Any, Standings]]] = WeakKeyDictionary()


def measures(config: TaskConfig) -> tuple[Measure, ...]:
    """Return the task's measures, the primary one first, each once."""
    names = config.metrics
    return tuple(map(find_measure, dict.fromkeys([names.primary, *names.report, *names.perturb, *names.costs])))


def read_board(
    session: Session, viewer: Person | None, task: str, *, withdrawn: bool = False, retired: bool = False
) -> TaskBoard:
    """Return the board of a task as `viewer` sees it; raises `NotFound` where there is no such task.

    A public submission stands under its name, an anonymous one as such, a private one for its submitter alone; admins
    see all. Withdrawn submissions and retired datasets are left out unless they are asked for: they count nowhere.
    """
    config = rounds.task_config(session, task)
    standings = read_standings(session, config)
    visible = [(row, _seen_by(viewer, entrant)) for row, entrant in enumerate(standings.entrants)]
    entrants = [(row, entrant) for row, entrant in visible if entrant is not None]
    names = Counter(entrant.name for _row, entrant in entrants)
    entrants = [
        (row, replace(entrant, label=f"{entrant.name} #{entrant.id}" if names[entrant.name] > 1 else entrant.name))
        for row, entrant in entrants
        if withdrawn or not entrant.withdrawn
    ]
    columns = [column for column, dataset in enumerate(standings.datasets) if retired or not dataset.retired]
    versions = [standings.datasets[column].version_id for column in columns]
    going = enumerate(session.execute(queries.evaluation_queue()))
    queue = {(submission, version): place for place, (submission, version) in going}
    copies = {(version, axis) for version, axis in session.execute(queries.copies_in_progress(versions))}
    rows = np.array([row for row, _entrant in entrants], np.intp)
    seen = tuple(entrant for _row, entrant in entrants)
    return TaskBoard(config, standings, seen, rows, np.array(columns, np.intp), Pending(queue, copies))


def _seen_by(viewer: Person | None, entrant: Entrant) -> Entrant | None:
    disclosure = Disclosure.of(viewer, None, entrant)
    if not disclosure.scores:
        return None
    if disclosure.name:
        return replace(entrant, mine=viewer is not None and viewer.id == entrant.person_id)
    return Entrant(
        entrant.id, label_without_name(entrant.id, entrant.visibility), entrant.kind, "", "", entrant.entered_at,
        visibility=entrant.visibility, inside=entrant.inside, withdrawn=entrant.withdrawn, baseline=entrant.baseline,
    )  # fmt: skip


def read_standings(session: Session, config: TaskConfig) -> Standings:
    """Return all submissions that were ready once, with their scores; from memory while nothing has changed."""
    metrics = measures(config)
    datasets = tuple(_dataset(*row) for row in session.execute(queries.task_datasets(config.id)))
    datasets = tuple(sorted(datasets, key=lambda dataset: (dataset.round is None, dataset.round or 0, dataset.id)))
    entrants = tuple(
        _entrant(submission, person)
        for submission, person in session.execute(queries.task_submissions(config.id))
        if submission.model and submission.state in (SubmissionState.READY, SubmissionState.WITHDRAWN)
    )
    versions = [dataset.version_id for dataset in datasets]
    stamp = (datasets, entrants, metrics, tuple(session.execute(queries.score_stamp(versions)).one()))
    pool = session.get_bind().engine.pool
    with _lock:
        cached = _cache.setdefault(pool, OrderedDict())
        if config.id in cached and cached[config.id][0] == stamp:
            cached.move_to_end(config.id)
            return cached[config.id][1]
    standings = _read(session, entrants, datasets, metrics)
    with _lock:
        cached[config.id] = (stamp, standings)
        cached.move_to_end(config.id)
        while len(cached) > TASKS:
            cached.popitem(last=False)
    return standings


def _dataset(dataset: Dataset, version: DatasetVersion, number: int | None) -> ScoredDataset:
    return ScoredDataset(
        dataset.id, dataset.name, dataset.title or dataset.name, dataset.kind, dataset.visibility, dataset.weight,
        version.id, version.number, Disclosure.of(None, dataset).digest(version), version.rows, dataset.licence,
        tuple(map(str, dataset.languages)), version.slices, number, dataset.retired_at is not None,
    )  # fmt: skip


def _entrant(submission: Submission, person: Person | None) -> Entrant:
    card = submission.card or {}
    size, languages = card.get("size_bytes"), card.get("languages")
    return Entrant(
        submission.id, submission.name, submission.kind, submission.model, submission.version, submission.created_at,
        submitter=person.public_name if person else "",
        person_id=submission.person_id,
        visibility=submission.visibility,
        inside=submission.inside,
        baseline=submission.baseline,
        withdrawn=submission.state == SubmissionState.WITHDRAWN,
        licence=str(card.get("licence") or "")[:100],
        languages=tuple(map(str, languages)) if isinstance(languages, list | tuple) else (),
        bytes=size if isinstance(size, int) and size > 0 else None,
        rows=card.get("rows"),
        balance=tuple(card.get("balance", {}).items()),
    )  # fmt: skip


def _read(
    session: Session, entrants: tuple[Entrant, ...], datasets: tuple[ScoredDataset, ...], metrics: tuple[Measure, ...]
) -> Standings:
    rows = {entrant.id: place for place, entrant in enumerate(entrants)}
    columns = {dataset.version_id: place for place, dataset in enumerate(datasets)}
    numbers = {metric.name: place for place, metric in enumerate(metrics)}
    shape = (len(entrants), len(datasets), len(metrics))
    values, low, high = (np.full(shape, np.nan) for _ in range(3))
    counts, resampled = np.zeros(shape, np.int64), np.zeros(shape, bool)
    replicates = np.full((*shape, REPLICATES), np.nan, np.float32)
    for score in session.execute(queries.board_scores(list(columns), list(numbers))):
        if score.submission_id not in rows:
            continue
        at = rows[score.submission_id], columns[score.version_id], numbers[score.metric]
        values[at], counts[at] = score.value, score.n
        low[at], high[at] = (np.nan if limit is None else limit for limit in (score.low, score.high))
        drawn = np.frombuffer(score.replicates or b"", "<f4")
        resampled[at] = len(drawn) == REPLICATES
        replicates[at] = drawn if resampled[at] else score.value
    signatures = np.full(shape[:2], "", object)
    for submission, version, signature in session.execute(queries.record_signatures(list(columns))):
        if submission in rows:
            signatures[rows[submission], columns[version]] = signature
    values[~np.isfinite(values)] = np.nan
    own = np.repeat(np.arange(shape[0])[:, None], shape[1], axis=1)
    standings = Standings(
        entrants, datasets, metrics, values, low, high, counts, replicates, resampled, signatures, own
    )  # fmt: skip
    for column, dataset in enumerate(datasets):
        if dataset.disclosure.hidden and metrics:
            _hold_back(standings, column)
    return standings


def _hold_back(standings: Standings, column: int) -> None:
    """Put what may be shown of a hidden dataset in the place of scores that are held back; costs are each one's own."""
    primary, dataset = standings.metrics[0], standings.datasets[column]
    quality = np.array([not metric.cost for metric in standings.metrics])
    people = [entrant.person_id for entrant in standings.entrants]
    visibilities = [entrant.visibility for entrant in standings.entrants]
    values, drawn = standings.values[:, column, 0], standings.replicates[:, column, 0]
    places = score_sources(people, visibilities, values, drawn, dataset.rows, primary.direction)
    standings.sources[:, column] = places
    arrays = (standings.values, standings.low, standings.high, standings.replicates, standings.n, standings.resampled)
    for array in arrays:
        array[:, column, quality] = array[places][:, column, quality]
    standings.signatures[:, column] = np.where(places == NO_SCORES, "", standings.signatures[places, column])
    empty = np.ix_(places == NO_SCORES, np.arange(len(standings.datasets)) == column, quality)
    for array in arrays:
        array[empty] = np.nan if array.dtype.kind == "f" else 0


def read_slices(
    session: Session, board: TaskBoard, entrants: Sequence[Entrant], dataset: ScoredDataset, metric: Measure
) -> dict[tuple[int, str], ScoreCell]:
    """Return the entrants' scores on the slices of one dataset that may be shown, by submission and slice."""
    source_of = {entrant.id: board.source(entrant, dataset) for entrant in entrants}
    ids = sorted({source for source in source_of.values() if source is not None})
    cells: dict[int, list[tuple[str, ScoreCell]]] = {}
    for score in session.execute(queries.slice_scores(ids, [dataset.version_id], [metric.name])):
        if dataset.disclosure.shows_slice(score.n, dataset.rows):
            cell = ScoreCell(score.value, score.low, score.high, score.n)
            cells.setdefault(score.submission_id, []).append((score.slice, cell))
    return {(id, tag): cell for id, source in source_of.items() for tag, cell in cells.get(source or 0, ())}


def read_every_score(session: Session, board: TaskBoard, entrant: Entrant) -> dict[tuple[int, str], ScoreCell]:
    """Return an entrant's scores by dataset and metric, also in metrics that the task no longer names."""
    datasets = {dataset.version_id: dataset for dataset in board.datasets}
    source_of = {version: board.source(entrant, dataset) for version, dataset in datasets.items()}
    ids = {entrant.id} | {source for source in source_of.values() if source is not None}
    costs = {metric.name for metric in board.metrics if metric.cost}
    scores = session.execute(queries.scores_of_submissions(sorted(ids), list(datasets)))
    return {
        (datasets[score.version_id].id, score.metric): ScoreCell(score.value, score.low, score.high, score.n)
        for score in scores
        if score.submission_id == (entrant.id if score.metric in costs else source_of[score.version_id])
    }
