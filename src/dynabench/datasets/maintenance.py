"""A worker's regular maintenance of datasets.

It lets versions fail whose reading was given up, because they would block every later version.
"""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.datasets import library
from dynabench.datasets.tables import DatasetState, DatasetVersion, Twin
from dynabench.kit import jobs
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

LOST = _("The file was begun to be read many times and never ended. Send it again; the operator's log has more.")


def tidy(database: Database, settings: Settings) -> None:
    """Let versions and twins fail that no job reads or makes any more."""
    for table in (DatasetVersion, Twin):
        going = database.read(_going, table)
        for job in jobs.given_up(database, settings, list(going)):
            database.write(_lost, table, going[job], job)


def _going(session: Session, table: type[DatasetVersion] | type[Twin]) -> dict[str, int]:
    rows = session.execute(select(table.job_id, table.id).where(table.state == DatasetState.READING))
    return {job: id for job, id in rows if job}


def _lost(session: Session, table: type[DatasetVersion] | type[Twin], id: int, job: str) -> None:
    found: Any = session.get_one(table, id, with_for_update=True)
    if found.job_id != job:
        return
    if isinstance(found, DatasetVersion):
        library.fail(session, id, LOST)
    elif found.state == DatasetState.READING:
        found.state, found.reason = DatasetState.FAILED, LOST
