"""The part of the client that evaluates chosen models on any dataset."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from dynabench.client.connection import ApiConnection, Json

PLACE = "/open-evaluations"
FETCH_SECONDS = 0.5


class Evaluating(ApiConnection):
    """The part of `client.Client` for open evaluations."""

    def upload_rows(self, path: str) -> str:
        """Upload a file of rows or a zip of pictures; return what names it as a dataset."""
        with Path(path).open("rb") as content:
            how: Json = {"params": {"name": Path(path).name}, "content": content}
            return str(self.request("POST", f"{PLACE}/files", **how)["dataset"])

    def delete_rows(self, dataset: str) -> None:
        """Delete an uploaded file, named as `upload_rows` named it; evaluations of it stay."""
        self.request("DELETE", f"{PLACE}/files/{dataset.removeprefix('file:')}")

    def fetch_rows(self, dataset: str, report: Callable[[int, int], object] | None = None, **choices: str) -> Json:
        """Fetch a split of a dataset (`remote:OWNER/NAME`) of the hub that the server uses, and wait until it is there.

        `choices` are `config`, `split` and `revision`. Return those that were taken, for the choices of an evaluation.
        `report` is called with the bytes that are there and those of all files. Raises ValueError with the reason.
        """
        body = {"dataset": dataset, **choices}
        download = self.request("POST", f"{PLACE}/remote-datasets", json=body)
        while download["open"]:
            if report is not None:
                report(download["downloaded"], download["bytes"])
            time.sleep(FETCH_SECONDS)
            download = self.request("GET", f"{PLACE}/remote-datasets", params=body)
        if download["reason"]:
            raise ValueError(download["reason"])
        return {name: download[name] for name in ("dataset", "config", "split", "revision")}

    def plan_evaluation(self, dataset: str, models: Sequence[str] = (), **choices: Any) -> Json:
        """Return the guesses for a dataset and models, and what is missing; nothing is started.

        `choices` are those of `evaluate_openly`.
        """
        params = _query({"dataset": dataset, "models": models, **choices})
        return cast(Json, self.request("GET", f"{PLACE}/plan", params=params))

    def evaluate_openly(self, dataset: str, models: Sequence[str], **choices: Any) -> Json:
        """Start an open evaluation; what `choices` (`task`, `columns`, `metrics`, `labels`) leave out is guessed."""
        body = {"dataset": dataset, "models": list(models), **choices}
        return cast(Json, self.request("POST", PLACE, json=body))

    def open_evaluations(self) -> Iterator[Json]:
        """Your open evaluations and those that everybody may see, newest first."""
        return self.pages(PLACE)

    def open_evaluation(self, id: int) -> Json:
        """One open evaluation: its state, and how far each model is."""
        return cast(Json, self.request("GET", f"{PLACE}/{id}"))

    def open_board(self, id: int, by: str = "") -> Json:
        """The scores of an open evaluation with intervals, and paired differences of models on the metric `by`."""
        return cast(Json, self.request("GET", f"{PLACE}/{id}/board", params={"by": by} if by else {}))

    def open_predictions(self, id: int, format: str = "csv") -> bytes:
        """Rows, right answers and predictions of an open evaluation of yours, as `csv` or `parquet`."""
        return self.download(f"{PLACE}/{id}/predictions", params={"format": format})

    def open_record(self, id: int) -> Json:
        """The signed record of an open evaluation."""
        return cast(Json, self.request("GET", f"{PLACE}/{id}/record"))

    def delete_open_evaluation(self, id: int) -> None:
        """Delete an open evaluation that has ended, with its answers and scores."""
        self.request("DELETE", f"{PLACE}/{id}")

    def cancel_open_evaluation(self, id: int) -> Json:
        """Cancel an open evaluation; models that are done keep their scores."""
        return cast(Json, self.request("POST", f"{PLACE}/{id}/cancel"))


def _query(choices: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return choices of an evaluation as the query of an address."""
    pairs: list[tuple[str, str]] = []
    for name, value in choices.items():
        match name:
            case "models" | "metrics":
                pairs += [(name.removesuffix("s"), text) for text in value]
            case "columns":
                pairs += [(f"column.{role}", column) for role, column in value.items()]
            case "labels":
                pairs += [
                    (f"label.{quote(model, safe='')}:{label}", meaning)
                    for model, meanings in value.items()
                    for label, meaning in meanings.items()
                ]
            case "classes":
                pairs.append((name, ",".join(value)))
            case _:
                pairs.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return pairs
