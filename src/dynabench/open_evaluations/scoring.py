"""The scores of one model of an open evaluation, from its stored answers, and the answers beside the rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import answers
from dynabench.benchmark.evaluations.measures import is_exact, pack_replicates
from dynabench.benchmark.evaluations.model_process import EvaluationStopped
from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models.protocol import ModelOutput
from dynabench.open_evaluations import queries
from dynabench.open_evaluations.kinds import ANSWER, OPEN_TASKS, RoleKind
from dynabench.open_evaluations.metrics import (
    ComputedScore,
    ScoredAnswers,
    answer_in_rows,
    chances_in_rows,
    compute_scores,
    read_metric,
)
from dynabench.open_evaluations.model_runs import answers_path, owned_evaluation
from dynabench.open_evaluations.published_metrics import (
    OpenModule,
    compute_published,
    is_published,
    open_on_platform,
    parse_published,
)
from dynabench.open_evaluations.tables import OpenEvaluation, OpenEvaluationModel, OpenScore, OpenState

LONGEST_REASON = 400


@dataclass(frozen=True)
class AnsweredModel:
    """The facts by which the answers of one model are read."""

    evaluation: int
    model: int
    kind: str
    digest: str
    meanings: dict[str, str]
    shards: list[int]


@dataclass(frozen=True)
class AnsweredRow:
    """A row with a model's answer in the labels of the rows; `right` says whether it equals an accepted answer."""

    row: StoredRow
    prediction: Any
    chances: dict[str, float] | None
    right: bool


def answered_model(session: Session, evaluation: OpenEvaluation, model: OpenEvaluationModel) -> AnsweredModel:
    """Return what reading the answers of a model needs."""
    shards = [shard.number for shard in session.scalars(queries.shards_of(evaluation.id, model.number))]
    return AnsweredModel(evaluation.id, model.number, evaluation.kind, evaluation.digest, dict(model.labels), shards)


def read_answers(settings: Settings, answered: AnsweredModel) -> Iterator[AnsweredRow]:
    """Yield the rows that a model answered, in their order; raises `EvaluationStopped` where files are gone."""
    task = OPEN_TASKS[answered.kind]
    field = task.field([])
    rows = stored.read_rows(settings, answered.digest)
    for shard in answered.shards:
        try:
            for answer in answers.read_answers(answers_path(settings, answered.evaluation, answered.model, shard)):
                row = next(rows)
                if row.uid != answer.uid:
                    raise EvaluationStopped("dataset_changed")
                output = ModelOutput(answer.answer, answer.probabilities)
                name = next(iter(answer.answer), ANSWER)
                prediction = answer_in_rows(task, row.inputs, output, name, answered.meanings)
                accepted = [right[ANSWER] for right in row.answers]
                chances = chances_in_rows(output, answered.meanings)
                yield AnsweredRow(row, prediction, chances, is_exact(field, prediction, accepted))
        except (FileNotFoundError, StopIteration):
            raise EvaluationStopped("answers_gone") from None


def compute_model_scores(
    settings: Settings, answered: AnsweredModel, metrics: Sequence[str], open_module: OpenModule
) -> tuple[list[tuple[int, ComputedScore]], dict[str, str]]:
    """Return the scores of a model with the places of their metrics, and the metrics that are not defined here.

    Raises `EvaluationStopped` for answers that cannot be scored.
    """
    rows = list(read_answers(settings, answered))
    _require_numbers(answered, rows)
    scored_answers = ScoredAnswers(
        OPEN_TASKS[answered.kind].field([]),
        [row.prediction for row in rows],
        [[right[ANSWER] for right in row.row.answers] for row in rows],
        [row.chances for row in rows],
    )
    computed: list[tuple[int, ComputedScore]] = []
    undefined: dict[str, str] = {}
    for place, text in enumerate(metrics):
        try:
            computed += [(place, score) for score in _compute(text, scored_answers, answered.digest, open_module)]
        except (ValueError, TypeError, KeyError, ImportError) as error:
            undefined[text] = shorten_reason(str(error))
    return computed, undefined


def _compute(text: str, answers: ScoredAnswers, digest: str, open_module: OpenModule) -> Iterator[ComputedScore]:
    if is_published(text):
        return compute_published(parse_published(text), open_module, answers, digest)
    return compute_scores(read_metric(text), answers, digest)


def shorten_reason(text: str) -> str:
    """Return a reason in one line; of a long one, such as the report of an error in code, the beginning and the end."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else f"{line[:200]} … {line[-180:]}"


def score_model(database: Database, settings: Settings, job_id: str, evaluation: int, model: int) -> dict[str, str]:
    """Compute and store all scores of a model; return the metrics that are not defined here, with the reason."""

    def begin(session: Session) -> tuple[AnsweredModel, list[str], int | None]:
        row = owned_evaluation(session, evaluation, job_id, lock=True)
        model_row = session.get_one(OpenEvaluationModel, (evaluation, model))
        model_row.state = OpenState.SCORING
        return answered_model(session, row, model_row), list(row.choices["metrics"]), row.person_id

    answered, metrics, person_id = database.write(begin)
    open_module = open_on_platform(database, settings, person_id)
    computed, undefined = compute_model_scores(settings, answered, metrics, open_module)
    database.write(_store_scores, job_id, answered, computed)
    return undefined


def _require_numbers(answered: AnsweredModel, rows: Sequence[AnsweredRow]) -> None:
    """Raise `EvaluationStopped` where numbers are compared and an answer holds none."""
    if OPEN_TASKS[answered.kind].reference.kind is not RoleKind.NUMBER:
        return
    texts = [row for row in rows if isinstance(row.prediction, str)]
    if texts:
        message = _(
            "%(n)s of %(all)s answers hold no number, the first in row %(row)s: %(answer)s",
            n=len(texts), all=len(rows), row=texts[0].row.uid, answer=repr(texts[0].prediction[:60]),
        )  # fmt: skip
        raise EvaluationStopped("wrong_output", message)


def _store_scores(
    session: Session, job_id: str, answered: AnsweredModel, computed: list[tuple[int, ComputedScore]]
) -> None:
    owned_evaluation(session, answered.evaluation, job_id, lock=True)
    session.execute(queries.remove_scores(answered.evaluation, answered.model))
    seen: set[tuple[str, str]] = set()
    for place, score in computed:
        if (score.metric, score.key) in seen:
            continue
        seen.add((score.metric, score.key))
        drawn = None if score.replicates is None else pack_replicates(score.replicates)
        session.add(
            OpenScore(
                evaluation_id=answered.evaluation, model=answered.model, metric=score.metric[:200],
                key=score.key[:100], place=place, value=score.value, low=score.low, high=score.high, n=score.n,
                replicates=drawn, better=score.better,
            )
        )  # fmt: skip
