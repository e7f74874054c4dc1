"""The job that downloads the rows of a dataset of a hub elsewhere."""

from typing import Any

from dbos import DBOS

from dynabench.intake.sources import HubRequest
from dynabench.kit import errors
from dynabench.kit.settings import get_settings
from dynabench.open_evaluations.remote_downloads import run_download


def fetch_remote_rows(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow; `payload` names in `hub` what to download."""
    return fetch_step(str(DBOS.workflow_id), payload)


@DBOS.step(name="fetch_remote_rows.fetch", retries_allowed=True)
def fetch_step(job_id: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Download; a reason why that cannot be is a result, which its document has as well."""
    try:
        return {"bytes": run_download(get_settings(), HubRequest(**payload["hub"]), job_id).size}
    except errors.Problem as problem:
        return {"refused": problem.detail}
