"""The part of the client that knows models, and enters some to be evaluated."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from dynabench.client.connection import ApiConnection, Json


class Submitting(ApiConnection):
    """The part of `client.Client` for models and submissions."""

    def models(self, task: str = "") -> list[Json]:
        """Models that you may see, of one task or all."""
        return list(self.pages("/models", **({"task": task} if task else {})))

    def model(self, name: str) -> Json:
        """One model: its card, where it runs, how it does, the rounds against it."""
        return cast(Json, self.request("GET", f"/models/{name}"))

    def ask(self, model: str, inputs: Json, version: str = "") -> Json:
        """Return a model's answer: `{answer, probabilities, latency_ms, version, model}`; nothing is stored."""
        return cast(Json, self.request("POST", f"/models/{model}/ask", json={"inputs": inputs, "version": version}))

    def explain_model(self, model: str, inputs: Json, *, version: str = "", method: str = "", label: str = "") -> Json:
        """Return the words (`fields`) or the parts of pictures (`maps`) that a model looks at."""
        body = {"inputs": inputs, "version": version, "method": method, "label": label}
        return cast(Json, self.request("POST", f"/models/{model}/attributions", json=body))

    def list_model(self, model: str, visibility: str, *, note: str | None = None, keeper: str | None = None) -> Json:
        """Let everybody see a model (`public`), its task's people (`task`), or its keeper and admins (`private`)."""
        body = {"visibility": visibility, "note": note, "keeper": keeper}
        return cast(Json, self.request("PATCH", f"/models/{model}", json=body))

    def submit(
        self, task: str, kind: str, name: str, *, file: str = "", files: Json | None = None, **said: Any
    ) -> Json:
        """Enter a model for a task: `hub`, `endpoint`, `archive`, `adapter`, `predictions` or `training_set`.

        `file` (a zip, or rows to learn from) and `files` (predictions by dataset) are paths, and are sent first. What
        else a kind needs, and `visibility`, `readme` and the like, go by name: `hub="owner/name"`, `url=...`. Returns
        the submission.
        """
        body: Json = {"kind": kind, "name": name, **said}
        if file:
            body["file"] = self.send_submission_file(task, file)
        if files:
            body["files"] = {dataset: self.send_submission_file(task, path) for dataset, path in files.items()}
        return cast(Json, self.request("POST", f"/tasks/{task}/submissions", json=body))

    def send_submission_file(self, task: str, path: str) -> str:
        """Send a zip file, predictions or rows to learn from; the file's id, which waits for a day to be submitted."""
        with Path(path).open("rb") as content:
            how: Json = {"params": {"name": Path(path).name}, "content": content}
            return str(self.request("POST", f"/tasks/{task}/submissions/files", **how)["file"])

    def leaderboard(
        self, task: str, *, metrics: dict[str, int] | None = None, datasets: dict[str, int] | None = None, **more: Any
    ) -> Json:
        """A task's leaderboard, weighed by steps from 0 to 5 by metric and by dataset, else by the task's own weights.

        Each of its `datasets` says its `weight`; one with `few_rows` weighs nothing unless you give it a weight. `more`
        are the other parameters of the address, such as `form`, `size` and `sort`.
        """
        params = {f"m.{name}": step for name, step in (metrics or {}).items()}
        params |= {f"d.{name}": step for name, step in (datasets or {}).items()}
        return cast(Json, self.request("GET", f"/tasks/{task}/leaderboard", params=params | more))

    def submissions(self, task: str) -> Iterator[Json]:
        """Your submissions to a task, newest first; for its owners also the others' that are not private."""
        return self.pages(f"/tasks/{task}/submissions")

    def submission(self, submission: int) -> Json:
        """One submission: its state, what its check found, the last lines of its log."""
        return cast(Json, self.request("GET", f"/submissions/{submission}"))

    def change_submission(self, submission: int, act: str) -> Json:
        """`cancel` its check, `retry` it, or `withdraw` it."""
        return cast(Json, self.request("POST", f"/submissions/{submission}/{act}"))

    def show_submission(self, submission: int, visibility: str) -> Json:
        """Show it to everybody (`public`), without its name (`anonymous`), or to nobody else (`private`)."""
        return cast(Json, self.request("PATCH", f"/submissions/{submission}", json={"visibility": visibility}))

    def mark_baseline(self, submission: int, baseline: bool = True) -> Json:
        """Make it a baseline, which boards show for comparison without a rank, or rank it again."""
        return cast(Json, self.request("PATCH", f"/submissions/{submission}", json={"baseline": baseline}))
