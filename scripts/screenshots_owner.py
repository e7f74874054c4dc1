"""The owner's part of `screenshots.py`: a task that has been running for a while, and every section of its console."""

import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import Page, expect
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from dynabench.client import Client
from dynabench.collection.tables import Example
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.rounds.tables import Round
from dynabench.validation.rebuild import rebuild_all
from dynabench.validation.tables import Validation

TASK = "nli"
DAYS = 12
SHEET = (
    "no,Report text,Region\n"
    "1,It rained all night and the river rose.,north\n"
    "2,,north\n"
    "3,The wind took two roofs and a bicycle.,coast\n"
)


def run(owner: Client, people: dict[str, Client]) -> str:
    """Do the work of owners and moderators in two weeks; return the secret of an invitation that is not used yet."""
    owner.set_role(TASK, "ines", "moderator")
    owner.set_role(TASK, "yuki", "expert")
    flag(people["kofi"], 2, "It names a neighbour of mine.")
    flag(people["lucia"], 1, "Copied from a newspaper.")
    waiting = people["ines"].request("GET", f"/tasks/{TASK}/moderation")["items"]
    people["ines"].hide(waiting[0]["example"]["id"], "It names a private person.")
    entries = {item["name"]: item["id"] for item in owner.people(TASK)}
    owner.warn(TASK, entries["yuki"], "Please write whole sentences.")
    owner.invite(TASK, "expert", uses=3, note="Linguists from the institute")
    return str(owner.invite(TASK, "annotator", uses=20, note="Seminar on evaluation, autumn")["secret"])


def flag(validator: Client, times: int, reason: str) -> None:
    """Flag some of what waits."""
    for _ in range(times):
        if item := validator.next_validation(TASK):
            validator.validate(item["example_id"], vote="flagged", reason=reason)


def age(home: Path) -> None:
    """Spread what was written over the last days, in its order, and count again: pictures cannot wait so long."""
    db = Database(Settings(home=home).url)

    def spread(session: Session) -> None:
        rng = random.Random(1)  # the same pictures each time
        source = session.scalars(select(Round).where(Round.task_id == TASK)).one()
        ids = session.scalars(select(Example.id).where(Example.round_id == source.id).order_by(Example.id)).all()
        back = sorted((rng.uniform(0.05, DAYS) for _ in ids), reverse=True)
        for id, days in zip(ids, back, strict=True):
            at = now() - timedelta(days=days)
            seconds = round(rng.lognormvariate(3.8, 0.5), 1)
            session.execute(update(Example).where(Example.id == id).values(at=at, seconds=seconds))
            voted = at + timedelta(days=days * rng.uniform(0.2, 0.9))
            session.execute(update(Validation).where(Validation.example_id == id).values(at=voted))
        source.opened_at = now() - timedelta(days=DAYS + 0.2)

    try:
        db.write(spread)
        rebuild_all(db)
    finally:
        db.close()


def preview(page: Page) -> None:
    """A file of contexts on its way in."""
    page.goto(f"/tasks/{TASK}/manage/contexts")
    file = {"name": "reports.csv", "mimeType": "text/csv", "buffer": SHEET.encode()}
    page.get_by_label("Add contexts from a file").set_input_files(file)
    page.get_by_role("button", name="Preview").click()
    page.get_by_label("Premise").select_option("Report text")
    expect(page.get_by_role("heading", name="1 row would be skipped")).to_be_visible()


def look(page: Page, secret: str, shoot: Callable[[Page, str], None]) -> None:
    """Every section, as the owner."""
    here = f"/tasks/{TASK}/manage"
    sections = (
        "rounds",
        "rounds/1",
        "rounds/1/plan",
        "rounds/1/contexts",
        "contexts",
        "examples",
        "moderation",
        "people",
        "data",
        "config",
        "log",
    )
    addresses = {f"console-{name.replace('/', '-')}": f"{here}/{name}" for name in sections}
    addresses |= {"console-health": here, "console-figures": f"{here}/figures", "invitation": f"/join/{secret}"}
    addresses |= {"console-figures-day": f"{here}/figures?view=day", "withdraw": "/settings/examples"}
    for name, address in addresses.items():
        page.goto(address)
        shoot(page, name)
    page.goto(f"{here}/examples?fooled=true&verdict=correct")
    page.locator(".found-head a").first.click()
    expect(page.locator("token-strip .strip").first).to_be_visible()
    shoot(page, "console-example")
    preview(page)
    shoot(page, "console-preview")
