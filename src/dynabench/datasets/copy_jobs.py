"""Make a changed copy of a dataset in the background, in shards that survive a killed worker."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.adversaries import perturbations
from dynabench.datasets import stored, twin_files, twins
from dynabench.datasets.stored import StoredRow, WrittenRows
from dynabench.datasets.tables import Dataset, DatasetState, DatasetVersion, Twin
from dynabench.datasets.twins import CopyFields, perturbed_copies
from dynabench.intake.rows import BadRowReport
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.kit.settings import Settings, get_settings
from dynabench.rounds import service as rounds
from dynabench.rounds.uploaded_files import store_bad_rows
from dynabench.tasks import TaskConfig

SHARD = 10_000
"""Originals of one step: a few seconds of work."""


MOST_NAMED_IN_REASON = 20  # refused rows in the reason; all are in `refused_rows`


def _twin_plan(session: Session, twin_id: int) -> tuple[TaskConfig, str, int, int, str, str]:
    twin = session.get_one(Twin, twin_id)
    version = session.get_one(DatasetVersion, twin.version_id)
    config = rounds.newest_config(session, session.get_one(Dataset, version.dataset_id).task_id)
    return config, version.digest, version.rows, twin.seed, twin.state, twin.digest


def perturb_dataset(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `twin` and either the `transformations` and how many `copies` of each row, or
    the stored `file` with its `name`. The result says how it ended."""
    if "file" in payload:
        return upload_step(str(DBOS.workflow_id), payload)
    return generate_copies(payload, lambda told: DBOS.set_event("progress", told))


def generate_copies(payload: dict[str, Any], tell: Callable[[dict[str, int]], object]) -> dict[str, Any]:
    """Make the copies shard by shard; `tell` gets how many originals are done, and of how many."""
    config, digest, rows, *_ = jobs.database().read(_twin_plan, payload["twin"])
    for number in range(-(-rows // SHARD)):
        shard_step(payload, config.model_dump_json(by_alias=True), digest, number)
        tell({"rows": min(rows, (number + 1) * SHARD), "of": rows})
    result = finish_copies_step(payload)
    shutil.rmtree(_shard_folder(get_settings(), payload["twin"]), ignore_errors=True)
    return result


def _shard_folder(settings: Settings, twin_id: int) -> Path:
    return settings.folder / "datasets" / f".twin-{twin_id}"


@DBOS.step(name="perturb_dataset.shard", retries_allowed=True)
def shard_step(payload: dict[str, Any], config: str, digest: str, number: int) -> int:
    """Write the copies of shard `number` (from 0) to a file of its own; how many there are."""
    settings = get_settings()
    folder = _shard_folder(settings, payload["twin"])
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    fields = CopyFields.of(TaskConfig.model_validate_json(config))
    chosen = perturbations.find_transformations(payload["transformations"])
    *_, seed, _, _ = jobs.database().read(_twin_plan, payload["twin"])
    count, waiting = 0, folder / f"{number}.part"
    with waiting.open("wb") as file:
        for row in stored.read_rows(settings, digest, number * SHARD, SHARD):
            for copy in perturbed_copies(row, fields, chosen, seed, payload["copies"]):
                file.write(_copy_line(copy))
                count += 1
    waiting.replace(folder / f"{number}.jsonl")
    return count


def _copy_line(row: StoredRow) -> bytes:
    members = [row.uid, dict(row.inputs), list(row.answers), list(row.tags), row.original_uid, row.transformation]
    return orjson.dumps(members, option=orjson.OPT_APPEND_NEWLINE)


def _read_shards(folder: Path) -> Iterator[StoredRow]:
    for path in sorted(folder.glob("*.jsonl"), key=lambda path: int(path.stem)):
        with path.open("rb") as file:
            for line in file:
                uid, inputs, answers, tags, original_uid, transformation = orjson.loads(line)
                yield StoredRow(uid, inputs, tuple(answers), tuple(tags), original_uid, transformation)


@DBOS.step(name="perturb_dataset.finish", retries_allowed=True)
def finish_copies_step(payload: dict[str, Any]) -> dict[str, Any]:
    """Put the shards together and make the twin ready, once."""
    settings, database = get_settings(), jobs.database()
    *_, state, digest = database.read(_twin_plan, payload["twin"])
    if state == DatasetState.READY:  # the crash came after the last commit, and the shards are gone
        return {"state": state, "digest": digest}
    return _keep_copies(
        payload["twin"], stored.write_rows(settings, _read_shards(_shard_folder(settings, payload["twin"])), twins=True)
    )


def _keep_copies(twin_id: int, written: WrittenRows) -> dict[str, Any]:
    def keep(session: Session) -> dict[str, Any]:
        twin = session.get_one(Twin, twin_id, with_for_update=True)
        if twin.state != DatasetState.READING:
            return {"state": twin.state, "digest": twin.digest}
        twin.digest, twin.rows, twin.transformations = written.digest, written.rows, written.transformations
        if written.rows:
            twins.publish_twin(session, twin)
        else:
            twin.state, twin.reason = DatasetState.FAILED, _("No transformation changes any row of this dataset.")
        return {"state": twin.state, "digest": twin.digest, "rows": twin.rows}

    return jobs.database().write(keep)


@DBOS.step(name="perturb_dataset.upload", retries_allowed=True)
def upload_step(job_id: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Read a file of copies; ready if every row is valid, else failed with each refused row named."""
    settings, database = get_settings(), jobs.database()
    config, digest, _, _, state, done = database.read(_twin_plan, payload["twin"])
    if state != DatasetState.READING:
        return {"state": state, "digest": done}
    path = Path(payload["file"])
    try:
        reading = twin_files.TwinReader(settings, digest, CopyFields.of(config))
        written = stored.write_rows(settings, reading.rows(path, payload["name"]), twins=True)
    except errors.Problem as problem:
        database.write(_fail_twin, payload["twin"], problem.detail)
    else:
        if reading.report.bad_rows or not written.rows:
            database.write(_refuse_twin, job_id, payload["twin"], reading.report)
        else:
            _keep_copies(payload["twin"], written)
    path.unlink(missing_ok=True)
    *_, state, done = database.read(_twin_plan, payload["twin"])
    return {"state": state, "digest": done}


def _fail_twin(session: Session, twin_id: int, reason: str) -> None:
    twin = session.get_one(Twin, twin_id, with_for_update=True)
    twin.state, twin.reason = DatasetState.FAILED, reason


def _refuse_twin(session: Session, job_id: str, twin_id: int, report: BadRowReport) -> None:
    store_bad_rows(session, job_id, report.bad_rows)
    named = [f"row {row.number}: {row.message}" for row in report.bad_rows[:MOST_NAMED_IN_REASON]]
    more = report.count - len(named)
    reasons = [_("%(count)s rows were refused, so the previous copies stay.", count=report.count), *named]
    if not report.bad_rows:
        reasons = [_("The file has no rows.")]
    _fail_twin(session, twin_id, "\n".join([*reasons, *([f"and {more} more"] if more > 0 else [])]))
