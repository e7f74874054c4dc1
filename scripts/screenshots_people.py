"""The people who write and check examples for the pictures; what they say stands in `screenshots.yaml`."""

import itertools
from pathlib import Path
from typing import Any

import yaml

from dynabench.client import Client

PASSWORD = "correct horse battery"
PEOPLE = ("maren", "tobias", "ines", "kofi", "yuki", "lucia")
SAID: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "screenshots.yaml").read_text(encoding="utf-8"))


def people(base: str) -> dict[str, Client]:
    """Registered people by name, each with a token."""
    created = {}
    for name in (*PEOPLE, "sofia", "olga"):
        created[name] = Client(base)
        created[name].register(name, f"{name}@example.org", PASSWORD)
        created[name].log_in(name, PASSWORD)
    return created


def write_statement(author: Client, said: dict[str, Any]) -> None:
    """Sentiment, on whatever start the author is given."""
    context = author.next_context("sentiment")
    created = author.create_example("sentiment", context["id"], {"statement": said["text"]}, {"label": said["label"]})
    if created["fooled"]:
        author.explain(created["id"], {"why_fooled": "It takes the strongest word at its word."})


def hypotheses(context: dict[str, Any]) -> list[str]:
    """Return hypotheses for a premise under the drawn goal."""
    for beginning, by_goal in SAID["hypotheses"].items():
        if context["values"]["premise"].startswith(beginning):
            return list(by_goal[context["goal"]["label"]])
    return []


def write_hypothesis(author: Client, used: set[int]) -> set[str]:
    """Inference: the author looks for a premise that they have an idea about. What others will find incorrect."""
    for _ in range(60):
        context = author.next_context("nli")
        texts = [] if context["id"] in used else hypotheses(context)
        if not texts:
            continue
        used.add(context["id"])
        for text in texts:
            author.create_example("nli", context["id"], {"hypothesis": text.lstrip("!")}, context["goal"])
        return {text[1:] for text in texts if text.startswith("!")}
    return set()


def write(authors: list[Client]) -> set[str]:
    """Authors take turns on both tasks; the hypotheses that others will find incorrect."""
    wrong, used = set[str](), set[int]()
    for author, text in zip(itertools.cycle(authors), SAID["statements"], strict=False):
        write_statement(author, text)
        wrong |= write_hypothesis(author, used)
    return wrong


def check(validators: list[Client], wrong: set[str]) -> None:
    """Everybody answers some of what waits for them; the last few are left for the picture of the validate page."""
    opinions = {entry["text"]: itertools.cycle(entry.get("others", [entry["label"]])) for entry in SAID["statements"]}
    for validator in validators:
        for _ in range(9):
            if item := validator.next_validation("sentiment"):
                label = next(opinions[item["input"]["statement"]])
                validator.validate(item["example_id"], answer={"label": label})
        for _ in range(4):
            if item := validator.next_validation("nli"):
                bad = item["input"]["hypothesis"] in wrong
                reason = {"reason": "The premise does not say so."} if bad else {}
                validator.validate(item["example_id"], vote="incorrect" if bad else "correct", **reason)


def hand_out(client: Client, task: str, beginning: str, goal: str = "") -> None:
    """Ask for contexts until one begins like this: it is the one that the create page shows."""
    for _ in range(1500):
        context = client.next_context(task)
        if context["values"]["premise"].startswith(beginning) and goal in (context["goal"] or {}).values():
            return
    raise LookupError(beginning)


def ask_questions(author: Client) -> None:
    """Questions on the passages that `screenshots.yaml` knows; the answer is marked where it stands last."""
    remaining = {item["passage"]: item["questions"] for item in SAID["questions"]}
    for _ in range(120):
        context = author.next_context("qa")
        passage = context["values"]["passage"]
        entries = next((beginning for beginning in remaining if passage.startswith(beginning)), None)
        for question, answer in remaining.pop(entries, {}).items() if entries else ():
            start = passage.rindex(answer)
            span = {"start": start, "end": start + len(answer)}
            author.create_example("qa", context["id"], {"question": question}, {"answer": [span]})
        if not remaining:
            return
