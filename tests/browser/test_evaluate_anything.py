"""Evaluate anything as a stranger does it: from the choice of a dataset to a board, cards and tokens, in few clicks."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from huggingface_hub import HfApi
from playwright.sync_api import Browser, Locator, Page, expect
from typer.testing import CliRunner

from dynabench.cli import app
from tests.browser.people import Guest, follow
from tests.open_evaluations.conftest import reviews

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.xdist_group("storied")]
MODELS = ("sentiment-ngram", "sentiment-minilm")
MOST_CLICKS = 9
COUNT = """addEventListener("click", (event) => {
  if (event.isTrusted && event.detail) sessionStorage.clicks = Number(sessionStorage.clicks || 0) + 1;
}, true);"""
CARD = b"""---
configs:
- config_name: films
  data_files: [{split: train, path: train.csv}, {split: test, path: test.csv}]
task_categories: [text-classification]
---
# Films
"""


@pytest.fixture(scope="module")
def place(storied: SimpleNamespace) -> SimpleNamespace:
    """A platform with released rounds of the task, an administrator, and a dataset and a model of hers on the hub."""
    api = HfApi(f"{storied.base}/api/hub", token=storied.token)
    dataset = api.create_repo("films", repo_type="dataset").repo_id
    for path, content in {"README.md": CARD, "train.csv": reviews(9), "test.csv": reviews(60)}.items():
        api.upload_file(path_or_fileobj=content, path_in_repo=path, repo_id=dataset, repo_type="dataset")
    model = api.create_repo("sentiment-ngram").repo_id
    api.upload_file(path_or_fileobj=b"---\nlicense: mit\n---\n# Mine\n", path_in_repo="README.md", repo_id=model)
    return SimpleNamespace(base=storied.base, dataset=dataset, model=model, cookies=storied.cookies)


@pytest.fixture
def ada(place: SimpleNamespace, chromium: Browser) -> Iterator[Guest]:
    """The administrator's browser, which counts her clicks."""
    guest = visit(place, chromium)
    yield guest
    guest.context.close()


def visit(place: SimpleNamespace, chromium: Browser) -> Guest:
    guest = Guest(chromium, place.base)
    guest.context.add_init_script(COUNT)
    guest.context.grant_permissions(["clipboard-read", "clipboard-write"])
    guest.come_in("ada", place.cookies)
    return guest


def clicks(page: Page) -> int:
    return int(page.evaluate("() => Number(sessionStorage.clicks || 0)"))


def begin_counting(page: Page, path: str) -> None:
    page.goto(path)
    page.evaluate("() => sessionStorage.clear()")


def model_box(page: Page, name: str) -> Locator:
    return page.locator(f'input[name="model"][value="{name}"]')


def evaluate(page: Page) -> str:
    """Tick two models, start, and wait for the board; the link of the form."""
    expect(page.get_by_role("heading", name="2. Models and metrics")).to_be_visible()
    for name in MODELS:
        model_box(page, name).check()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name="Board")).to_be_visible(timeout=240_000)
    rows = page.get_by_role("region", name="Scores of models").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(page.get_by_role("region", name="Pairs of models").locator("tbody tr")).to_have_count(1)
    link = page.get_by_role("link", name="The same form again").get_attribute("href")
    assert link
    return link


def put_on_cards(page: Page) -> None:
    page.get_by_role("button", name="Put the results on all cards").click()
    cards = page.get_by_role("region", name="Results on model cards")
    expect(cards.get_by_text("on the card", exact=True)).to_have_count(2)


def verify(place: SimpleNamespace, text: str, tmp_path: Path) -> list[str]:
    """The states of a card's results, as the command tells them."""
    path = tmp_path / "README.md"
    path.write_text(text, encoding="utf-8")
    answer = CliRunner().invoke(app, ["evaluate", "verify", str(path), "--server", place.base, "--json"])
    states = [result["state"] for result in json.loads(answer.stdout)["results"]]
    assert answer.exit_code == (0 if set(states) == {"holds"} else 1), answer.output
    return states


def check_cards(place: SimpleNamespace, number: str, tmp_path: Path) -> None:
    """Each model's card has the results of the evaluation; a changed number is told."""
    for name in MODELS:
        text = httpx2.get(f"{place.base}/api/v1/models/{name}/card").text
        assert f"/open-evaluations/{number}" in text
        assert set(verify(place, text, tmp_path)) == {"holds"}
        before, _value, after = text.partition("value: ")
        changed = f"{before}value: 0.123456{after[after.index(chr(10)) :]}"
        assert verify(place, changed, tmp_path).count("differs") == 1


def reproduces(place: SimpleNamespace, chromium: Browser, link: str) -> None:
    """The link opens the same form in a new browser."""
    other = visit(place, chromium)
    other.page.goto(link)
    for name in MODELS:
        expect(model_box(other.page, name)).to_be_checked()
    expect(other.page.locator('input[name="metric"][value="accuracy"]')).to_be_checked()
    expect(other.page.get_by_text("Expected time:")).to_be_visible()
    again = other.page.get_by_role("link", name="Link to this form").get_attribute("href")
    assert again is not None
    assert sorted(again.partition("?")[2].split("&")) == sorted(link.partition("?")[2].split("&"))
    assert not other.console_errors
    other.context.close()


Start = Callable[[Page, SimpleNamespace], int]


def start_with_a_file(page: Page, place: SimpleNamespace) -> int:
    begin_counting(page, "/")
    follow(page.get_by_role("contentinfo").get_by_role("link", name="Evaluate anything"), "**/open-evaluations")
    follow(page.get_by_role("main").get_by_role("link", name="Evaluate anything").first, "**/open-evaluations/new")
    file = {"name": "films.csv", "mimeType": "text/csv", "buffer": reviews(90)}
    page.get_by_label("File of rows").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    return 2  # the button of the dialog of files, and a file in it


def start_with_the_hub(page: Page, place: SimpleNamespace) -> int:
    begin_counting(page, f"/hub/datasets/{place.dataset}")
    page.get_by_role("link", name="Evaluate models").click()
    expect(page.get_by_label("Split")).to_have_value("test")
    return 0


def start_with_a_release(page: Page, place: SimpleNamespace) -> int:
    begin_counting(page, "/tasks/sentiment/rounds/1/release")
    page.get_by_role("link", name="Evaluate models").click()
    return 0


@pytest.mark.parametrize("start", [start_with_a_file, start_with_a_release], ids=["file", "release"])
def test_from_choice_to_board_and_cards(
    place: SimpleNamespace, chromium: Browser, ada: Guest, tmp_path: Path, start: Start
):
    page = ada.page
    dialog = start(page, place)
    link = evaluate(page)
    assert clicks(page) + dialog <= MOST_CLICKS
    number = page.url.rpartition("/")[2].partition("?")[0]
    put_on_cards(page)
    assert clicks(page) + dialog <= MOST_CLICKS
    check_cards(place, number, tmp_path)
    reproduces(place, chromium, link)
    page.goto(f"/models/{MODELS[0]}")
    expect(page.get_by_role("heading", name="Open evaluations")).to_be_visible()
    expect(page.locator(f'a[href$="/open-evaluations/{number}"]')).to_be_visible()
    assert not ada.console_errors


def test_a_dataset_of_the_hub_is_evaluated_and_a_repository_of_ones_own_gets_the_results_and_loses_them_again(
    place: SimpleNamespace, chromium: Browser, ada: Guest, tmp_path: Path
):
    page = ada.page
    start_with_the_hub(page, place)
    link = evaluate(page)
    assert clicks(page) < MOST_CLICKS  # one more puts the results on the cards
    row = page.get_by_role("row").filter(has_text="Repository of the hub").filter(has_text=MODELS[0])
    expect(row.get_by_role("textbox")).to_have_value(place.model)
    row.get_by_role("button", name="Send to the repository").click()
    expect(page.get_by_text("in the card since commit")).to_be_visible()
    address = f"{place.base}/api/hub/{place.model}/resolve/main/README.md"
    text = httpx2.get(address, follow_redirects=True).text
    assert set(verify(place, text, tmp_path)) == {"holds"}
    assert text.endswith("# Mine\n")
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_text("in the card since commit")).to_have_count(0)
    assert "verifyToken" not in httpx2.get(address, follow_redirects=True).text
    reproduces(place, chromium, link)
    assert not ada.console_errors
