"""A task with an onboarding, a class, teams, a competition, announcements and invitations."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import yaml

from dynabench.client import Client
from scripts.screenshot_content.demo import PASSWORD, Demo

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
LESSON = {
    "id": "lesson",
    "name": "Sentences of the seminar",
    "description": "Write a sentence whose feeling a model reads wrongly.",
    "input": [{"name": "statement", "type": "text", "label": "Your sentence"}],
    "answer": [{"name": "label", "type": "choice", "options": ["positive", "negative", "neutral"]}],
    "onboarding": ONBOARDING,
}


def open_lesson(demo: Demo) -> None:
    """Open a task with an onboarding."""
    demo.admin.save_task(yaml.safe_dump(LESSON, sort_keys=False))
    demo.admin.upload_contexts("lesson", [{"values": {}}])
    demo.admin.open_round("lesson", ["sentiment-ngram"])
    demo.starts += ["/tasks/lesson/onboarding", "/tasks/lesson/onboarding/write", "/tasks/lesson/manage/onboarding"]
    demo.starts += ["/tasks/lesson", "/tasks/lesson/create"]


def gather_people(demo: Demo) -> None:
    """Make a class with students, two teams, and a competition between them."""
    due = (datetime.now(UTC) + timedelta(days=9)).isoformat()
    group = demo.admin.request(
        "POST",
        "/classes",
        json={"name": "Semantics 2", "task": "sentiment", "goals": {"examples": 2}, "due_at": due},
    )
    for name in ("Ada", "Ben", "Chloé", "Darius"):
        httpx2.post(
            f"{demo.base}/api/v1/classes/join",
            json={"code": group["join_code"], "name": name, "agree": True},
            headers={"X-Requested-With": "script"},
        )
    teams = [
        client.request("POST", "/teams", json={"name": name, "about": about})
        for client, name, about in (
            (demo.admin, "Otters", "Four linguists who like puns."),
            (demo.annotator, "Herons", "We write in the evening."),
        )
    ]
    begun = datetime.now(UTC) - timedelta(hours=1)
    contest = demo.admin.request(
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
    for client, team in zip((demo.admin, demo.annotator), teams, strict=True):
        client.request("POST", f"/competitions/{contest['id']}/entries", json={"team": team["id"]})
    link = demo.admin.request("POST", f"/teams/{teams[0]['id']}/link")
    demo.starts.append(f"/teams/join/{link['secret']}")
    demo.starts += [f"/classes/{group['id']}", f"/teams/{teams[0]['id']}", f"/competitions/{contest['id']}"]
    demo.starts += ["/class", "/classes", "/teams", "/competitions", "/tasks/lesson/manage/competitions"]


def tell_people(demo: Demo) -> None:
    """Announce something, invite people, and add webhooks."""
    soon = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
    demo.admin.request("POST", "/tasks/nli/announcements", json={"text": "The round closes on Friday.", "until": soon})
    demo.admin.invite("nli", "annotator", uses=30, days=14, note="Seminar")
    secret = demo.admin.invite("sentiment", "annotator", uses=30, days=14)
    demo.starts.append(f"/join/{secret['secret']}" if "secret" in secret else "/settings")
    with Client(demo.base) as client:
        client.log_in("olga", PASSWORD, ["manage", "account"])
        url = "https://example.org/hook"
        hook = client.request("POST", "/tasks/nli/webhooks", json={"url": url, "events": ["round.opened"]})
        own = client.request("POST", "/me/webhooks", json={"url": url})
    demo.starts += [f"/tasks/nli/manage/webhooks/{hook['id']}", f"/settings/webhooks/{own['id']}"]
