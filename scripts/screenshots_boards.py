"""Pictures of what evaluation made: boards and the views around them, datasets, submissions."""

import csv
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from benchmarks.running import operate
from dynabench.client import Client
from scripts.screenshots_people import SAID

TASK = "/tasks/sentiment"
WITHIN = 300  # seconds until all models are scored
ROWS = 3
PAGES = (
    ("leaderboard", f"{TASK}/leaderboard"),
    ("matrix", f"{TASK}/matrix"),
    ("pareto", f"{TASK}/pareto"),
    ("transfer", f"{TASK}/transfer"),
    ("datasets", "/datasets"),
    ("task-datasets", f"{TASK}/datasets"),
    ("dataset", f"{TASK}/datasets/sentiment-phenomena"),
    ("twins", f"{TASK}/datasets/sentiment-phenomena/twins"),
    ("submit", f"{TASK}/submit?kind=archive"),
    ("model-scores", "/models/sentiment-minilm/scores"),
    ("evaluation", "/evaluations/1"),
    ("reported", f"{TASK}/reported"),
)


def enter(home: Path, sofia: Client) -> None:
    """A second dataset, and a third model: the handler that `dynabench model new` writes."""
    with (home / "one-liners.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [(item["text"], item["label"]) for item in SAID["statements"]]
        csv.writer(file).writerows([("statement", "label"), *rows])
    operate(home, "dataset", "add", "sentiment", "one-liners", str(home / "one-liners.csv"), "--visibility", "public")
    operate(home, "model", "new", "word-list", "--task", "sentiment", "--into", str(home))
    operate(home, "model", "pack", str(home / "word-list"), "--output", str(home / "word-list.zip"))
    sofia.submit("sentiment", "archive", "word-list", file=str(home / "word-list.zip"), licence="CC0-1.0")


def look(page: Page, shoot: Callable[[Page, str], None]) -> None:
    """As somebody who is logged in, once the models are scored."""
    for _ in range(WITHIN // 3):
        page.goto(f"{TASK}/leaderboard")
        if page.locator('.lb-table tbody tr [data-c="score"]').filter(has_text=".").count() >= ROWS:
            break
        page.wait_for_timeout(3000)
    while page.locator(".notice").count():
        remaining = page.locator(".notice").count()
        page.get_by_role("button", name="Dismiss").first.click()
        expect(page.locator(".notice")).to_have_count(remaining - 1)
    for name, path in PAGES:
        page.goto(path)
        shoot(page, name)
    page.goto(f"{TASK}/compare")
    page.get_by_label("First model").select_option(label="sentiment-minilm")
    page.get_by_label("Second model").select_option(label="sentiment-ngram")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("table").first).to_be_visible()
    shoot(page, "compare")
