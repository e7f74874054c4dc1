"""Evaluations: queued, each submission once on each dataset; their state, and who may see, end or repeat them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries, score_ladder
from dynabench.benchmark.evaluations.measures import find_measure, formula_version
from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState, Record, Score, Shard
from dynabench.benchmark.registry import predictions
from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.datasets import twins
from dynabench.datasets.tables import Dataset, DatasetVersion, Twin
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.settings import get_settings
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.people.notices import service as notices
from dynabench.people.notices import webhooks
from dynabench.rounds import service as rounds

CODES = {
    "out_of_memory": _(
        "The model needed more memory than an evaluation may use. Make it smaller: int8, ONNX or shorter inputs."
    ),
    "time": _("The model took too long. `dynabench model check` measures its speed."),
    "wrong_output": _(
        "The model returned something that is not an answer. `dynabench model check` shows what is wrong."
    ),
    "unreachable": _("The endpoint did not answer. Check that it is running, then run the evaluation again."),
    "refused": _("The model refused an input or cannot be loaded here. `dynabench model check` shows why."),
    "cluster": _(
        "The cluster that runs models does not answer. Ask the operator to check it, then run the evaluation again."
    ),
    "spending": _(
        "The endpoint's daily cost limit is reached. The evaluation continues tomorrow (UTC) with "
        "the remaining rows; no row is paid for twice."
    ),
    "crashed": _("The model's process ended without an error message. The end of the log may show why."),
    "cancelled": _("The evaluation was cancelled. You can run it again."),
    "dataset_changed": _("The dataset's file differs from what was recorded. Ask the operator to restore it."),
    "answers_gone": _("Stored answers are missing. Ask the operator to restore them."),
    "model_gone": _("This version of the model is no longer installed. Submit it again."),
    "missing_predictions": _("The file lacks predictions for some rows. Every row needs one, matched by uid."),
    "failed": _("Something went wrong on our side. The operator's log has details; you can run the evaluation again."),
}
"""Why an evaluation may end without scores, and what to do about it."""


@dataclass(frozen=True)
class EvaluationView:
    """An evaluation as one viewer sees it. `log` and `reason` are empty where they may not be read.

    `place` is how many are before it, `expected` when it should be done, both None where nobody can tell.
    `held`: the ladder tells none of its scores (`released`).
    """

    evaluation: Evaluation
    submission: Submission
    version: DatasetVersion
    dataset: Dataset
    disclosure: Disclosure
    name: str
    place: int | None = None
    expected: datetime | None = None
    reason: str = ""
    log: str = ""
    advice: str = ""
    held: bool = False

    @property
    def mine(self) -> bool:
        """True where the viewer may end it or have it run again."""
        return self.disclosure.own

    @property
    def shows_rows(self) -> bool:
        """True where there are results row by row that the viewer may see."""
        return self.disclosure.marks and self.evaluation.state == EvaluationState.DONE

    @property
    def going(self) -> bool:
        """True while it is not over."""
        return self.evaluation.state in queries.OPEN_STATES

    @property
    def may_cancel(self) -> bool:
        """True if the viewer may end it."""
        return self.mine and self.going

    @property
    def may_retry(self) -> bool:
        """True if the viewer may run it again."""
        return self.mine and self.evaluation.state in (EvaluationState.FAILED, EvaluationState.CANCELLED)


def find_evaluation(session: Session, viewer: Person | None, id: int) -> EvaluationView:
    """Return the evaluation as `viewer` sees it; raises `NotFound` where the viewer may see none."""
    row = session.execute(queries.evaluation_with_dataset(id)).one_or_none()
    seen = _seen(viewer, row[0], row[1], row[2], row[3]) if row else None
    if seen is None or not seen.disclosure.scores:
        raise errors.NotFound(_("There is no such evaluation."))
    seen = replace(seen, held=_held(session, seen))
    if not seen.going:
        return seen
    place, expected = _expected(session, seen.evaluation)
    return replace(seen, place=place, expected=expected)


def list_evaluations(
    session: Session,
    viewer: Person | None,
    task: str,
    after: int | None = None,
    limit: int = 50,
    state: str = "",
    submission: int | None = None,
    dataset: str = "",
) -> tuple[list[EvaluationView], int | None]:
    """Evaluations of a task that `viewer` may see, newest first, and the cursor of the next page."""
    rounds.get_task(session, task)
    views: list[EvaluationView] = []
    while len(views) <= limit:
        rows = session.execute(queries.evaluations_of_task(task, after, limit + 1, state, submission, dataset)).all()
        views += [seen for row in rows if (seen := _seen(viewer, *row)).disclosure.scores]
        if len(rows) <= limit:
            break
        after = rows[-1][0].id
    return views[:limit], views[limit - 1].evaluation.id if len(views) > limit else None


def visible_scores(session: Session, viewer: Person | None, id: int) -> tuple[EvaluationView, Sequence[Score]]:
    """The scores of an evaluation that `viewer` may see; small slices are left out where the dataset is hidden, also
    those that were scored before it was. Of one that the ladder holds back there are the costs alone."""
    seen, all_rows = find_evaluation(session, viewer, id), session.scalars(queries.all_scores(id)).all()
    if seen.held:
        return seen, [score for score in all_rows if find_measure(score.metric).cost]
    return seen, [
        score for score in all_rows if not score.slice or seen.disclosure.shows_slice(score.n, seen.version.rows)
    ]


def visible_record(session: Session, viewer: Person | None, id: int) -> Record:
    """The signed record; `NotFound` until there is one. An anonymous submission's names its model, so it is its own.

    Raises `Forbidden` while the ladder holds its scores back, and where it was signed before the dataset was hidden.
    """
    seen = find_evaluation(session, viewer, id)
    signed_record = session.get(Record, id)
    if signed_record is None or not seen.disclosure.name:
        raise errors.NotFound(_("This evaluation has no record to show."))
    if seen.disclosure.hidden and not Disclosure.at_most(signed_record.document["dataset"]["visibility"]).hidden:
        raise errors.Forbidden(
            _("This record was signed before the dataset was hidden and reveals too much about its rows.")
        )
    if seen.held:
        raise errors.Forbidden(
            _("The scores in this record are held back: the dataset is hidden, and an earlier submission is as good.")
        )
    return signed_record


def cancel_evaluation(session: Session, person: Person, id: int) -> None:
    """End an evaluation (its submitter, admins); what was answered stays for another run."""
    evaluation = _own(session, person, id)
    if evaluation.state not in queries.OPEN_STATES:
        raise errors.Conflict(_("It has already ended: %(state)s.", state=evaluation.state))
    evaluation.state, evaluation.code, evaluation.ended_at = EvaluationState.CANCELLED, "cancelled", now()
    rounds.record_act(session, person, "evaluation.cancelled", evaluation=id)
    announce_end(session, evaluation, person.id)


def retry_evaluation(session: Session, person: Person, id: int) -> None:
    """Run an evaluation again that failed or was cancelled (its submitter, admins), from the first shard that lacks."""
    evaluation = _own(session, person, id)
    if evaluation.state not in (EvaluationState.FAILED, EvaluationState.CANCELLED):
        raise errors.Conflict(
            _("Only failed or cancelled evaluations can be run again; this one is %(state)s.", state=evaluation.state)
        )
    submission = session.get_one(Submission, evaluation.submission_id)
    if submission.state != SubmissionState.READY or submission.withdrawn_at:
        raise errors.Conflict(_("The submission was withdrawn, so it is no longer evaluated."))
    run_again(session, evaluation)
    rounds.record_act(session, person, "evaluation.retried", evaluation=id, attempt=evaluation.attempt)


def ended_text(evaluation: Evaluation, submission: Submission, dataset: Dataset) -> str:
    """Return the text of the submitter's notice at the end of an evaluation."""
    subject = f"{submission.name} on {dataset.title or dataset.name}"
    if evaluation.state == EvaluationState.DONE:
        return _("The evaluation of %(of)s is done.", of=subject)
    return f"The evaluation of {subject} ended: {CODES.get(evaluation.code, evaluation.code)}"


def announce_end(session: Session, evaluation: Evaluation, by: int | None = None) -> None:
    """Notify the submitter at the end, unless the submitter ended it, and the task's webhooks.

    Webhooks receive nothing about private submissions, and no names of anonymous ones.
    """
    _, submission, version, dataset = session.execute(queries.evaluation_with_dataset(evaluation.id)).one()
    page = f"/evaluations/{evaluation.id}"
    if submission.person_id not in (None, by):
        text = ended_text(evaluation, submission, dataset)
        notices.notify_person(session, submission.person_id, "evaluation", text, link=page)
    disclosure = Disclosure.of(None, dataset, submission)
    if disclosure.scores:
        name = submission.name if disclosure.name else ""
        message = {"evaluation": evaluation.id, "submission": submission.id, "name": name, "dataset": dataset.name}
        message |= {"state": evaluation.state, "code": evaluation.code, "version": version.number, "page": page}
        webhooks.emit_event(session, dataset.task_id, "evaluation.ended", {"task": dataset.task_id, **message})


def _own(session: Session, person: Person, id: int) -> Evaluation:
    seen = find_evaluation(session, person, id)
    if not seen.mine:
        raise errors.Forbidden(_("Only the submitter and admins may do this."))
    return session.get_one(Evaluation, id, with_for_update=True, populate_existing=True)


def _seen(
    viewer: Person | None, evaluation: Evaluation, submission: Submission, version: DatasetVersion, dataset: Dataset
) -> EvaluationView:
    disclosure = Disclosure.of(viewer, dataset, submission)
    return EvaluationView(
        evaluation,
        submission,
        version,
        dataset,
        disclosure,
        name=submission.name if disclosure.name else "",
        reason=evaluation.reason if disclosure.log else "",
        log=evaluation.log if disclosure.log else "",
        advice=CODES.get(evaluation.code, "") if evaluation.code else "",
    )


def _held(session: Session, seen: EvaluationView) -> bool:
    if not seen.disclosure.hidden:
        return False
    if (
        seen.evaluation.state not in queries.SCORED_STATES
    ):  # scores of a run before the one that failed, which no ladder knows
        return True
    primary = find_measure(rounds.newest_config(session, seen.dataset.task_id).metrics.primary)
    withheld = score_ladder.withheld_sources(
        session, seen.dataset.task_id, {seen.version.id: seen.version.rows}, primary
    )
    return (seen.submission.id, seen.version.id) in withheld


def _expected(session: Session, evaluation: Evaluation) -> tuple[int, datetime | None]:
    before = session.scalar(queries.count_before(evaluation)) or 0
    rows_left = dict(session.execute(queries.unfinished_before(evaluation)).all())
    speeds = {
        submission_id: rows / seconds
        for submission_id, rows, seconds in session.execute(queries.answering_speeds([*rows_left]))
        if seconds
    }
    if not rows_left or set(rows_left) - set(speeds):
        return before, None
    seconds = sum(max(int(rows), 0) / speeds[submission_id] for submission_id, rows in rows_left.items())
    return before, now() + timedelta(seconds=seconds)


def queue_evaluations(session: Session, payload: dict[str, Any]) -> int:
    """Queue the evaluations that a new object needs, and return their number; a second call queues none.

    `payload` names a `submission`, `dataset`, `twin` or `metric`, or a `task` whose metrics changed, for whose
    datasets missing twins are requested as well; open evaluations of a `withdrawn` submission are ended.
    """
    if "withdrawn" in payload:
        return _withdrawn(session, payload["withdrawn"])
    if "twin" in payload:
        return _new_part(session, payload["twin"])
    if "metric" in payload:
        return _score_anew(session, queries.outdated_evaluations(payload["metric"], formula_version(payload["metric"])))
    if "task" in payload:
        return _new_metrics(session, payload["task"])
    missing = session.execute(queries.missing_evaluations(payload.get("submission"), payload.get("dataset"))).all()
    return sum(_add(session, submission, version) for submission, version in missing)


def run_again(session: Session, evaluation: Evaluation) -> None:
    """Run an evaluation again: stored answers stay, the rest is answered."""
    evaluation.attempt += 1
    evaluation.state, evaluation.code, evaluation.reason, evaluation.ended_at = EvaluationState.QUEUED, "", "", None
    enqueue_job(session, evaluation)


def enqueue_job(session: Session, evaluation: Evaluation) -> None:
    """Enqueue the job of an evaluation that has an id."""
    submission = session.get_one(Submission, evaluation.submission_id)
    payload = {"evaluation": evaluation.id, "attempt": evaluation.attempt}
    evaluation.job_id = jobs.enqueue(session, "evaluate", payload, submission.person_id).id


def queue_outdated_metrics(session: Session) -> int:
    """Request new scores for all metrics whose formula has changed; return the number of these metrics."""
    old = [name for name, version in session.execute(queries.scored_metrics()) if version < formula_version(name)]
    for name in old:
        jobs.enqueue(session, "queue_evaluations", {"metric": name})
    return len(old)


def _add(session: Session, submission: Submission, version: DatasetVersion) -> int:
    if submission.kind == "predictions" and not predictions.has_predictions(get_settings(), submission, version):
        return 0
    evaluation = Evaluation(submission_id=submission.id, version_id=version.id, rows=version.rows)
    try:
        with session.begin_nested():
            session.add(evaluation)
            session.flush()
    except IntegrityError:  # another request queued it at the same time
        return 0
    enqueue_job(session, evaluation)
    return 1


def _new_part(session: Session, twin_id: int) -> int:
    """Evaluations of the twin's version answer its rows anew; those that run see to it themselves when they end."""
    twin = session.get_one(Twin, twin_id)
    ended = [
        evaluation_row
        for evaluation_row in session.scalars(queries.evaluations_of_version(twin.version_id))
        if evaluation_row.state == EvaluationState.DONE
    ]
    for evaluation in ended:
        submission = session.get_one(Submission, evaluation.submission_id)
        if submission.kind == "predictions" or submission.withdrawn_at:
            continue
        drop_part(session, evaluation, twin.axis)
        run_again(session, evaluation)
    return len(ended)


def drop_part(session: Session, evaluation: Evaluation, part: str) -> None:
    """Delete the stored answers of a part that has changed."""
    session.execute(delete(Shard).where(Shard.evaluation_id == evaluation.id, Shard.part == part))
    evaluation.rows_done = sum(shard.rows for shard in session.scalars(queries.finished_shards(evaluation.id)))


def _withdrawn(session: Session, submission: int) -> int:
    """End the open evaluations of a withdrawn submission; earlier scores stay."""
    going = session.scalars(queries.open_evaluations(submission)).all()
    for evaluation in going:
        scored = session.get(Record, evaluation.id) is not None
        evaluation.state, evaluation.code = ("done", "") if scored else ("cancelled", "cancelled")
        evaluation.ended_at = now()
    return len(going)


def _new_metrics(session: Session, task: str) -> int:
    """Score stored answers anew, and ask for missing twins, whose rows are answered once they are ready."""
    for version in session.scalars(queries.versions_in_use(task)).all():
        twins.request_twins(session, version)
    return _score_anew(session, queries.scored_evaluations(task))


def _score_anew(session: Session, statement: Select[Evaluation]) -> int:
    evaluations = session.scalars(statement).all()
    for evaluation in evaluations:
        run_again(session, evaluation)
    return len(evaluations)
