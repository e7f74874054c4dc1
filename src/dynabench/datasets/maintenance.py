"""A worker's regular maintenance of datasets.

It lets versions fail whose reading was given up, because they would block every later version, and deletes archives
after a week.
"""

import time
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.datasets import library
from dynabench.datasets.archives.service import archive_path
from dynabench.datasets.tables import DatasetState, DatasetVersion, Twin
from dynabench.kit import jobs
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

KEPT_SECONDS = 7 * 24 * 3600  # of archives
LOST = _("The file was read many times without success. Upload it again; the operator's log has details.")


def tidy(database: Database, settings: Settings) -> None:
    """Let versions and twins fail that no job reads or makes any more, and delete old archives."""
    for table in (DatasetVersion, Twin):
        going = database.read(_reading_jobs, table)
        for job in jobs.given_up(database, settings, list(going)):
            database.write(_fail_lost, table, going[job], job)
    _delete_old_archives(settings)


def _delete_old_archives(settings: Settings) -> None:
    for path in archive_path(settings, "any").parent.iterdir():
        if time.time() - path.stat().st_mtime > KEPT_SECONDS:
            path.unlink(missing_ok=True)


def _reading_jobs(session: Session, table: type[DatasetVersion] | type[Twin]) -> dict[str, int]:
    rows = session.execute(select(table.job_id, table.id).where(table.state == DatasetState.READING))
    return {job: id for job, id in rows if job}


def _fail_lost(session: Session, table: type[DatasetVersion] | type[Twin], id: int, job: str) -> None:
    row: Any = session.get_one(table, id, with_for_update=True)
    if row.job_id != job:
        return
    if isinstance(row, DatasetVersion):
        library.fail_version(session, id, LOST)
    elif row.state == DatasetState.READING:
        row.state, row.reason = DatasetState.FAILED, LOST
