"""Examples, conversations, files of rows, archives, and a turn of the cycle."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.talker import Talker, Voice, folder
from dynabench.client import Client
from dynabench.tasks.shipped import shipped_conversations
from scripts.screenshot_content.demo import BLAME, PASSWORD, PRAISE, ROWS, Demo, reviews, wait_for_state
from scripts.screenshot_content.people import LESSON

VOICES = {
    "north": "Put it in the brightest window, and water it only when the soil is dry.",
    "south": "Basil wants eighteen degrees and light; a lamp for plants helps.",
}
"""Words of two models that chat."""


@contextmanager
def voices(models: Path) -> Iterator[None]:
    """Serve two models that chat, whose folders are in `models`, while the block runs."""
    talker = Talker(**{name: Voice(words.split()) for name, words in VOICES.items()})
    for name in VOICES:
        folder(models, name, talker.url, name)
    yield
    talker.stop()


def talk(demo: Demo) -> None:
    """Open a task of conversations with two voices, and talk with them as two people."""
    [shipped] = [task for task in shipped_conversations() if task.config.id == "chat-preference"]
    demo.admin.save_task(shipped.source)
    demo.admin.upload_contexts("chat-preference", [{"values": {"topic": "Growing herbs at a window"}}])
    demo.admin.open_round("chat-preference", list(VOICES))
    for client in (demo.annotator, demo.admin):
        context = client.next_context("chat-preference")
        talk = client.begin_conversation("chat-preference", context["handout"])
        client.say(talk["id"], "How do I keep basil alive in winter?")
    demo.starts += ["/tasks/chat-preference", "/tasks/chat-preference/preferences", "/tasks/chat-preference/create"]


def report_harms(demo: Demo) -> None:
    """Open a task of red teams, and report what a reply of one voice did."""
    [shipped] = [task for task in shipped_conversations() if task.config.id == "red-team-chat"]
    config = {name: value for name, value in yaml.safe_load(shipped.source).items() if name != "content_warning"}
    demo.admin.save_task(yaml.safe_dump(config, sort_keys=False))
    demo.admin.upload_contexts("red-team-chat", [{"values": {"category": "A claim that endangers health"}}])
    demo.admin.open_round("red-team-chat", ["north"])
    for harm, severity in (("misinformation", "low"), ("none", "none")):
        context = demo.annotator.next_context("red-team-chat")
        talk = demo.annotator.begin_conversation("red-team-chat", context["handout"])
        demo.annotator.say(talk["id"], "Do plants in the bedroom take away the air?")
        answer = {"harm": harm, "severity": severity}
        demo.annotator.create_example("red-team-chat", context["id"], {"conversation": talk["id"]}, answer)
    demo.starts += ["/tasks/red-team-chat/harms"]


def turn_cycle(demo: Demo) -> None:
    """Turn the cycle of a task, with a model of n-grams as the only candidate."""
    plan = {"candidates": [{"name": "ngram", "method": "ngram"}], "anyway": True}
    turn = demo.admin.request("POST", "/tasks/hate/turns", json={"plan": plan})
    wait_for_state(lambda: demo.admin.request("GET", f"/tasks/hate/turns/{turn['id']}"))
    demo.starts += [f"/tasks/hate/manage/cycle/{turn['id']}", "/tasks/hate/manage/cycle"]


def write_examples(demo: Demo) -> None:
    """Write examples as the annotator, check some as another person, and hide one as the owner."""
    checker = demo.newcomer("marta")
    for task, field, texts in (
        ("sentiment", "statement", (*PRAISE, *BLAME)),
        ("nli", "hypothesis", ("Nobody was there.", "It happened, and people saw it.")),
    ):
        for text in texts:
            context = demo.annotator.next_context(task)
            answer = context["goal"] or {"label": "positive" if text in PRAISE else "negative"}
            demo.annotator.create_example(task, context["id"], {field: text}, answer)
        for _ in range(3):
            if waiting := checker.next_validation(task):
                blind = waiting["mode"] == "answer"
                checker.validate(waiting["example_id"], **({"answer": answer} if blind else {"vote": "correct"}))
    [example, *_] = demo.annotator.examples("sentiment")
    demo.admin.hide(example["id"], "The text repeats another one.")


def send_files(demo: Demo) -> None:
    """Send files whose columns an owner still has to name, a proposal, and an archive to make."""
    proposal = {"config": yaml.safe_dump(LESSON | {"id": "irony", "name": "Irony"}), "note": "For a seminar."}
    with Client(demo.base) as client:
        client.log_in("sofia", PASSWORD, ["read", "annotate", "manage"])
        client.request("POST", "/proposals", json=proposal)
    demo.starts += ["/proposals", "/admin/proposals/1", "/tasks/new", "/archives", "/tasks/nli/manage/archives"]
    job = demo.admin.request("POST", "/tasks/sentiment/archives", json={"examples": True})
    demo.starts.append(f"/tasks/sentiment/manage/archives/{job['id']}")
    wait_for_state(lambda: demo.admin.request("GET", f"/archives/{job['id']}"))
    archive = demo.admin.download(f"/archives/{job['id']}/file")
    new_task = demo.admin.request("POST", "/archives", params={"id": "sentiment-again"}, content=archive)
    demo.starts.append(f"/archives/{new_task['id']}")
    contexts = b"text\nIt rains in the valley.\n"
    office = demo.office()
    demo.starts.append(office.post("/tasks/nli/manage/contexts/files", files={"file": ("contexts.csv", contexts)}))
    how: dict[str, Any] = {"params": {"name": "c.csv"}, "content": contexts}
    sent = demo.admin.request("POST", "/tasks/nli/contexts/files", **how)
    demo.starts.append(f"/tasks/nli/manage/contexts/imports/{sent['id']}")
    for kind, page in (("imports", "manage/data"), ("datasets", "datasets")):
        how = {"params": {"name": "films.csv"}, "content": reviews(ROWS)}
        sent = demo.admin.request("POST", f"/tasks/sentiment/{kind}/files", **how)
        demo.starts.append(f"/tasks/sentiment/{page}/files/{sent['file']}")
    rows = b"prompt,review,sentiment\n" + b"".join(b"A film,%s,positive\n" % text.encode() for text in PRAISE)
    how = {"params": {"name": "reviews.csv"}, "content": rows + b"A film,A row without a label,\n"}
    sent = demo.admin.request("POST", "/tasks/sentiment/imports/files", **how)
    fields = {"context.prompt": "prompt", "input.statement": "review", "answer.label": "sentiment"}
    plan = {"file": sent["file"], "mapping": {"fields": fields}}
    started = demo.admin.request("POST", "/tasks/sentiment/imports", json=plan)
    demo.starts.append(f"/tasks/sentiment/manage/data/imports/{started['id']}")
    how["content"] = reviews(40) + b"\nA row without a label,,1\n"
    sent = demo.admin.request("POST", "/tasks/sentiment/datasets/files", **how)
    layout = {"fields": {"statement": "review", "answer.label": "sentiment"}}
    dataset = {"file": sent["file"], "name": "films", "tolerance": "any", "visibility": "public", "layout": layout}
    demo.admin.request("POST", "/tasks/sentiment/datasets", json=dataset)
    demo.starts += ["/tasks/sentiment/datasets/films", "/tasks/sentiment/datasets/films/versions/1/refused"]
