"""The pages: the list, a model, two side by side; what they say while things are broken."""

import html
import io
import re

import pytest
from PIL import Image

from dynabench.rounds import service as rounds
from tests.registry.conftest import PAIR

FIELDS = {f"inputs.{name}": text for name, text in PAIR.items()}


def text(page):
    assert page.status_code == 200, page.text
    words = re.sub(r"<(script|style)\b.*?</\1>|<[^>]+>", " ", page.text, flags=re.DOTALL)
    return " ".join(html.unescape(words).split())


def picture(kind="PNG", size=(8, 6)):
    file = io.BytesIO()
    Image.new("RGB", size, (200, 40, 40)).save(file, kind)
    return file.getvalue()


@pytest.fixture
def sees_pictures(rules):
    """`nli-b` takes a picture and a question from now on."""
    rules.rules["nli-b"].card_changes = {"inputs": ("image", "question"), "images": ("image",)}
    return rules.rules["nli-b"]


def send_picture(visitor, content, kind="image/png", **more):
    headers = {"X-CSRF-Token": visitor.token("/models/nli-b")}
    fields = {"inputs.question": "What is this?", **more}
    return visitor.client.post(
        "/models/nli-b", data=fields, files={"inputs.image": ("p", content, kind)}, headers=headers
    )


def test_models_are_listed_searched_and_filtered(owner, visitor):
    assert "All tasks 3" in text(visitor.get("/models"))
    result = text(visitor.get("/models", params={"q": "nli", "task": "nli"}))
    assert "nli-a" in result
    assert "sentiment-a" not in result
    assert "No model has this name" in text(visitor.get("/models", params={"q": "zebra"}))


def test_tasks_without_a_round_here_go_by_their_shipped_names(database):
    names = database.read(rounds.task_names, {"vqa", "zebra"})
    assert names == {"vqa": "Visual question answering", "zebra": "zebra"}


def test_a_task_has_a_tab_with_its_models(owner, visitor):
    assert '/tasks/nli/models"' in visitor.get("/tasks/nli/datasets").text
    result = text(visitor.get("/tasks/nli/models"))
    assert "nli-b" in result
    assert "sentiment-a" not in result
    assert visitor.get("/tasks/nothing/models").status_code == 404


@pytest.mark.slow
def test_weights_for_research_alone_say_so_where_the_model_is_shown_with_its_first_labels(owner, visitor, rules):
    labels = tuple(f"label-{number}" for number in range(30))
    rules.rules["nli-a"].card_changes = {"licence": "LicenseRef-Research-Use", "labels": labels}
    assert "research use only" in text(visitor.get("/models", params={"q": "nli-a"}))
    page = text(visitor.get("/models/nli-a"))
    assert "Licence research use only" in page
    assert "label-19 and 10 more" in page
    assert "label-20" not in page


def test_a_model_s_card_is_sanitised_markdown_without_its_head(owner, visitor, rules):
    card = "---\nlicense: mit\n---\n# nli-a\n\n## Limits\n\n<script>alert(1)</script> [a](javascript:b) *weak*"
    rules.rules["nli-a"].readme = card
    page = visitor.get("/models/nli-a")
    assert "<h2>Limits</h2>" in page.text
    assert "<em>weak</em>" in page.text
    assert "license: mit" not in page.text
    assert "<script>alert" not in page.text
    assert 'javascript:b"' not in page.text


def test_a_try_is_answered_with_shares_and_a_link_that_shows_it_again(owner, visitor, rules):
    page = visitor.submit("/models/nli-a", page="/models/nli-a", **FIELDS)
    assert "Prediction contradiction" in text(page)
    assert "80%" in text(page)
    [link] = re.findall(r'href="(/models/nli-a\?inputs[^"]+)"', page.text)
    again = visitor.get(html.unescape(link))
    assert "Prediction contradiction" in text(again)
    assert len(rules.rules["nli-a"].seen) == 2


def test_htmx_gets_what_was_said_and_the_link_for_its_address(owner, visitor):
    answer = visitor.submit("/models/nli-a", page="/models/nli-a", htmx=True, **FIELDS)
    assert "<html" not in answer.text
    assert answer.headers["HX-Push-Url"].startswith("/models/nli-a?inputs.premise=It+rains.")
    assert "token-strip" in answer.text


def test_long_inputs_are_answered_without_a_link(owner, visitor):
    fields = FIELDS | {"inputs.premise": "\u00e9" * 900}
    answer = visitor.submit("/models/nli-a", page="/models/nli-a", htmx=True, **fields)
    assert "Prediction contradiction" in text(answer)
    assert "HX-Push-Url" not in answer.headers
    assert "Link to this answer" not in answer.text


def test_what_cannot_be_asked_stands_beside_its_field_and_is_kept(owner, visitor, rules):
    page = visitor.submit("/models/nli-a", page="/models/nli-a", **(FIELDS | {"inputs.hypothesis": ""}))
    assert page.status_code == 422
    assert "This field is required." in page.text
    assert "It rains." in page.text
    assert rules.rules["nli-a"].seen == []


def test_without_scripts_a_button_explains(owner, visitor):
    page = visitor.submit("/models/nli-a", page="/models/nli-a", explain="nli-a:halves", **FIELDS)
    assert '<ol class="strip"' in page.text
    assert re.search(r'class="word towards" data-step="2"[^>]*>rains\.<', page.text)
    assert "halves" in text(page)


def test_two_models_are_asked_the_same_and_their_difference_is_named(owner, visitor):
    page = visitor.submit("/models/compare?a=nli-a&b=nli-b", page="/models/compare?a=nli-a&b=nli-b", **FIELDS)
    answer = text(page)
    assert "They disagree" in answer
    assert "nli-a predicts contradiction , nli-b neutral" in answer
    assert "The largest difference is on neutral: 10% and 80%" in answer
    [link] = re.findall(r'href="(/models/compare\?a=nli-a[^"]+inputs[^"]+)"', page.text)
    assert "They disagree" in text(visitor.get(html.unescape(link)))


def test_one_silent_model_does_not_silence_the_other(owner, visitor, rules):
    rules.rules["nli-b"].status = 500
    page = visitor.submit("/models/compare?a=nli-a&b=nli-b", page="/models/compare?a=nli-a&b=nli-b", **FIELDS)
    assert "contradiction" in text(page)
    assert "nli-b gave no answer" in text(page)


def test_models_of_two_tasks_cannot_be_compared(owner, visitor):
    page = visitor.get("/models/compare?a=nli-a&b=sentiment-a")
    assert page.status_code == 422
    assert "choose two models of one task" in page.text


@pytest.mark.slow
def test_while_no_host_answers_pages_say_so(owner, visitor, rules):
    token = visitor.token("/models/nli-a")
    rules.away = True
    assert "model host is not answering" in text(visitor.get("/models"))
    assert "model host is not answering" in text(visitor.get("/tasks/nli/models"))
    assert "model host is not answering" in text(visitor.get("/models/compare"))
    page = text(visitor.get("/models/nli-a"))
    assert "model host is not answering" in page
    assert "Natural language inference, round 1" in page
    posted = visitor.client.post("/models/nli-a", data=FIELDS, headers={"X-CSRF-Token": token})
    assert "model host is not answering" in text(posted)


def test_while_no_host_answers_a_private_model_looks_like_none(owner, visitor, rules, listing):
    listing("nli-a", "private")
    rules.away = True
    hidden, none = (text(visitor.get(f"/models/{name}")) for name in ("nli-a", "nli-c"))
    assert hidden.replace("nli-a", "nli-c") == none


def test_a_model_that_does_not_run_shows_its_card_and_no_form(owner, visitor, rules):
    rules.rules["nli-a"].state, rules.rules["nli-a"].readme = "LOADING", "It will see negation."
    page = text(visitor.get("/models/nli-a"))
    assert "It will see negation." in page
    assert "it is being loaded" in page
    assert "Ask" not in page


def test_a_private_model_is_on_no_page(owner, visitor, listing):
    listing("nli-b", "private")
    for path in ("/models", "/tasks/nli/models", "/models/compare", "/models/compare?a=nli-a"):
        assert "nli-b" not in visitor.get(path).text
    hidden = [
        visitor.get("/models/nli-b"),
        visitor.get("/models/nli-b", params=FIELDS),
        visitor.get("/models/compare?a=nli-a&b=nli-b"),
        visitor.submit("/models/nli-b", **FIELDS),
        visitor.submit("/models/compare?a=nli-a&b=nli-b", **FIELDS),
    ]
    assert [page.status_code for page in hidden] == [404] * 5


@pytest.mark.slow
def test_the_keeper_s_form_changes_who_sees_it(client, owner, browser, person, listing):
    person("ada")
    listing("nli-b", "private", keeper="ada")
    ada = browser()
    ada.log_in("ada")
    assert "Visibility" in text(ada.get("/models/nli-b"))
    changed = ada.submit("/models/nli-b/listing", page="/models/nli-b", visibility="public", note="done")
    assert changed.status_code == 303
    assert client.get("/models/nli-b").status_code == 200
    wrong = ada.submit("/models/nli-b/listing", page="/models/nli-b", visibility="all", note="n" * 501)
    assert wrong.status_code == 422
    assert "Choose one of" in wrong.text
    assert "the limit is 500" in wrong.text


def test_a_form_from_elsewhere_changes_nothing(client, owner, browser):
    root = browser()
    root.log_in("root")
    assert root.client.post("/models/nli-b/listing", data={"visibility": "private"}).status_code == 403
    assert client.get("/models/nli-b").status_code == 200


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_is_sent_kept_and_explained_by_a_heat_map(owner, visitor, sees_pictures, kind):
    page = send_picture(visitor, picture(kind), explain="nli-b:length")
    assert "Prediction neutral" in text(page)
    [sent] = sees_pictures.seen
    assert sent["image"].startswith(f"data:image/{kind.lower()};base64,")
    assert f'<input type="hidden" name="inputs.image" value="{sent["image"]}">' in page.text
    assert '<svg viewBox="0 0 8 6"' in page.text
    cells = re.findall(r'<rect class="heat-(\w+)" x="([\d.]+)" y="([\d.]+)" width="4.0" height="3.0"', page.text)
    assert cells == [("towards", "0.0", "0.0"), ("against", "4.0", "0.0"), ("towards", "4.0", "3.0")]
    assert "style=" not in page.text
    again = visitor.submit(
        "/models/nli-b", page="/models/nli-b", **{"inputs.image": sent["image"], "inputs.question": "?"}
    )
    assert again.status_code == 200
    assert sees_pictures.seen[-1]["image"] == sent["image"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "PNG, JPEG or WebP"),
        (b"GIF89a\x01\x00\x01\x00", "PNG, JPEG or WebP"),
        (picture()[:20], "PNG, JPEG or WebP"),
        (picture(size=(9000, 2)), "9,000 x 2"),
    ],
    ids=["svg", "gif", "cut short", "too wide"],
)
def test_what_is_no_picture_of_a_sane_size_is_refused(owner, visitor, sees_pictures, content, message):
    page = send_picture(visitor, content)
    assert page.status_code == 422
    assert message in page.text
    assert "What is this?" in page.text
    assert sees_pictures.seen == []


def test_a_picture_in_json_is_checked_alike(client, owner, sees_pictures):
    def ask(image):
        return client.post("/api/v1/models/nli-b/ask", json={"inputs": {"image": image, "question": "?"}})

    for bad in ("", 7, "data:image/svg+xml;base64,AAAA", "data:image/png;base64,AAAA", "https://example.org/p.png"):
        assert list(ask(bad).json()["fields"]) == ["inputs.image"]
    assert sees_pictures.seen == []


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_addresses_that_ask_count_towards_the_limit_of_model_calls(client, owner, visitor, rules):
    client.app.state.settings.rate_limit = True
    seen = [visitor.get("/models/compare", params={"a": "nli-a", "b": "nli-b"} | FIELDS).status_code for _ in range(40)]
    assert set(seen) == {200, 429}
    assert seen[:30] == [200] * 30, "two calls of the sixty at a time"
    assert len(rules.rules["nli-a"].seen) <= 35
    assert visitor.get("/models/nli-a").status_code == 200, "pages that ask nothing are not counted"
