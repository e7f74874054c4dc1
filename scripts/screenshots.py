"""Take screenshots of the running pages, wide and narrow, light and dark, into screenshots/, and renew the README's.

Starts a platform of its own with the demo rounds, lets six people write and check examples, then looks; at last as
the owner of a task (`screenshots_owner.py`). At the end the pictures of the README are made from six of them
(`readme_pictures.py`). `python scripts/screenshots.py boards` takes the screenshots of boards and datasets alone.
"""

import io
import itertools
import os
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.running import operate, platform
from dynabench.client import Client
from scripts import readme_pictures, screenshots_boards, screenshots_owner
from scripts.programs import find
from scripts.screenshots_people import PASSWORD, PEOPLE, SAID, ask_questions, check, hand_out, people, write

ROOT = Path(__file__).parent.parent
OUT = ROOT / "screenshots"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
SIZES = {"wide": (1440, 900), "narrow": (390, 844)}
SETTLED = """() => document.readyState === "complete" && document.fonts.status === "loaded"
    && [...document.images].every((image) => image.complete || image.loading === "lazy")"""
LOOKS = list(itertools.product(SIZES, ("light", "dark")))
BRIEFLY = [("wide", "light"), ("narrow", "dark")]  # of the console's many pages


def log_in(page: Page, name: str) -> None:
    """Log in through the page."""
    page.goto("/login")
    page.get_by_label("Username or email").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".avatar")).to_be_visible()


def shoot(page: Page, name: str, looks: list[tuple[str, str]] = LOOKS) -> None:
    """The page as it stands, wide and narrow, in light and dark; few colours keep the files small."""
    for width, scheme in looks:
        page.set_viewport_size({"width": SIZES[width][0], "height": SIZES[width][1]})
        page.emulate_media(color_scheme="light" if scheme == "light" else "dark", reduced_motion="reduce")
        settle(page)
        picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
        picture.quantize(128, dither=Image.Dither.NONE).save(OUT / f"{name}-{width}-{scheme}.png", optimize=True)


def settle(page: Page) -> None:
    """Bring charts into view, so that they are drawn, and wait for strips."""
    page.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function(SETTLED)
    for chart in page.locator("vega-chart").all():
        chart.scroll_into_view_if_needed()
        expect(chart.locator(".chart-canvas svg").first).to_be_visible()
    expect(page.locator("token-strip[aria-busy], .skeleton")).to_have_count(0)
    page.evaluate("() => { document.activeElement?.blur(); scrollTo(0, 0) }")


def try_it(page: Page) -> None:
    """The box of the first page, answered."""
    page.goto("/")
    page.get_by_label("Your sentence").fill("The best thing about the hotel is the train that leaves it every hour.")
    page.get_by_label("negative").check()
    page.get_by_role("button", name="Ask the model").click()
    expect(page.locator("token-strip .strip").first).to_be_visible()


def create(page: Page, client: Client) -> None:
    """Two tries on one premise, and a closer look at the second."""
    hand_out(client, "nli", "The second violinist", "contradiction")
    page.goto("/tasks/nli/create")
    for text in ("Nobody played the solo.", "Whoever had practised the solo was left to listen."):
        page.get_by_role("textbox", name="Hypothesis").fill(text)
        page.get_by_role("textbox", name="Hypothesis").press("Control+Enter")
        expect(page.locator(".try-text").first).to_have_text(text)
    page.get_by_role("button", name="more precise").first.click()
    expect(page.locator(".strip-method").first).to_contain_text("the weights miss")


def mark(page: Page, answer: str) -> None:
    """From the keyboard: the first and the last word of an answer."""
    words = page.locator(".span-passage .span-word")
    texts, options = words.all_inner_texts(), answer.split()
    first = next(at for at in range(len(texts)) if texts[at : at + len(options)] == options)
    page.locator(".span-passage .span-check").nth(first).focus()
    page.keyboard.press("Enter")
    page.locator(".span-passage .span-check").nth(first + len(options) - 1).focus()
    page.keyboard.press("Enter")


def question(page: Page, client: Client) -> None:
    """A question, its answer marked in the passage, and the model's."""
    for _ in range(1500):
        if client.next_context("qa")["values"]["passage"].startswith(SAID["question"]["passage"]):
            break
    page.goto("/tasks/qa/create")
    mark(page, SAID["question"]["answer"])
    page.get_by_role("textbox", name="Question").fill(SAID["question"]["text"])
    page.keyboard.press("Control+Enter")
    expect(page.locator("token-strip .strip").first).to_be_visible()


def seed(page: Page) -> None:
    """A sentence to start from, with what the models say, and one word of it changed."""
    page.goto("/tasks/sentiment/create")
    for _ in range(60):
        if page.locator(".start .model-reading").count():
            break
        values = page.locator("#create-form [name=handout]").input_value()
        page.get_by_role("button", name="Another").click()
        expect(page.locator("#create-form [name=handout]")).not_to_have_value(values)
    text = page.get_by_role("textbox", name="Statement")
    text.fill("As far as I recall, " + text.input_value()[0].lower() + text.input_value()[1:])
    page.locator("#create-form").get_by_label("neutral").check()
    page.keyboard.press("Control+Enter")
    expect(page.locator("token-strip .strip").first).to_be_visible()


def perturbation(page: Page) -> None:
    """An own example of hate speech, in harmless words, and how it was turned around."""
    page.get_by_role("button", name="I have read this, continue").click()
    page.wait_for_url("**/create")
    page.wait_for_load_state()  # keys are heard once the scripts run
    texts, start = SAID["perturbation"], page.locator(".start-text")
    if start.count() and start.inner_text() == texts[0]:  # an example of the demo, handed out to be changed
        texts = texts[1:]
    for text in texts:
        page.get_by_role("textbox", name="Statement").fill(text)
        if page.locator("#create-form").get_by_label("not hateful").count():
            page.locator("#create-form").get_by_label("not hateful").check()
        page.keyboard.press("Control+Enter")
        expect(page.locator(".try-text").first).to_have_text(text)
        if text != texts[-1]:
            page.locator(".answer-foot").get_by_role("button", name="Perturb").click()
            expect(page.locator(".start-text")).to_have_text(text)
    expect(page.locator("token-strip .strip").first).to_be_visible()


def look_at_tasks(page: Page, sofia: Client) -> None:
    """Extracted answers, seeds, warnings, perturbations; what the models said, after a vote."""
    page.goto("/tasks/qa/validate")
    shoot(page, "validate-answer")
    page.get_by_role("button", name="Correct", exact=False).first.click()
    expect(page.locator(".last")).to_be_visible()
    shoot(page, "validate-voted")
    question(page, sofia)
    shoot(page, "create-answer")
    seed(page)
    shoot(page, "create-seed")
    page.goto("/tasks/hate/create")
    shoot(page, "warning")
    perturbation(page)
    shoot(page, "create-perturbation")


def look_at_modules(page: Page) -> None:
    """The evaluation library: the list, and a result with its interval and its picture."""
    page.goto("/evaluate")
    shoot(page, "modules")
    page.goto("/evaluate/metric/f1?example=1")
    page.get_by_label("predictions").fill("\n".join(["cat"] * 9 + ["dog"] * 8 + ["fox"] * 7))
    page.get_by_label("references").fill("\n".join(["cat"] * 8 + ["dog"] * 7 + ["fox"] * 2 + ["cat"] * 2 + ["fox"] * 5))
    page.get_by_label("with a 95% interval").check()
    page.get_by_role("button", name="Compute").click()
    expect(page.locator(".calc-rows")).to_contain_text("24 rows")
    shoot(page, "module")


def look_at_models(page: Page) -> None:
    """The registry: the list, a model that was asked and looked at closely, two that disagree."""
    request = {
        "inputs.premise": "The second violinist played the solo, since the first had caught a cold.",
        "inputs.hypothesis": "Whoever had practised the solo was left to listen.",
    }
    page.goto(f"/models/nli-minilm?{urlencode(request)}")
    page.get_by_role("combobox", name="Method:").select_option("layer_integrated_gradients")
    expect(page.locator(".strip-method").first).to_contain_text("the weights miss")
    shoot(page, "model")
    page.goto(f"/models/compare?{urlencode({'a': 'nli-minilm', 'b': 'nli-ngram'} | request)}")
    expect(page.locator("token-strip .strip").nth(3)).to_be_visible()
    shoot(page, "models-compared")
    page.goto("/models")
    shoot(page, "models")
    page.goto("/tasks/nli/models")
    shoot(page, "task-models")


def look(page: Page, sofia: Client) -> None:
    """Every page."""
    look_at_modules(page)
    look_at_models(page)
    for name, path in (("login", "/login"), ("register", "/register"), ("not-found", "/tasks/nothing-of-the-kind")):
        page.goto(path)
        shoot(page, name)
    try_it(page)
    shoot(page, "home")
    log_in(page, "sofia")
    page.goto("/tasks/nli/validate")
    shoot(page, "validate")
    page.goto("/tasks/sentiment/validate")
    shoot(page, "validate-blind")
    create(page, sofia)
    shoot(page, "create")
    look_at_tasks(page, sofia)
    log_in_again(page, "maren")
    for name, path in (
        ("task", "/tasks/nli"),
        ("board", "/tasks/sentiment/people"),
        ("round", "/tasks/sentiment/rounds/1"),
        ("settings", "/settings"),
        ("own-examples", "/people/me?task=sentiment"),
    ):
        page.goto(path)
        shoot(page, name)


def log_in_again(page: Page, name: str) -> None:
    """As somebody else."""
    page.context.clear_cookies()
    log_in(page, name)


def main() -> None:
    """Start, fill, look."""
    OUT.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=20_000)
    with tempfile.TemporaryDirectory() as home, platform(Path(home), "--demo") as base, sync_playwright() as driver:
        created = people(base)
        authors = [created[name] for name in PEOPLE]
        check(authors, write(authors))
        ask_questions(created["maren"])
        browser = driver.chromium.launch(executable_path=find(), args=FLAGS)
        page = browser.new_page(base_url=base, reduced_motion="reduce")
        if "boards" in sys.argv[1:]:
            log_in(page, "sofia")
        else:
            look(page, created["sofia"])
        screenshots_boards.enter(Path(home), created["sofia"])
        screenshots_boards.look(page, lambda page, name: shoot(page, name, BRIEFLY))
        if "boards" in sys.argv[1:]:
            return
        operate(Path(home), "user", "promote", "olga", "--admin")
        secret = screenshots_owner.run(created["olga"], created)
        screenshots_owner.age(Path(home))
        log_in_again(page, "olga")
        screenshots_owner.look(page, secret, lambda page, name: shoot(page, name, BRIEFLY))
        browser.close()
    readme_pictures.renew_pictures(OUT)
    pictures = list(OUT.glob("*.png"))
    print(f"{len(pictures)} pictures, {sum(item.stat().st_size for item in pictures) / 1e6:.1f} MB, in {OUT}")


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    main()
