"""A study with workers, pay with a payment list, and the quality of annotators."""

import re

from scripts.screenshot_content.demo import Demo, Visit, wait_for_state


def run_study(demo: Demo) -> None:
    """Publish a study, and let workers take part as far as each of them goes."""
    text = demo.admin.consent_text("sentiment")["text"].replace("[CONTACT]", "crowd@example.org")
    demo.admin.save_consent_text("sentiment", text)
    number = demo.admin.task("sentiment")["round"]["number"]
    for name in ("Fool a film critic", "Fool a film critic again"):
        study = demo.admin.draft_study("sentiment", number, name, work={"examples": 1, "votes": 0})
    demo.admin.move_study("sentiment", study["id"], "published")
    place = demo.admin.study("sentiment", study["id"])["entry"].removeprefix(demo.base).partition("?")[0]
    demo.admin.set_pay_scheme("sentiment", number, {"currency": "EUR", "per_example": "0.40"})
    for worker, fate in enumerate(("open", "declined", "early", "done", "done")):
        visit = Visit(demo.base, f"{place}?participantId=W-{worker}")
        consent = re.search(r'name="consent" value="(\d+)"', visit.page)
        if fate == "declined":
            visit.post(f"{place}/decline")
        elif fate != "open" and consent:
            visit.post(f"{place}/consent", consent=consent[1])
            if fate == "done":
                write_example(visit, f"The film was so good that I left after {worker} minutes.")
            visit.post(f"{place}/finish", early="yes" if fate == "early" else "")
    manage = "/tasks/sentiment/manage/studies"
    for part in demo.admin.participants("sentiment", study["id"]):
        if part["state"] == "finished":
            demo.admin.decide_participant("sentiment", study["id"], part["id"], approve=True)
    demo.admin.request("POST", f"/tasks/sentiment/rounds/{number}/pay/booking")
    wait_for_state(lambda: {"state": "done" if any(demo.admin.payments("sentiment", number, "due")) else "queued"})
    demo.admin.decide_payments("sentiment", number, "approve")
    visit = demo.office()
    visit.open(f"{manage}/{study['id']}")
    demo.starts.append(visit.post(f"{manage}/{study['id']}/bonuses"))
    demo.starts += [manage, f"{manage}/{study['id']}", f"{manage}/{study['id'] - 1}/edit", f"{manage}/new"]
    demo.starts.append(f"{place}?participantId=W-9")
    demo.starts += [f"{manage}/{study['id']}/participants/compare"]


def write_example(visit: Visit, text: str) -> None:
    """Write an example of the task "sentiment" as a worker."""
    visit.open("/tasks/sentiment/create")
    context = re.search(r'name="context_id"[^>]*value="([^"]*)"', visit.page)
    assert context
    fields = {"context_id": context[1], "answer.label": "negative", "input.statement": text}
    visit.post("/tasks/sentiment/create", **fields)


def pay_people(demo: Demo) -> None:
    """Set the pay of the open round of NLI, and book what its annotators earned."""
    number = demo.admin.task("nli")["round"]["number"]
    demo.admin.set_pay_scheme("nli", number, {"currency": "EUR", "per_example": "0.40", "per_vote": "0.10"})
    demo.admin.request("POST", f"/tasks/nli/rounds/{number}/pay/booking")
    demo.starts += ["/pay", f"/tasks/nli/manage/payments?round={number}", f"/tasks/nli/manage/rounds/{number}/pay"]


def check_quality(demo: Demo) -> None:
    """Have signals and estimates of quality computed, add controls, and let a banned person appeal."""
    demo.admin.request("POST", "/tasks/nli/signals")
    demo.admin.request("POST", "/tasks/nli/quality")
    demo.admin.request("POST", "/tasks/nli/controls", json={"decided": 20})
    tariq = demo.newcomer("tariq")
    person = tariq.request("GET", "/me")["id"]
    demo.admin.ban("nli", person, "Three copied texts.")
    tariq.request(
        "POST",
        "/me/appeals",
        json={"task": "nli", "kind": "ban", "text": "I wrote them myself and can show drafts."},
    )
    demo.starts += [f"/tasks/nli/{page}" for page in ("appeals", "adjudicate", "manage/quality", "manage/controls")]
    demo.starts += ["/tasks/nli/manage/signals", "/tasks/nli/manage/validators", "/me/decisions"]
