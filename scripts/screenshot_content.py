"""Fill a demo with what its history lacks, for screenshots: repositories, evaluations, a study, classes and the like.

All of it is made through the client, the API and the forms, as people make it. `STARTS` are addresses that no link of a
page leads to.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import yaml
from huggingface_hub import CommitOperationAdd, HfApi

from benchmarks.talker import Talker, Voice, folder
from dynabench.client import ApiError, Client
from dynabench.tasks.shipped import shipped_conversations

PASSWORD = "correct horse battery"
ROWS = 240
PRAISE = ("a warm, funny and wonderful film that I loved", "the queue was long, and I would stand in it again")
BLAME = ("a dull, boring and terrible film that I hated", "a great gift for a person whom you do not like")
CARD = """---
license: cc-by-4.0
tags: [sentiment, films]
configs:
- config_name: films
  data_files: [{split: train, path: train.csv}, {split: test, path: test.csv}]
task_categories: [text-classification]
---
# Films

Short reviews of films with a label each. People wrote them on this platform, and two others checked each of them.
"""
MODEL_CARD = """---
license: mit
pipeline_tag: text-classification
tags: [sentiment]
---
# Sentiment n-grams

A linear model over character n-grams. It is small and quick, and negation fools it.
"""
ONBOARDING: dict[str, Any] = {
    "valid_days": 90,
    "screening": [
        {
            "name": "english",
            "question": "How well do you read English?",
            "options": ["Well", "A little", "Not at all"],
            "accept": ["Well"],
        }
    ],
    "examples": [
        {
            "good": True,
            "input": {"statement": "I could not put it down, and neither could my mother."},
            "answer": {"label": "positive"},
            "explanation": "Each word alone sounds bad, and the meaning is praise.",
        }
    ],
    "practice": [
        {
            "input": {"statement": "If you enjoy queueing, you will love this museum."},
            "answer": {"label": "negative"},
            "explanation": "Few people enjoy queueing.",
        }
    ],
    "questions": [
        {
            "name": "tricks",
            "question": "A typing error fools the model. Is that a good example?",
            "options": ["Yes", "No, the text has to be plain"],
            "right": "No, the text has to be plain",
            "explanation": "Another person has to read it without effort.",
        }
    ],
    "drawn": 1,
    "pass_mark": 1,
    "attempts": 3,
}
VOICES = {
    "north": "Put it in the brightest window, and water it only when the soil is dry.",
    "south": "Basil wants eighteen degrees and light; a lamp for plants helps.",
}
"""Words of two models that chat."""
LESSON = {
    "id": "lesson",
    "name": "Sentences of the seminar",
    "description": "Write a sentence whose feeling a model reads wrongly.",
    "input": [{"name": "statement", "type": "text", "label": "Your sentence"}],
    "answer": [{"name": "label", "type": "choice", "options": ["positive", "negative", "neutral"]}],
    "onboarding": ONBOARDING,
}


class Visit:
    """A visit without scripts: cookies, and forms with the token of their page."""

    def __init__(self, base: str, entry: str) -> None:
        self.http = httpx2.Client(base_url=base, follow_redirects=True, timeout=60)
        self.page = self.http.get(entry).text

    def post(self, path: str, files: Any = None, **fields: str) -> str:
        """Send a form of the page; the address that it led to."""
        token = re.search(r'name="csrf-token" content="([^"]+)"', self.page)
        assert token, path
        answer = self.http.post(path, data=fields | {"csrf": token[1]}, files=files)
        self.page = answer.text
        return answer.url.raw_path.decode()


def reviews(rows: int, start: int = 0) -> bytes:
    """A CSV of reviews."""
    lines = ["review,sentiment,stars"]
    for n in range(start, start + rows):
        texts, label = (BLAME, "negative") if n % 3 == 0 else (PRAISE, "positive")
        lines.append(f'"{texts[n % 2]}, scene {n}",{label},{n % 5}')
    return "\n".join(lines).encode()


def wait_for_state(read: Callable[[], dict[str, Any]], states: Sequence[str] = ("done", "failed")) -> dict[str, Any]:
    """Read until the state is one of those; raises TimeoutError after four minutes."""
    begun = time.monotonic()
    while time.monotonic() - begun < 240:
        facts = read()
        if facts["state"] in states:
            return facts
        time.sleep(0.5)
    raise TimeoutError(str(facts))


class Filler:
    """The people who fill the platform at `base`: an administrator, an annotator, and others who come when needed."""

    def __init__(self, base: str, home: Path, admin: Client, annotator: Client) -> None:
        self.base, self.home, self.admin, self.annotator = base, home, admin, annotator
        self.starts: list[str] = []
        """Addresses of what was made, for the administrator's crawl."""

    def newcomer(self, name: str) -> Client:
        """Register an account and return its client."""
        client = Client(self.base)
        client.register(name, f"{name}@example.org", PASSWORD)
        client.log_in(name, PASSWORD)
        return client

    def office(self) -> Visit:
        """Log the administrator in on a page."""
        visit = Visit(self.base, "/login")
        visit.post("/login", username="olga", password=PASSWORD)
        return visit

    def fill(self) -> None:
        """Make everything."""
        for part in (
            self.talk,
            self.write_examples,
            self.add_repositories,
            self.publish_module,
            self.evaluate_openly,
            self.measure_data,
            self.open_lesson,
            self.gather_people,
            self.run_study,
            self.pay_people,
            self.check_quality,
            self.save_boards,
            self.send_files,
            self.tell_people,
        ):
            print(f"{part.__name__} …", flush=True)
            part()

    def talk(self) -> None:
        """Open a task of conversations with two voices, and prefer a reply."""
        [shipped] = [task for task in shipped_conversations() if task.config.id == "chat-preference"]
        self.admin.save_task(shipped.source)
        self.admin.upload_contexts("chat-preference", [{"values": {"topic": "Growing herbs at a window"}}])
        self.admin.open_round("chat-preference", list(VOICES))
        context = self.annotator.next_context("chat-preference")
        talk = self.annotator.begin_conversation("chat-preference", context["handout"])
        self.annotator.say(talk["id"], "How do I keep basil alive in winter?")
        self.starts += ["/tasks/chat-preference", "/tasks/chat-preference/preferences", "/tasks/chat-preference/create"]

    def write_examples(self) -> None:
        """Write examples as the annotator, check some as another person, and hide one as the owner."""
        checker = self.newcomer("marta")
        for task, field, texts in (
            ("sentiment", "statement", (*PRAISE, *BLAME)),
            ("nli", "hypothesis", ("Nobody was there.", "It happened, and people saw it.")),
        ):
            for text in texts:
                context = self.annotator.next_context(task)
                answer = context["goal"] or {"label": "positive" if text in PRAISE else "negative"}
                self.annotator.create_example(task, context["id"], {field: text}, answer)
            for _ in range(3):
                if waiting := checker.next_validation(task):
                    blind = waiting["mode"] == "answer"
                    checker.validate(waiting["example_id"], **({"answer": answer} if blind else {"vote": "correct"}))
        [example, *_] = self.annotator.examples("sentiment")
        self.admin.hide(example["id"], "The text repeats another one.")

    def add_repositories(self) -> None:
        """Add a dataset and a model with commits, a pull request, a discussion and a tag."""
        hub = HfApi(f"{self.base}/api/hub", token=self.annotator.log_in("sofia", PASSWORD))
        data = hub.create_repo("films", repo_type="dataset").repo_id
        for path, content in {"README.md": CARD.encode(), "train.csv": reviews(60), "test.csv": reviews(ROWS)}.items():
            hub.upload_file(path_or_fileobj=content, path_in_repo=path, repo_id=data, repo_type="dataset")
        model = hub.create_repo("sentiment-ngram").repo_id
        hub.upload_file(path_or_fileobj=MODEL_CARD.encode(), path_in_repo="README.md", repo_id=model)
        config = b'{\n  "model_type": "ngram",\n  "labels": ["negative", "positive"],\n  "n": 4\n}\n'
        hub.upload_file(path_or_fileobj=config, path_in_repo="config.json", repo_id=model, commit_message="Add config")
        hub.upload_file(path_or_fileobj=bytes(range(256)) * 4096, path_in_repo="weights.bin", repo_id=model)
        hub.create_tag(model, tag="v1.0", tag_message="First release")
        olga = HfApi(f"{self.base}/api/hub", token=self.admin.log_in("olga", PASSWORD))
        changed = (
            MODEL_CARD.replace("negation fools it", "negation and irony fool it") + "\n## Limits\n\nEnglish only.\n"
        )
        olga.create_commit(
            model,
            [
                CommitOperationAdd("README.md", changed.encode()),
                CommitOperationAdd("config.json", config.replace(b"4", b"5")),
            ],
            commit_message="Say what fools the model",
            create_pr=True,
        )
        olga.create_discussion(model, title="Which n-grams?", description="Are they of words or of characters?")
        self.starts += [f"/hub/datasets/{data}", f"/hub/models/{model}", f"/hub/models/{model}/discussions/1"]
        self.starts += [f"/hub/models/{model}/commits", f"/hub/models/{model}/files", "/hub/new", "/hub/flags"]
        self.starts += [f"/hub/datasets/{data}/files/main/test.csv"]

    def publish_module(self) -> None:
        """Publish an evaluation module with the command, and flag the model."""
        folder = self.home / "module"
        folder.mkdir()
        with Client(self.base) as client:
            token = client.log_in("sofia", PASSWORD, ["read", "annotate"])
        variables = {"HF_ENDPOINT": f"{self.base}/api/hub", "HF_TOKEN": token, "HF_HOME": str(folder)}
        run_module(folder, variables, "new", "agreement")
        run_module(folder, variables, "publish", "agreement", "sofia/agreement")
        self.starts += ["/hub?kind=spaces", "/hub/spaces/sofia/agreement", "/hub/spaces/sofia/agreement/compute"]
        self.starts += ["/hub/models/sofia/sentiment-ngram/flag"]

    def evaluate_openly(self) -> None:
        """Evaluate two models on an uploaded file, and wait for their board."""
        path = self.home / "films.csv"
        path.write_bytes(reviews(ROWS))
        dataset = self.admin.upload_rows(str(path))
        evaluation = self.admin.evaluate_openly(dataset, ["sentiment-ngram", "sentiment-minilm"])
        wait_for_state(lambda: self.admin.open_evaluation(evaluation["id"]))
        with suppress(ApiError):
            self.admin.request("POST", f"/open-evaluations/{evaluation['id']}/cards")
        self.starts += [f"/open-evaluations/{evaluation['id']}", f"/open-evaluations/new?dataset={dataset}"]
        self.starts += ["/open-evaluations/new?dataset=dataset%3Asentiment%2Fround-1", "/open-evaluations"]

    def measure_data(self) -> None:
        """Measure a file of rows, and the rows of a released round."""
        source = self.admin.upload_data(str(self.home / "films.csv"))
        for data in (source, "dataset:sentiment/round-1"):
            report = self.admin.measure_data(data)
            wait_for_state(lambda id=report["id"]: self.admin.data_report(id))
            self.starts.insert(0, f"/data-reports/{report['id']}")
        self.starts.append("/data-reports")

    def open_lesson(self) -> None:
        """Open a task with an onboarding."""
        self.admin.save_task(yaml.safe_dump(LESSON, sort_keys=False))
        self.admin.upload_contexts("lesson", [{"values": {}}])
        self.admin.open_round("lesson", ["sentiment-ngram"])
        self.starts += ["/tasks/lesson/onboarding", "/tasks/lesson/onboarding/write", "/tasks/lesson/manage/onboarding"]
        self.starts += ["/tasks/lesson", "/tasks/lesson/create"]

    def gather_people(self) -> None:
        """Make a class with students, two teams, and a competition between them."""
        due = (datetime.now(UTC) + timedelta(days=9)).isoformat()
        group = self.admin.request(
            "POST",
            "/classes",
            json={"name": "Semantics 2", "task": "sentiment", "goals": {"examples": 2}, "due_at": due},
        )
        for name in ("Ada", "Ben", "Chloé", "Darius"):
            httpx2.post(
                f"{self.base}/api/v1/classes/join",
                json={"code": group["join_code"], "name": name, "agree": True},
                headers={"X-Requested-With": "script"},
            )
        teams = [
            client.request("POST", "/teams", json={"name": name, "about": about})
            for client, name, about in (
                (self.admin, "Otters", "Four linguists who like puns."),
                (self.annotator, "Herons", "We write in the evening."),
            )
        ]
        begun = datetime.now(UTC) - timedelta(hours=1)
        contest = self.admin.request(
            "POST",
            "/tasks/lesson/competitions",
            json={
                "name": "Sentence cup",
                "round": 1,
                "rules": "Each team writes 20 examples.",
                "budget": 20,
                "starts_at": begun.isoformat(),
                "ends_at": (begun + timedelta(days=7)).isoformat(),
            },
        )
        for client, team in zip((self.admin, self.annotator), teams, strict=True):
            client.request("POST", f"/competitions/{contest['id']}/entries", json={"team": team["id"]})
        link = self.admin.request("POST", f"/teams/{teams[0]['id']}/link")
        self.starts.append(f"/teams/join/{link['secret']}")
        self.starts += [f"/classes/{group['id']}", f"/teams/{teams[0]['id']}", f"/competitions/{contest['id']}"]
        self.starts += ["/class", "/classes", "/teams", "/competitions", "/tasks/lesson/manage/competitions"]

    def run_study(self) -> None:
        """Publish a study, and let workers take part as far as each of them goes."""
        text = self.admin.consent_text("sentiment")["text"].replace("[CONTACT]", "crowd@example.org")
        self.admin.save_consent_text("sentiment", text)
        number = self.admin.task("sentiment")["round"]["number"]
        for name in ("Fool a film critic", "Fool a film critic again"):
            study = self.admin.draft_study("sentiment", number, name, work={"examples": 1, "votes": 0})
        self.admin.move_study("sentiment", study["id"], "published")
        place = self.admin.study("sentiment", study["id"])["entry"].removeprefix(self.base).partition("?")[0]
        for worker, fate in enumerate(("open", "declined", "early", "early")):
            visit = Visit(self.base, f"{place}?participantId=W-{worker}")
            consent = re.search(r'name="consent" value="(\d+)"', visit.page)
            if fate == "declined":
                visit.post(f"{place}/decline")
            elif fate == "early" and consent:
                visit.post(f"{place}/consent", consent=consent[1])
                visit.post(f"{place}/finish", early="yes")
        manage = "/tasks/sentiment/manage/studies"
        for part in self.admin.participants("sentiment", study["id"]):
            if part["state"] == "finished":
                self.admin.decide_participant("sentiment", study["id"], part["id"], approve=True)
        self.starts.append(self.office().post(f"{manage}/{study['id']}/bonuses"))
        self.starts += [manage, f"{manage}/{study['id']}", f"{manage}/{study['id'] - 1}/edit", f"{manage}/new"]
        self.starts.append(f"{place}?participantId=W-9")
        self.starts += [f"{manage}/{study['id']}/participants/compare"]

    def pay_people(self) -> None:
        """Set the pay of the open round of NLI, and book what its annotators earned."""
        number = self.admin.task("nli")["round"]["number"]
        self.admin.set_pay_scheme("nli", number, {"currency": "EUR", "per_example": "0.40", "per_vote": "0.10"})
        self.admin.request("POST", f"/tasks/nli/rounds/{number}/pay/booking")
        self.starts += ["/pay", f"/tasks/nli/manage/payments?round={number}", f"/tasks/nli/manage/rounds/{number}/pay"]

    def check_quality(self) -> None:
        """Have signals and estimates of quality computed, add controls, and let a banned person appeal."""
        self.admin.request("POST", "/tasks/nli/signals")
        self.admin.request("POST", "/tasks/nli/quality")
        self.admin.request("POST", "/tasks/nli/controls", json={"decided": 20})
        tariq = self.newcomer("tariq")
        person = tariq.request("GET", "/me")["id"]
        self.admin.ban("nli", person, "Three copied texts.")
        tariq.request(
            "POST",
            "/me/appeals",
            json={"task": "nli", "kind": "ban", "text": "I wrote them myself and can show drafts."},
        )
        self.starts += [f"/tasks/nli/{page}" for page in ("appeals", "adjudicate", "manage/quality", "manage/controls")]
        self.starts += ["/tasks/nli/manage/signals", "/tasks/nli/manage/validators", "/me/decisions"]

    def save_boards(self) -> None:
        """Take a snapshot of a leaderboard and save one's own."""
        shot = self.admin.request("POST", "/tasks/nli/snapshots", json={"title": "Before the summer"})
        fork = self.admin.request("POST", "/tasks/nli/forks", json={"title": "Accuracy alone"})
        report = [{"datasets": [{"dataset": "Round 1", "sota": {"rows": [
            {"model_name": "RoBERTa-large", "metrics": {"Accuracy": "88.1"}}]}}]}]  # fmt: skip
        self.admin.request(
            "POST", "/tasks/nli/reported", json={"source": "https://example.org/tables", "document": report}
        )
        self.admin.request("POST", "/tasks/nli/datasets/round-1/twins", json={"axis": "robustness"})
        self.starts += [f"/snapshots/{shot['slug']}", f"/forks/{fork['slug']}", "/tasks/nli/reported"]
        self.starts += [
            "/tasks/nli/datasets/round-1/twins",
            "/tasks/nli/datasets/round-1/best",
            "/models/nli-minilm/scores",
        ]

    def send_files(self) -> None:
        """Send files whose columns an owner still has to name, a proposal, and an archive to make."""
        proposal = {"config": yaml.safe_dump(LESSON | {"id": "irony", "name": "Irony"}), "note": "For a seminar."}
        with Client(self.base) as client:
            client.log_in("sofia", PASSWORD, ["read", "annotate", "manage"])
            client.request("POST", "/proposals", json=proposal)
        self.starts += ["/proposals", "/admin/proposals/1", "/tasks/new", "/archives", "/tasks/nli/manage/archives"]
        job = self.admin.request("POST", "/tasks/sentiment/archives", json={"examples": True})
        self.starts.append(f"/tasks/sentiment/manage/archives/{job['id']}")
        wait_for_state(lambda: self.admin.request("GET", f"/archives/{job['id']}"))
        contexts = b"text\nIt rains in the valley.\n"
        office = self.office()
        self.starts.append(office.post("/tasks/nli/manage/contexts/files", files={"file": ("contexts.csv", contexts)}))
        how: dict[str, Any] = {"params": {"name": "c.csv"}, "content": contexts}
        sent = self.admin.request("POST", "/tasks/nli/contexts/files", **how)
        self.starts.append(f"/tasks/nli/manage/contexts/imports/{sent['id']}")
        for kind, page in (("imports", "manage/data"), ("datasets", "datasets")):
            how = {"params": {"name": "films.csv"}, "content": reviews(ROWS)}
            sent = self.admin.request("POST", f"/tasks/sentiment/{kind}/files", **how)
            self.starts.append(f"/tasks/sentiment/{page}/files/{sent['file']}")
        how["content"] = reviews(40) + b"\nA row without a label,,1\n"
        sent = self.admin.request("POST", "/tasks/sentiment/datasets/files", **how)
        layout = {"fields": {"statement": "review", "answer.label": "sentiment"}}
        dataset = {"file": sent["file"], "name": "films", "tolerance": "any", "visibility": "public", "layout": layout}
        self.admin.request("POST", "/tasks/sentiment/datasets", json=dataset)
        self.starts += ["/tasks/sentiment/datasets/films", "/tasks/sentiment/datasets/films/versions/1/refused"]

    def tell_people(self) -> None:
        """Announce something, invite people, and add webhooks."""
        soon = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
        self.admin.request(
            "POST", "/tasks/nli/announcements", json={"text": "The round closes on Friday.", "until": soon}
        )
        self.admin.invite("nli", "annotator", uses=30, days=14, note="Seminar")
        secret = self.admin.invite("sentiment", "annotator", uses=30, days=14)
        self.starts.append(f"/join/{secret['secret']}" if "secret" in secret else "/settings")
        for path in ("/tasks/nli/webhooks", "/me/webhooks"):
            with suppress(ApiError):
                self.admin.request("POST", path, json={"url": "https://example.org/hook"})


@contextmanager
def voices(models: Path) -> Iterator[None]:
    """Serve two models that chat, whose folders are in `models`, while the block runs."""
    talker = Talker(**{name: Voice(words.split()) for name, words in VOICES.items()})
    for name in VOICES:
        folder(models, name, talker.url, name)
    yield
    talker.stop()


def account_pages() -> Iterator[str]:
    """Yield pages of accounts that no link of a page leads to."""
    yield from ("/settings/webhooks/1", "/settings/security", "/settings/privacy", "/settings/delete")
    yield from ("/settings/examples", "/settings/credit", "/settings/notifications", "/settings/second-factor")
    yield from (
        "/tasks/nli/manage/webhooks/1",
        "/tasks/new/older",
        "/search?q=nli",
        "/docs",
        "/docs/api",
        "/logged-out",
    )


def run_module(folder: Path, variables: dict[str, str], *arguments: str) -> None:
    """Run `dynabench module` in a folder."""
    command = [sys.executable, "-m", "dynabench", "module", *arguments]
    subprocess.run(command, cwd=folder, env=os.environ | variables, check=True, capture_output=True)
