"""From three models to a ranking: entered, checked, scored, weighed, compared, frozen; then new data for all."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmarks.running import operate, platform
from dynabench.tasks.shipped import shipped_tasks
from tests.browser.people import Guest, arrived
from tests.browser.test_looks import looks_well

pytestmark = [pytest.mark.release, pytest.mark.browser, pytest.mark.xdist_group("storied")]
MODELS = Path(__file__).parents[2] / "src/dynabench/models/builtin"
HERE = "/tasks/sentiment"
NOUNS = (
    "film",
    "soup",
    "hotel",
    "museum",
    "novel",
    "concert",
    "garden",
    "train",
    "play",
    "market",
    "lecture",
    "album",
)
SENTENCES = [
    ("The {} was wonderful and I loved every minute of it.", "positive"),
    ("A dull, boring and terrible {} that I hated.", "negative"),
    ("Nobody in our group would call the {} good.", "negative"),
    ("I never thought that I would like the {} so much.", "positive"),
    ("The {} opens at nine.", "neutral"),
]
ROWS = [(text.format(item), label) for item in NOUNS for text, label in SENTENCES]


@pytest.fixture
def place(tmp_path):
    """A platform with the shipped task, its sentences as a public dataset, and nobody's models."""
    home = tmp_path / "home"
    home.mkdir()
    [source] = [shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment"]
    (tmp_path / "task.yaml").write_text(source, encoding="utf-8")
    rows = [{"uid": f"r{n}", "statement": text, "label": label} for n, (text, label) in enumerate(ROWS)]
    (tmp_path / "plain.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with platform(home) as base:
        operate(home, "task", "create", str(tmp_path / "task.yaml"))
        add = ("dataset", "add", "sentiment", "plain", str(tmp_path / "plain.jsonl"), "--visibility", "public")
        operate(home, *add)
        yield base, home, tmp_path


def submit(page: Page, kind: str, name: str, label: str, file: Path) -> None:
    """Send a file through the form, and watch it until all is scored."""
    page.goto(f"{HERE}/submit")
    page.get_by_role("link", name=kind).click()
    arrived(page.get_by_role("button", name="Submit"))
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label(label).set_input_files(file)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page.locator(".timeline .reached")).to_have_count(4, timeout=180_000)
    expect(page.locator("progress")).to_have_js_property("value", 1)


def order(page: Page) -> list[str]:
    return page.locator(".lb-table tr[data-row]").evaluate_all("rows => rows.map(row => row.dataset.name)")


def weigh(page: Page, **steps: str) -> None:
    """Move sliders to their left or right end by keyboard."""
    for name, end in steps.items():
        page.locator(f'[name="m.{name}"]').press(end)


def test_three_models_are_ranked_weighed_compared_and_frozen_and_new_data_finds_them_all(chromium, place):
    base, home, files = place
    packed = files / "own.zip"
    operate(home, "model", "pack", str(MODELS / "sentiment-ngram"), "--output", str(packed))
    answer = [{"uid": f"r{n}", "label": label if n % 4 else "neutral"} for n, (_, label) in enumerate(ROWS)]
    (files / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answer), encoding="utf-8")
    owner, builder = Guest(chromium, base), Guest(chromium, base)
    owner.come_in("olga")
    operate(home, "user", "promote", "olga", "--owner", "sentiment")
    owner.page.goto("/models/sentiment-minilm")
    owner.page.get_by_role("button", name="Submit to sentiment").click()
    builder.come_in("ada")
    page = builder.page
    submit(page, "Model folder", "own-ngram", "Zip file", packed)
    submit(page, "Predictions", "own-answers", "plain", files / "said.jsonl")

    page.goto(f"{HERE}/leaderboard")
    row = page.locator(".lb-table tr[data-row]")
    expect(row).to_have_count(3)
    for name in ("sentiment-minilm", "own-ngram", "own-answers"):
        score = page.locator(f'tr[data-name="{name}"] [data-c="m.accuracy"]')
        expect(score).to_have_attribute("title", re.compile("–"))  # its interval
    page.get_by_text("Edit weights").click()
    page.evaluate("() => { window.stayed = true }")
    weigh(page, accuracy="Home", f1="Home", fairness="Home", robustness="Home", memory="Home", throughput="End")
    expect(row.first).to_have_attribute("data-name", "own-ngram")  # the fastest
    quick = order(page)
    weigh(page, accuracy="End", throughput="Home")
    expect(row.first).to_have_attribute("data-name", "own-answers")  # the most accurate, whose speed nobody knows
    assert order(page) != quick
    expect(page.locator("[data-status]")).to_have_text("Ranked again with your weights.")
    assert page.evaluate("() => window.stayed"), "the page was not loaded again"
    frozen = take_snapshot(page)
    compare_models(page)

    add_data(owner.page)
    for name in ("sentiment-minilm", "own-ngram"):
        sees_both(owner.page, name)
    page.goto(frozen)
    expect(page.locator("main")).not_to_contain_text("Second helping")
    assert owner.console_errors + builder.console_errors == []


def take_snapshot(page: Page) -> str:
    """Freeze the board as it is weighed now; the address of the copy."""
    page.get_by_text("Save this board").click()
    page.get_by_label("Title (optional)").fill("Accuracy alone")
    page.get_by_role("button", name="Take a snapshot").click()
    expect(page.get_by_role("heading", name="Accuracy alone")).to_be_visible()
    expect(page.locator(".lb-table tbody tr").first).to_contain_text("own-answers")
    looks_well(page)
    return page.url


def compare_models(page: Page) -> None:
    """Compare the scores of two of the models."""
    page.goto(f"{HERE}/compare")
    page.get_by_label("First model").select_option(label="sentiment-minilm")
    page.get_by_label("Second model").select_option(label="own-ngram")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("main")).to_contain_text("accuracy", ignore_case=True)
    looks_well(page)


def add_data(page: Page) -> None:
    """A CSV by its owner, whose columns have names of their own."""
    table = io.StringIO()
    csv.writer(table).writerows([("review", "verdict"), *((f"{text} Really.", label) for text, label in ROWS)])
    page.goto(f"{HERE}/datasets")
    file = {"name": "second.csv", "mimeType": "text/csv", "buffer": table.getvalue().encode()}
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Preview").click()
    columns = page.locator('select[name^="field."]')
    expect(columns).to_have_count(2)
    arrived(columns.last)
    columns.first.select_option("review")
    columns.last.select_option("verdict")
    page.get_by_label("Title").fill("Second helping")
    page.get_by_role("button", name="Import the file").click()
    expect(page.get_by_role("heading", name="Second helping")).to_be_visible()


def sees_both(page: Page, name: str) -> None:
    """The model's row opens to scores on both datasets, once the worker has come to them."""
    for _ in range(60):
        page.goto(f"{HERE}/leaderboard")
        page.get_by_role("link", name=name, exact=True).click()
        arrived(page.locator(".lb-detail"))
        new = page.locator(".lb-detail tr", has_text="Second helping")
        if new.count() and not new.locator("td").first.inner_text().startswith("–"):
            break
        page.wait_for_timeout(1000)
    expect(new.locator("td").last).to_have_text(str(len(ROWS)))
