"""Annotators who write without pause, by the API and on the page, and remember what was acknowledged."""

import html
import random
import re
import threading
import uuid
from collections import Counter

import httpx2

from dynabench.client import Resending

WORDS = "nobody somebody never always three seven slowly indoors outside sleeps sings before after rain market".split()
FIELDS = {"nli": "hypothesis", "sentiment": "statement"}
PASSWORD = "a long enough passphrase"
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)"(?: id="[^"]*")? value="([^"]*)"')
RECORDED = re.compile(r"/examples/(\d+)/explanation")
SILENT = (
    "Waiting for an answer",
    "No answer",
    "gave no answer",
    "has not answered",
    "is busy",
    "Tell the task's owner",
    "The answer of",
    "answered as",
)


class Annotator(threading.Thread):
    """Writes until told to stop, in turn by API and page, plain form and htmx; sends what was refused again."""

    def __init__(self, base: str, name: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.name, self.stop, self.random = name, stop, random.Random(name)
        self.api = httpx2.Client(base_url=f"{base}/api/v1", timeout=30, transport=Resending())
        self.page = httpx2.Client(base_url=base, timeout=30, trust_env=False)
        self.acknowledged: dict[int, str] = {}
        self.seen: Counter[str] = Counter()
        self.wrong: list[str] = []
        account = {"username": name, "email": f"{name}@example.org", "password": PASSWORD}
        self.api.post("/accounts", json=account).raise_for_status()
        token = self.api.post("/tokens", json={"username": name, "password": PASSWORD}).raise_for_status().json()
        self.api.headers["Authorization"] = f"Bearer {token['token']}"
        login = self.page.get("/login")
        form = {"username": name, "password": PASSWORD, "csrf": hidden(login.text)["csrf"]}
        assert self.page.post("/login", data=form).status_code == 303

    def run(self) -> None:
        """Turn after turn; whatever nobody foresaw is wrong."""
        turn = 0
        while not self.stop.is_set():
            turn += 1
            task = self.random.choice(sorted(FIELDS))
            try:
                (self.by_api if turn % 2 else self.by_page)(task, turn)
            except Exception as error:
                self.wrong.append(f"{type(error).__name__}: {error}"[:300])
                self.stop.wait(0.5)
        self.api.close()
        self.page.close()

    def text(self, turn: int) -> str:
        """Something that nobody has written."""
        return f"{' '.join(self.random.choices(WORDS, k=6))} {self.name} {turn}"

    def by_api(self, task: str, turn: int) -> None:
        """A context and an example on it; 503 is an honest refusal there."""
        values = self.api.post(f"/tasks/{task}/contexts/next")
        if values.status_code == 503:
            return self.refused("API", values)
        context = values.raise_for_status().json()
        answer = context["goal"] or {"label": "negative"}
        body = {"context_id": context["id"], "input": {FIELDS[task]: self.text(turn)}, "answer": answer}
        if context.get("handout"):
            body["handout"] = context["handout"]
        key = str(uuid.uuid4())
        while not self.stop.is_set():
            report = self.api.post(f"/tasks/{task}/examples", json=body, headers={"Idempotency-Key": key})
            if report.status_code != 503:
                self.acknowledged[report.raise_for_status().json()["id"]] = key
                self.seen["API: answered"] += 1
                return None
            self.refused("API", report)
        return None

    def by_page(self, task: str, turn: int) -> None:
        """The create page and its form; the page is there whatever models do."""
        view = self.page.get(f"/tasks/{task}/create")
        if not self.fine(view):
            return
        form = hidden(view.text)
        if "key" not in form:
            self.silent(view.text)
            return
        form |= {f"input.{FIELDS[task]}": self.text(turn), "answer.label": form.get("answer.label", "negative")}
        headers = {"HX-Request": "true"} if turn % 4 else {}
        while not self.stop.is_set():
            answer = self.page.post(f"/tasks/{task}/create", data=form, headers=headers)
            if not self.fine(answer):
                return
            recorded = RECORDED.search(answer.text)
            if recorded:
                self.acknowledged[int(recorded[1])] = form["key"]
                self.seen["page: answered"] += 1
                return
            self.silent(answer.text)
            if not headers and form[f"input.{FIELDS[task]}"] not in html.unescape(answer.text):
                self.wrong.append("the page came back without what was written")
                return

    def fine(self, answer: httpx2.Response) -> bool:
        """Return True if a page has status 200, the only right one."""
        self.seen[f"page: status {answer.status_code}"] += 1
        if answer.status_code != 200:
            self.wrong.append(f"{answer.request.method} {answer.url.path}: {answer.status_code} {answer.text[:200]}")
        return answer.status_code == 200

    def silent(self, text: str) -> None:
        """A page on which no model has answered says so."""
        self.seen["page: told that there is no answer"] += 1
        if not any(phrase in text for phrase in SILENT):
            self.wrong.append(f"a page tells neither an answer nor why there is none: {text[:300]}")
        self.stop.wait(0.2)

    def refused(self, where: str, answer: httpx2.Response) -> None:
        """A 503 says what to do, as a problem document."""
        detail = answer.json().get("detail", "")
        self.seen[f"{where}: 503, {re.sub('[0-9.]+', 'N', detail)[:90]}"] += 1
        if not detail or int(answer.headers["retry-after"]) < 1:
            self.wrong.append(f"a refusal without detail or Retry-After: {answer.text[:200]}")
        self.stop.wait(0.2)


def hidden(page: str) -> dict[str, str]:
    """The hidden fields of a page's create form, or of the page where there is none."""
    begin = page.find('id="create-form"')
    part = page[begin : page.find("</form>", begin)] if begin >= 0 else page
    return {html.unescape(name): html.unescape(value) for name, value in HIDDEN.findall(part)}
