"""People who write and check examples without pause, and remember what was acknowledged."""

import itertools
import random
import threading
import uuid
from typing import Any

import httpx2

WORDS = "nobody somebody never always three seven slowly indoors outside sleeps sings before after rain market".split()


class Annotator(threading.Thread):
    """Posts examples until told to stop; a request without an answer is retried with the same key, as the page does."""

    def __init__(self, base: str, name: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.http = httpx2.Client(base_url=f"{base}/api/v1", timeout=10)
        self.stop = stop
        self.random = random.Random(name)
        self.acknowledged: dict[int, str] = {}
        self.failure: Exception | None = None
        self.answered = threading.Event()
        account = {"username": name, "email": f"{name}@example.org", "password": "a long enough passphrase"}
        assert self.http.post("/accounts", json=account).status_code == 201
        token = self.http.post("/tokens", json={"username": name, "password": account["password"]}).json()["token"]
        self.http.headers["Authorization"] = f"Bearer {token}"

    def until_answered(self, path: str, **how) -> httpx2.Response | None:
        """The first answer that is not a failure of the platform; None when stopped meanwhile."""
        while True:
            try:
                answer = self.http.post(path, **how)
                if answer.status_code < 500:
                    return answer
            except httpx2.TransportError:
                pass
            if self.stop.wait(0.05):
                return None

    def run(self) -> None:
        try:
            for turn in itertools.count():
                if self.stop.is_set():
                    return
                self.turn(turn)
        except Exception as error:
            self.failure = error

    def turn(self, turn: int) -> None:
        """One context and one example on it."""
        context = self.until_answered("/tasks/nli/contexts/next")
        if context is None:
            return
        assert context.status_code == 200, context.text
        document = context.json()
        hypothesis = f"{' '.join(self.random.choices(WORDS, k=6))} {turn}"
        body = {
            "context_id": document["id"],
            "input": {"hypothesis": hypothesis},
            "answer": document["goal"],
            "sandbox": False,
        }
        key = str(uuid.uuid4())
        answer = self.until_answered("/tasks/nli/examples", json=body, headers={"Idempotency-Key": key})
        if answer is None:
            return
        assert answer.status_code == 201, answer.text
        self.acknowledged[answer.json()["id"]] = key
        self.answered.set()


class Validator(Annotator):
    """Votes on what others wrote."""

    def turn(self, turn: int) -> None:
        """One vote, if there is one to give. Repeated after a lost answer it is refused: it counted."""
        item = self.until_answered("/tasks/nli/validations/next")
        if item is None or item.status_code == 204:
            self.stop.wait(0.05)
            return
        assert item.status_code == 200, item.text
        example = item.json()["example_id"]
        ballot: dict[str, Any] = {"vote": self.random.choice(["correct", "correct", "incorrect"])}
        if item.json()["mode"] == "answer":
            ballot = {"answer": {"label": self.random.choice(["entailment", "neutral", "contradiction"])}}
        answer = self.until_answered(f"/examples/{example}/validations", json=ballot)
        if answer is None:
            return
        assert answer.status_code in (201, 409), answer.text
        if answer.status_code == 201:
            self.acknowledged[example] = answer.json()["vote"]
            self.answered.set()
