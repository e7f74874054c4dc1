"""Every select of open evaluations, their models, shards, scores and files."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Delete, Select, Update, delete, func, or_, select, update

from dynabench.benchmark.evaluations.tables import Evaluation, Score
from dynabench.benchmark.registry.tables import ModelListing, Submission
from dynabench.datasets.tables import DatasetVersion, Twin
from dynabench.open_evaluations.tables import (
    OPEN_STATES,
    CardLocation,
    CardState,
    DatasetFile,
    ModelCardEntry,
    OpenEvaluation,
    OpenEvaluationModel,
    OpenScore,
    OpenShard,
    OpenState,
)
from dynabench.people.accounts.tables import Person


def visible_evaluations(
    person_id: int | None, everything: bool, before: int, limit: int
) -> Select[OpenEvaluation, str]:
    """Open evaluations that a person may see, with the name of their author, newest first: one index range."""
    statement = select(OpenEvaluation, Person.username).outerjoin(Person, Person.id == OpenEvaluation.person_id)
    if not everything:
        statement = statement.where(or_(OpenEvaluation.listed, OpenEvaluation.person_id == person_id))
    statement = statement.where(OpenEvaluation.id < before)
    return statement.order_by(OpenEvaluation.id.desc()).limit(limit)


def models_of(evaluations: Sequence[int]) -> Select[OpenEvaluationModel]:
    """The models of some open evaluations, in their order: one index range each."""
    ordered = (OpenEvaluationModel.evaluation_id, OpenEvaluationModel.number)
    return select(OpenEvaluationModel).where(OpenEvaluationModel.evaluation_id.in_(evaluations)).order_by(*ordered)


def shards_of(evaluation: int, model: int) -> Select[OpenShard]:
    """The stored shards of one model, in their order: one index range."""
    ours = (OpenShard.evaluation_id == evaluation, OpenShard.model == model)
    return select(OpenShard).where(*ours).order_by(OpenShard.number)


def scores_of(evaluation: int) -> Select[OpenScore]:
    """All scores of an open evaluation, in the order of its metrics: one index range."""
    return select(OpenScore).where(OpenScore.evaluation_id == evaluation).order_by(OpenScore.place, OpenScore.id)


def remove_scores(evaluation: int, model: int) -> Delete:
    """Remove the scores of one model."""
    return delete(OpenScore).where(OpenScore.evaluation_id == evaluation, OpenScore.model == model)


def count_open(person_id: int) -> Select[int]:
    """Count a person's open evaluations that have not ended: one index range."""
    ours = (OpenEvaluation.person_id == person_id, OpenEvaluation.state.in_(OPEN_STATES))
    return select(func.count()).select_from(OpenEvaluation).where(*ours)


def answered_speeds(names: Sequence[str]) -> Select[str, int, float, float | None]:
    """Of each model the rows that it answered in open evaluations, the seconds that took, and their price."""
    return (
        select(
            OpenEvaluationModel.name,
            func.sum(OpenEvaluationModel.rows_done),
            func.sum(OpenEvaluationModel.seconds),
            func.sum(OpenEvaluationModel.cost),
        )
        .where(OpenEvaluationModel.name.in_(names), OpenEvaluationModel.state == OpenState.DONE)
        .group_by(OpenEvaluationModel.name)
    )


def measured_costs(names: Sequence[str]) -> Select[str, str, float]:
    """Of each submitted model its newest throughput (rows a second) and its price of 1,000 rows, oldest first."""
    return (
        select(Submission.model, Score.metric, Score.value)
        .join(Evaluation, Evaluation.submission_id == Submission.id)
        .join(Score, Score.evaluation_id == Evaluation.id)
        .where(Submission.model.in_(names), Score.metric.in_(("throughput", "price")), Score.slice == "")
        .order_by(Score.id)
    )


def listed_of_model(name: str, limit: int) -> Select[OpenEvaluation, OpenEvaluationModel]:
    """Finished open evaluations of a model for its page, newest first: one index range of its name.

    Everybody may see them, and the model's keeper accepted the results for its card, or is their author, or there is
    no keeper, as of the models that the platform brings along.
    """
    entry = (
        (ModelCardEntry.evaluation_id == OpenEvaluation.id)
        & (ModelCardEntry.model == OpenEvaluationModel.number)
        & (ModelCardEntry.place == CardLocation.REGISTRY)
    )
    own = or_(ModelListing.keeper_id.is_(None), ModelListing.keeper_id == OpenEvaluation.person_id)
    accepted = or_(ModelCardEntry.state == CardState.ON_CARD, ModelCardEntry.state.is_(None) & own)
    return (
        select(OpenEvaluation, OpenEvaluationModel)
        .join(OpenEvaluationModel, OpenEvaluationModel.evaluation_id == OpenEvaluation.id)
        .outerjoin(ModelListing, ModelListing.name == OpenEvaluationModel.name)
        .outerjoin(ModelCardEntry, entry)
        .where(OpenEvaluationModel.name == name, OpenEvaluationModel.state == OpenState.DONE, OpenEvaluation.listed)
        .where(accepted)
        .order_by(OpenEvaluation.id.desc())
        .limit(limit)
    )


def open_jobs() -> Select[str | None, int]:
    """Jobs of open evaluations that have not ended, with the evaluation: few."""
    return select(OpenEvaluation.job_id, OpenEvaluation.id).where(OpenEvaluation.state.in_(OPEN_STATES))


def evaluations_in_progress(person_id: int) -> Select[OpenEvaluation]:
    """A person's open evaluations that have not ended: one index range."""
    return own_evaluations(person_id).where(OpenEvaluation.state.in_(OPEN_STATES))


def own_evaluations(person_id: int) -> Select[OpenEvaluation]:
    """A person's open evaluations, oldest first: one index range."""
    return select(OpenEvaluation).where(OpenEvaluation.person_id == person_id).order_by(OpenEvaluation.id)


def own_files(person_id: int) -> Select[DatasetFile]:
    """A person's uploaded files, oldest first: one index range."""
    return select(DatasetFile).where(DatasetFile.person_id == person_id).order_by(DatasetFile.created_at)


def old_files(before: datetime) -> Select[DatasetFile]:
    """Files that were uploaded before a moment: a scan of a small table."""
    return select(DatasetFile).where(DatasetFile.created_at < before)


def sources_in_use() -> Select[str]:
    """The sources of open evaluations that have not ended: few."""
    return select(OpenEvaluation.source).where(OpenEvaluation.state.in_(OPEN_STATES)).distinct()


def users_of_rows(digest: str, but: int) -> Select[int]:
    """Count datasets, perturbed copies and open evaluations but one that have these prepared rows: three scans."""
    evaluations = select(OpenEvaluation.id).where(OpenEvaluation.digest == digest, OpenEvaluation.id != but)
    versions = select(DatasetVersion.id).where(DatasetVersion.digest == digest)
    copies = select(Twin.id).where(Twin.digest == digest)
    return select(func.count()).select_from(evaluations.union_all(versions, copies).subquery())


def evaluation_ids() -> Select[int]:
    """The ids of all open evaluations: a scan of the key."""
    return select(OpenEvaluation.id)


def remove_author(person_id: int) -> Update:
    """Take a person's name off their open evaluations."""
    return update(OpenEvaluation).where(OpenEvaluation.person_id == person_id).values(person_id=None)


def file_ids() -> Select[str]:
    """The ids of all uploaded files: a scan of a small table."""
    return select(DatasetFile.id)


def card_entries(evaluation: int) -> Select[ModelCardEntry]:
    """The entries of an open evaluation on cards: one index range."""
    return select(ModelCardEntry).where(ModelCardEntry.evaluation_id == evaluation).order_by(ModelCardEntry.model)


def shown_on_card(name: str, limit: int) -> Select[OpenEvaluation, OpenEvaluationModel]:
    """The evaluations whose results are on the card of a model of the registry, oldest first."""
    model = (OpenEvaluationModel.evaluation_id == ModelCardEntry.evaluation_id) & (
        OpenEvaluationModel.number == ModelCardEntry.model
    )
    return (
        select(OpenEvaluation, OpenEvaluationModel)
        .join(ModelCardEntry, ModelCardEntry.evaluation_id == OpenEvaluation.id)
        .join(OpenEvaluationModel, model)
        .where(ModelCardEntry.target == name, ModelCardEntry.place == CardLocation.REGISTRY)
        .where(ModelCardEntry.state == CardState.ON_CARD, OpenEvaluation.listed)
        .order_by(OpenEvaluation.id)
        .limit(limit)
    )
