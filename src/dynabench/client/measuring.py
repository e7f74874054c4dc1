"""The part of the client that has data measured."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from dynabench.client.connection import ApiConnection, Json

PLACE = "/data-reports"


class Measuring(ApiConnection):
    """The part of `client.Client` for data reports."""

    def upload_data(self, path: str) -> str:
        """Upload a file of rows, or a zip of such files; return what names it in the request of a report."""
        with Path(path).open("rb") as content:
            how: Json = {"params": {"name": Path(path).name}, "content": content}
            return str(self.request("POST", f"{PLACE}/files", **how)["data"])

    def measure_data(self, data: str, compare: str = "", **choices: Any) -> Json:
        """Have data measured, such as `dataset:sentiment/films` or an upload; `choices` are `texts`, `label`, `split`,
        `group`, `pairs` and `seed`. What they leave out is guessed."""
        return cast(Json, self.request("POST", PLACE, json={"data": data, "compare": compare, **choices}))

    def data_reports(self) -> Iterator[Json]:
        """Your data reports, newest first."""
        return self.pages(PLACE)

    def data_report(self, id: str) -> Json:
        """One data report: its state, and how many of its steps are done."""
        return cast(Json, self.request("GET", f"{PLACE}/{id}"))

    def data_report_result(self, id: str) -> Json:
        """The figures and tables of a finished data report."""
        return cast(Json, self.request("GET", f"{PLACE}/{id}/result"))

    def data_report_file(self, id: str, form: str = "html") -> bytes:
        """A finished data report as `html`, `pdf`, `md` or `json`."""
        return self.checked(self.http.get(f"/api/v1{PLACE}/{id}/files/{form}")).content

    def delete_data_report(self, id: str) -> None:
        """Delete a data report of yours."""
        self.request("DELETE", f"{PLACE}/{id}")
