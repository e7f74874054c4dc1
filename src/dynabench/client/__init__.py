"""A client of the JSON API: `with Client("http://127.0.0.1:8000") as client: client.log_in("ada", "...")`.

Answers are the API's JSON as dictionaries and lists; refusals are raised as `ApiError`.
"""

import uuid
from collections.abc import Iterator, Sequence
from typing import Any, cast

from dynabench.client.connection import ApiError, Json, Resending
from dynabench.client.conversations import Talking
from dynabench.client.evaluations import Evaluating
from dynabench.client.measuring import Measuring
from dynabench.client.recruiting import Recruiting
from dynabench.client.submissions import Submitting

__all__ = ["ApiError", "Client", "Json", "Resending"]


class Client(Submitting, Talking, Recruiting, Evaluating, Measuring):
    """One person's (or, without a token, a visitor's) programs' way in. Safe to retry: each example has its key."""

    # accounts

    def register(self, username: str, email: str, password: str) -> Json:
        """Make an account; who registers agrees to the terms and the data's licence."""
        return cast(
            Json, self.request("POST", "/accounts", json={"username": username, "email": email, "password": password})
        )

    def log_in(self, username: str, password: str, scopes: Sequence[str] = ()) -> str:
        """Get a token and use it from now on; without `scopes` it may do all but change the account itself."""
        body: Json = {"username": username, "password": password} | ({"scopes": list(scopes)} if scopes else {})
        self.http.headers.pop("Authorization", None)  # the password counts, not an earlier token
        token = str(self.request("POST", "/tokens", json=body)["token"])
        self.http.headers["Authorization"] = f"Bearer {token}"
        return token

    # tasks and rounds

    def tasks(self) -> list[Json]:
        """All tasks."""
        return list(self.pages("/tasks"))

    def task(self, task: str) -> Json:
        """One task: fields with their options, instructions, open round."""
        return cast(Json, self.request("GET", f"/tasks/{task}"))

    def save_task(self, config: str) -> Json:
        """Create a task from YAML text, or give it a new version."""
        return cast(Json, self.request("POST", "/tasks", json={"config": config}))

    def round(self, task: str, number: int) -> Json:
        """One round."""
        return cast(Json, self.request("GET", f"/tasks/{task}/rounds/{number}"))

    def open_round(
        self, task: str, targets: Sequence[str], ensemble: str = "any", arms: Sequence[Json] = (), assign: str = "item"
    ) -> Json:
        """Open a round against fixed targets.

        `arms`, conditions that are drawn by their shares, are `{"name", "share", "targets", "start", "assistant"}`
        each; `assign` says whether with each `item` or once per `person`. `["none"]` as targets asks nobody.
        """
        body = {"targets": list(targets), "ensemble": ensemble, "arms": list(arms), "assign": assign}
        return cast(Json, self.request("POST", f"/tasks/{task}/rounds", json=body))

    def close_round(self, task: str, number: int) -> Json:
        """Close a round."""
        return cast(Json, self.request("POST", f"/tasks/{task}/rounds/{number}/close"))

    def statistics(self, task: str, number: int) -> Json:
        """Counts and rates of a round, with intervals."""
        return cast(Json, self.request("GET", f"/tasks/{task}/rounds/{number}/statistics"))

    def programs(self, task: str, number: int) -> Json:
        """The programs of a round, best first, and people beside them: `{items, mer, vmer}`."""
        return cast(Json, self.request("GET", f"/tasks/{task}/rounds/{number}/programs"))

    def board(self, task: str, number: int) -> list[Json]:
        """People of a round, best first."""
        return list(self.pages(f"/tasks/{task}/rounds/{number}/board"))

    def upload_contexts(self, task: str, contexts: Sequence[Json]) -> Json:
        """Add contexts, `{"values": {...}, "tag": "..."}` each, in requests of 1,000; row numbers run through."""
        return self._upload(f"/tasks/{task}/contexts", "contexts", contexts)

    def upload_seeds(self, task: str, seeds: Sequence[Json]) -> Json:
        """Add texts to start from, `{"context": {...}, "input": {...}, "answer": {...}, "tag": "..."}` each."""
        return self._upload(f"/tasks/{task}/seeds", "seeds", seeds)

    def seeds_from_round(self, task: str, number: int, verdict: str = "correct") -> int:
        """Make seeds of a round's examples with this verdict; how many are new."""
        body = {"round": number, "verdict": verdict}
        return int(self.request("POST", f"/tasks/{task}/seeds/examples", json=body)["created"])

    def _upload(self, path: str, name: str, rows: Sequence[Json]) -> Json:
        total: Json = {"created": 0, "duplicates": 0, "errors": []}
        for start in range(0, len(rows), 1000):
            part = self.request("POST", path, json={name: list(rows[start : start + 1000])})
            total["created"] += part["created"]
            total["duplicates"] += part["duplicates"]
            total["errors"] += [{**error, "row": error["row"] + start} for error in part["errors"]]
        return total

    # people

    def people(self, task: str) -> list[Json]:
        """Everybody with a role in a task or a ban from it, for its owners and moderators."""
        return list(self.pages(f"/tasks/{task}/people"))

    def set_role(self, task: str, username: str, role: str | None) -> Json:
        """Make a person owner, moderator, expert or annotator of a task; None takes the role away."""
        return cast(Json, self.request("POST", f"/tasks/{task}/roles", json={"username": username, "role": role}))

    def invite(self, task: str, role: str, *, uses: int = 1, days: int = 7, note: str = "") -> Json:
        """A link that gives the person who accepts it a role in a task: `{id, link, secret, ...}`, shown this once."""
        body = {"role": role, "uses": uses, "days": days, "note": note}
        return cast(Json, self.request("POST", f"/tasks/{task}/invitations", json=body))

    def accept_invitation(self, secret: str) -> Json:
        """Accept an invitation by the last part of its link."""
        return cast(Json, self.request("POST", "/invitations/accept", json={"secret": secret}))

    def ban(self, task: str, person: int, reason: str) -> None:
        """Let a person, by their number, neither write nor check for a task any more; they read the reason."""
        self.request("POST", f"/tasks/{task}/bans", json={"person": person, "reason": reason})

    def lift_ban(self, task: str, person: int) -> None:
        """Lift a ban."""
        self.request("DELETE", f"/tasks/{task}/bans/{person}")

    def warn(self, task: str, person: int, text: str) -> None:
        """Show a person a warning on their next pages."""
        self.request("POST", f"/tasks/{task}/warnings", json={"person": person, "text": text})

    def withdraw(self, confirm: str, task: str | None = None, number: int | None = None) -> int:
        """Take back all that you wrote and that is not released, of a task or round where given; how many it was.

        `confirm` is your username; the token needs the scope `account`.
        """
        body = {"confirm": confirm, "task": task, "round": number}
        return int(self.request("POST", "/me/withdrawal", json=body)["withdrawn"])

    # examples

    def next_context(self, task: str) -> Json:
        """Another context: `{id, handout, values, goal, start, arm, initial, made_from, seed, assistant}`."""
        return cast(Json, self.request("POST", f"/tasks/{task}/contexts/next"))

    def perturb(self, task: str, example: int) -> Json:
        """Your own example again, to be edited minimally so that its answer becomes the `goal`; as `next_context`."""
        return cast(Json, self.request("POST", f"/tasks/{task}/contexts/next", json={"perturb": example}))

    def create_example(
        self,
        task: str,
        context_id: int,
        input: Json,
        answer: Json,
        *,
        sandbox: bool = False,
        handout: int | None = None,
        made_from: int | None = None,
        program: Json | None = None,
        suggestion: int | None = None,
        key: str = "",
    ) -> Json:
        """Try to fool the round's targets: `{id, predictions, fooled, edit_distance, attempt, seconds, ...}`.

        `handout` says which time that the context was given is meant (the last), `program` marks what a program wrote:
        `{name, version, queries, cost, facts}`. The same `key` again gives the same answer and no second example.
        """
        body = {"context_id": context_id, "input": input, "answer": answer, "sandbox": sandbox}
        body |= {"handout": handout, "made_from": made_from, "suggestion": suggestion}
        body |= {"program": program} if program else {}
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return cast(Json, self.request("POST", f"/tasks/{task}/examples", json=body, headers=headers))

    def examples(self, task: str, mine: bool = True) -> Iterator[Json]:
        """Your examples of a task (or everybody's, for its owners), newest first."""
        return self.pages(f"/tasks/{task}/examples", mine=mine)

    def example(self, example: int) -> Json:
        """One example with its predictions and its verdict."""
        return cast(Json, self.request("GET", f"/examples/{example}"))

    def explain(self, example: int, values: Json, *, draft: bool = False) -> Json:
        """Say why your example is right and what tricked the model, by the task's `ask` fields.

        A `draft` may lack answers that the task requires: `{id, values, complete, answered, required}`.
        """
        params = {"draft": "true"} if draft else {}
        return cast(Json, self.request("POST", f"/examples/{example}/explanations", json=values, params=params))

    def retract(self, example: int) -> Json:
        """Take your example back."""
        return cast(Json, self.request("POST", f"/examples/{example}/retract"))

    def hide(self, example: int, reason: str = "") -> Json:
        """Hide an example from everybody but its author (owners, moderators)."""
        return cast(Json, self.request("POST", f"/examples/{example}/hide", json={"reason": reason}))

    def restore(self, example: int, reason: str = "") -> Json:
        """Show a hidden example again (owners, moderators)."""
        return cast(Json, self.request("POST", f"/examples/{example}/restore", json={"reason": reason}))

    def attributions(self, example: int, model: str = "", method: str = "") -> Json:
        """Return the words that a target looked at in a stored example."""
        params = {"model": model, "method": method}
        return cast(Json, self.request("GET", f"/examples/{example}/attributions", params=params))

    def draft_attributions(
        self, task: str, context_id: int, input: Json, *, model: str = "", method: str = "", label: str = ""
    ) -> Json:
        """Return the words that a target looks at in a draft."""
        body = {"task": task, "context_id": context_id, "input": input}
        body |= {"model": model, "method": method, "label": label}
        return cast(Json, self.request("POST", "/attributions", json=body))

    # validation

    def own_pay(self) -> list[Json]:
        """Your pay by round, with the time that you worked and your pay per hour."""
        return cast(list[Json], self.request("GET", "/me/pay")["items"])

    def pay(self, task: str, number: int) -> Json:
        """The costs of a round, its budget and a forecast; for owners."""
        return cast(Json, self.request("GET", f"/tasks/{task}/rounds/{number}/pay"))

    def set_pay_scheme(self, task: str, number: int, scheme: Json) -> Json:
        """Set the payment scheme of a round; for owners."""
        path = f"/tasks/{task}/rounds/{number}/pay/scheme"
        return cast(Json, self.request("PUT", path, json={"scheme": scheme}))

    def payments(self, task: str, number: int, state: str = "") -> Iterator[Json]:
        """The ledger of payments of a round, of one state where it is given; for owners."""
        params = {"state": state} if state else {}
        return self.pages(f"/tasks/{task}/rounds/{number}/pay/payments", **params)

    def decide_payments(self, task: str, number: int, act: str, **facts: Any) -> Json:
        """Approve, hold, release, cancel, mark as paid or try again; for owners.

        `facts` are `people`, `payments`, `reason` and `reference`.
        """
        path = f"/tasks/{task}/rounds/{number}/pay/decisions"
        return cast(Json, self.request("POST", path, json={"act": act, **facts}))

    def next_validation(self, task: str) -> Json | None:
        """An example that waits for your vote; None when there is none."""
        return cast("Json | None", self.request("POST", f"/tasks/{task}/validations/next"))

    def validate(self, example: int, **vote: Any) -> Json:
        """Vote (`vote="correct"`) or answer blind (`answer={...}`): `{verdict, votes}`."""
        return cast(Json, self.request("POST", f"/examples/{example}/validations", json=vote))
