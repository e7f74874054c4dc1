"""Open evaluations without a server: the same rows, answers, scores and predictions, in a folder for one run."""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dynabench.benchmark.evaluations import answers
from dynabench.benchmark.evaluations.measures import pack_replicates
from dynabench.benchmark.evaluations.model_process import EvaluationStopped
from dynabench.datasets import stored
from dynabench.kit import errors
from dynabench.kit.settings import Settings
from dynabench.models import catalog
from dynabench.open_evaluations import external_models, scoring
from dynabench.open_evaluations.answering import AnsweringModel
from dynabench.open_evaluations.board import OpenBoard, make_board
from dynabench.open_evaluations.candidates import match_labels
from dynabench.open_evaluations.model_runs import answers_path, first_rows, planned_shards
from dynabench.open_evaluations.planning import MOST_ROWS, OpenPlan
from dynabench.open_evaluations.predictions import PredictionTable
from dynabench.open_evaluations.published_metrics import open_trusted
from dynabench.open_evaluations.rows import OpenRowReader
from dynabench.open_evaluations.scoring import AnsweredModel
from dynabench.open_evaluations.tables import OpenEvaluationModel, OpenScore, OpenState

ReportProgress = Callable[[str, int, int], object]
"""Called with a model, the number of its answers and the number of rows."""
LOCAL = 0
"""The number of the evaluation in the paths of one run."""


@dataclass
class LocalOutcome:
    """The result of one run; `models` and `scores` are as a platform stores them, `settings` those of its folder."""

    plan: OpenPlan
    settings: Settings
    digest: str
    rows: int
    labels: list[str]
    refused: int
    report: list[str]
    models: list[OpenEvaluationModel] = field(default_factory=list)
    scores: list[OpenScore] = field(default_factory=list)
    answered: list[AnsweredModel] = field(default_factory=list)

    @property
    def board(self) -> OpenBoard:
        """The board, sorted by the first metric."""
        return make_board(self.models, self.scores)

    @property
    def predictions(self) -> PredictionTable:
        """The predictions of the models that are done; their rows can be read while the run's folder exists."""
        named = {model.number: model.name for model in self.models}
        inputs = [role.name for role in self.plan.task.inputs]
        return PredictionTable([(named[model.model], model) for model in self.answered], inputs)


@contextmanager
def run_locally(
    settings: Settings, plan: OpenPlan, folders: Mapping[str, Path], report_progress: ReportProgress
) -> Iterator[LocalOutcome]:
    """Answer and score the rows of a plan by each of its models; `folders` are those of models that have one.

    A model that cannot go on is marked as failed, with the reason. Raises `Invalid` where no row fits.
    """
    with tempfile.TemporaryDirectory(prefix="dynabench-evaluation-") as place:
        own = Settings.model_validate(settings.model_dump() | {"home": Path(place)})  # a copy keeps the folder
        outcome = _read_rows(settings, own, plan)
        for number, reference in enumerate(plan.choices.models):
            model = OpenEvaluationModel(
                evaluation_id=LOCAL, number=number, reference=reference, name=reference, version="",
                state=OpenState.RUNNING, code="", reason="", log="", rows_done=0, seconds=0.0, labels={},
            )  # fmt: skip
            outcome.models.append(model)
            try:
                _run_model(outcome, model, folders, report_progress)
            except EvaluationStopped as stopped:
                model.state, model.code, model.reason = OpenState.FAILED, stopped.code, stopped.reason
            except errors.Problem as problem:
                fields = problem.extra.get("fields") or {}
                model.state, model.code = OpenState.FAILED, "refused"
                model.reason = "; ".join(fields.values()) or problem.detail
        yield outcome


def _read_rows(settings: Settings, own: Settings, plan: OpenPlan) -> LocalOutcome:
    prepared = OpenRowReader(plan.task, plan.choices, plan.classes)
    limit = plan.choices.rows or MOST_ROWS
    written = stored.write_rows(own, first_rows(prepared.read(plan.source.read_rows(settings)), limit))
    report = prepared.report
    if not written.rows:
        raise errors.Invalid({"dataset": " ".join(report.lines()[:3])})
    return LocalOutcome(
        plan, own, written.digest, written.rows, sorted(prepared.labels), report.count, report.lines()[:20]
    )


def _run_model(
    outcome: LocalOutcome, model: OpenEvaluationModel, folders: Mapping[str, Path], report_progress: ReportProgress
) -> None:
    task, settings = outcome.plan.task, outcome.settings
    folder = folders.get(model.reference)
    if folder is None and external_models.is_external(model.reference):
        into = settings.folder / f"model-{model.number}"
        folder = external_models.make_folder(task, outcome.labels, outcome.plan.choices.roles, model.reference, into)
    folder = folder or catalog.entry(model.reference).folder
    answering = AnsweringModel(settings, folder, task, outcome.plan.choices.roles, lambda: None)
    try:
        answering.open()
        card = answering.card
        chosen = outcome.plan.choices.labels.get(model.reference, {})
        labels = dict(match_labels(card.labels if task.labelled else (), outcome.labels, chosen).meanings)
        model.version, model.inputs, model.labels = card.version, dict(answering.inputs), labels
        shards = planned_shards(outcome.rows)
        for shard, (first, rows) in enumerate(shards):
            _answer_shard(outcome, model, answering, shard, first, rows)
            report_progress(model.reference, model.rows_done, outcome.rows)
    finally:
        answering.close()
    model.state = OpenState.SCORING
    answered = AnsweredModel(
        LOCAL, model.number, task.name, outcome.digest, dict(model.labels), list(range(len(shards)))
    )
    _score(outcome, model, answered)


def _answer_shard(
    outcome: LocalOutcome, model: OpenEvaluationModel, answering: AnsweringModel, shard: int, first: int, rows: int
) -> None:
    shard_rows = list(stored.read_rows(outcome.settings, outcome.digest, first, rows))
    begun = time.perf_counter()
    outputs = answering.answer(shard_rows)
    model.seconds += time.perf_counter() - begun
    model.rows_done += len(outputs)
    costs = [float(output.extras["cost"]) for output in outputs if output.extras.get("cost") is not None]
    model.cost = (model.cost or 0.0) + sum(costs) if costs else model.cost
    waiting = answers.write_answers(outcome.settings, [row.uid for row in shard_rows], outputs)
    waiting.keep(answers_path(outcome.settings, LOCAL, model.number, shard))


def _score(outcome: LocalOutcome, model: OpenEvaluationModel, answered: AnsweredModel) -> None:
    metrics: Sequence[str] = outcome.plan.choices.metrics
    computed, undefined = scoring.compute_model_scores(outcome.settings, answered, metrics, open_trusted)
    for place, score in computed:
        packed = None if score.replicates is None else pack_replicates(score.replicates)
        outcome.scores.append(
            OpenScore(
                evaluation_id=LOCAL, model=model.number, metric=score.metric, key=score.key, place=place,
                value=score.value, low=score.low, high=score.high, n=score.n, replicates=packed, better=score.better,
            )
        )  # fmt: skip
    model.state = OpenState.DONE
    model.reason = "\n".join(f"{metric}: {why}" for metric, why in undefined.items())
    outcome.answered.append(answered)
