"""The part of the client that recruits workers by studies on crowd platforms."""

from collections.abc import Iterator
from typing import cast

from dynabench.client.connection import ApiConnection, Json


class Recruiting(ApiConnection):
    """The part of `client.Client` for studies; all of it is for owners of the task."""

    def studies(self, task: str) -> list[Json]:
        """The studies of a task, newest first, with the number of participants by state."""
        return cast(list[Json], self.request("GET", f"/tasks/{task}/studies")["items"])

    def study(self, task: str, study: int) -> Json:
        """One study; `entry` is the address that workers are sent to."""
        return cast(Json, self.request("GET", f"/tasks/{task}/studies/{study}"))

    def draft_study(
        self,
        task: str,
        number: int,
        name: str,
        *,
        work: Json | None = None,
        provider: str = "generic",
        settings: Json | None = None,
    ) -> Json:
        """Draft a study for a round; it recruits nobody before it is published.

        `work` is `{"examples", "votes", "minutes"}` of each worker, `settings` are the platform's.
        """
        body: Json = {"round": number, "provider": provider, "name": name, "settings": settings or {}}
        body |= {"work": work} if work else {}
        return cast(Json, self.request("POST", f"/tasks/{task}/studies", json=body))

    def delete_study(self, task: str, study: int) -> None:
        """Delete a draft."""
        self.request("DELETE", f"/tasks/{task}/studies/{study}")

    def move_study(self, task: str, study: int, state: str) -> Json:
        """Make a study `published`, `paused` or `stopped`, here and at its platform."""
        return cast(Json, self.request("POST", f"/tasks/{task}/studies/{study}/state", json={"state": state}))

    def participants(self, task: str, study: int) -> Iterator[Json]:
        """The workers of a study in the order of their arrival: state, work, time and code."""
        return self.pages(f"/tasks/{task}/studies/{study}/participants", limit=100)

    def decide_participant(
        self, task: str, study: int, participant: int, approve: bool, *, reason: str = "", category: str = "other"
    ) -> Json:
        """Approve or reject a worker who has finished; a rejection needs a reason, which the worker reads."""
        body = {"approve": approve, "reason": reason, "category": category}
        path = f"/tasks/{task}/studies/{study}/participants/{participant}/decision"
        return cast(Json, self.request("POST", path, json=body))

    def consent_text(self, task: str) -> Json:
        """The newest text that workers agree to: `{version, text}`; version 0 is the first draft, not saved yet."""
        return cast(Json, self.request("GET", f"/tasks/{task}/consent"))

    def save_consent_text(self, task: str, text: str) -> Json:
        """Save a new version of the text that workers agree to."""
        return cast(Json, self.request("PUT", f"/tasks/{task}/consent", json={"text": text}))
