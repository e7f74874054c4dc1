"""A report as a durable job: measured once more after a crash, kept under its key, files deleted at the end."""

from typing import Any

from dbos import DBOS

from dynabench.insight.data_measurements.sample import find_encoder
from dynabench.insight.data_reports import service
from dynabench.insight.data_reports.report import ReportOptions, find_report, measure_data, report_key, store_report
from dynabench.insight.data_reports.subjects import open_subject
from dynabench.kit import errors, jobs
from dynabench.kit.settings import Settings, get_settings


def measure_subjects(settings: Settings, payload: dict[str, Any], tell: Any = lambda done, of: None) -> str:
    """Measure the data of a job unless the same was measured before; return the key of the report.

    Raises `Problem` for data that cannot be read.
    """
    source = open_subject(settings, payload["first"])
    other = open_subject(settings, payload["second"]) if payload["second"] else None
    options, embed = ReportOptions.restore(payload["options"]), find_encoder()
    key = report_key(source.digest, other.digest if other else "", options, embed is not None)
    if find_report(settings, key) is None:
        store_report(settings, key, measure_data(source, options, other, embed, tell))
    return key


@DBOS.step(name="measure_data.measure", retries_allowed=True)
def measure_step(job_id: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Measure and note the result, or why the data cannot be read."""
    db = jobs.database()
    done = db.read(lambda session: session.get_one(jobs.Job, job_id).done)
    if done:
        return dict(done)

    def report(steps: int, total: int) -> None:
        DBOS.set_event("progress", {"done": steps, "of": total})

    try:
        result = {"key": measure_subjects(get_settings(), payload, report)}
    except errors.Problem as problem:
        result = {"problem": problem.detail}
    db.write(service.finish_job, job_id, result)
    return result


@DBOS.step(name="measure_data.clean", retries_allowed=True)
def clean_step(job_id: str) -> None:
    """Delete the uploaded files, unless another report waits for them."""
    db = jobs.database()
    service.remove_files(db.read(lambda session: service.unused_files(session, session.get_one(jobs.Job, job_id))))


def measure_data_job(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow: `payload` has the subjects `first` and `second` and the `options`."""
    job_id = str(DBOS.workflow_id)
    result = measure_step(job_id, payload)
    clean_step(job_id)
    return result
