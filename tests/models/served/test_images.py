"""Models that draw, over OpenAI's protocol for images: what comes of a prompt, and what is refused."""

import base64
import json
import zlib

import pytest

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.outgoing import Interrupted, RefusedAddress
from dynabench.kit.settings import get_settings
from dynabench.models import kinds, model_check, pictures
from dynabench.models.backends.served.images import Withheld
from dynabench.models.backends.served.stores import Spent, spending
from dynabench.models.validity import Broken
from dynabench.tasks import shipped
from tests.media import files

from .conftest import http
from .painter import COLOURS, Painter, Studio, folder

DRAWS = {
    "name": "theirs",
    "task": "red-team-image-prompt",
    "inputs": ["prompt"],
    "answer": "picture",
    "returns": "pictures",
    "licence": "MIT",
    "seconds": 5,
}
RED = {"prompt": "A red sunset over a lake"}


@pytest.fixture
def studio():
    running = Studio(
        plain=Painter(), careful=Painter(refuses="sunset"), single=Painter(most=1), jpeg=Painter(form="JPEG")
    )
    yield running
    running.stop()


def drawn(opened, url, inputs=RED, **more):
    """The pictures of one prompt."""
    options = {"model": "plain", "size": "64x64", "retries": 0, "pictures": 2, **more}
    [output] = opened("openai-images", DRAWS, url=url, **options).predict([inputs])
    return output.answer["picture"]


@pytest.mark.parametrize("answers", ["b64_json", "url", ""])
def test_pictures_come_within_the_answer_or_from_addresses(answers, studio, opened):
    result = drawn(opened, studio.url, answers=answers, parameters={"quality": "hd"})
    assert len(set(result)) == 2
    for item in result:
        assert item.startswith("data:image/png;base64,")
        assert pictures.open_picture(item, "picture").size == (64, 64)
    [request] = studio.painters["plain"].seen
    assert (request["prompt"], request["n"], request["size"], request["quality"]) == (RED["prompt"], 2, "64x64", "hd")
    assert request.get("response_format", "") == answers


def test_a_template_stands_around_the_words_and_jpeg_is_told(studio, opened):
    [result] = drawn(opened, studio.url, model="jpeg", pictures=1, prompt="An oil painting. {prompt}")
    assert result.startswith("data:image/jpeg;base64,")
    assert studio.painters["jpeg"].seen[0]["prompt"] == f"An oil painting. {RED['prompt']}"


def test_a_model_that_draws_one_at_a_time_is_asked_several_times(studio, opened):
    with pytest.raises(Unavailable, match="n is at most 1"):
        drawn(opened, studio.url, model="single", pictures=3)
    assert len(drawn(opened, studio.url, model="single", pictures=3, per_call=1)) == 3
    assert [item["n"] for item in studio.painters["single"].seen] == [3, 1, 1, 1]


def test_a_refusal_is_told_in_the_servers_words(studio, opened):
    with pytest.raises(Unavailable, match="rejected by our safety system"):
        drawn(opened, studio.url, model="careful")


def test_black_pictures_are_withheld_ones(studio, opened):
    assert COLOURS["black"] == (0, 0, 0)
    with pytest.raises(Withheld, match="nothing but black"):
        drawn(opened, studio.url, {"prompt": "black"})


def test_pictures_are_paid_for_up_to_the_limit_and_refused_prompts_are_not(studio, opened):
    costs = {"price_per_picture": 0.5, "price_per_call": 0.25, "spend_per_day": 2.0}
    with pytest.raises(Unavailable, match="rejected"):
        drawn(opened, studio.url, model="careful", **costs)
    accounts = spending(get_settings().folder, 0.0)
    assert accounts.spent("theirs") == 0
    drawn(opened, studio.url, **costs)
    assert accounts.spent("theirs") == pytest.approx(1.25)
    with pytest.raises(Spent, match="limit of 2 a day"):
        drawn(opened, studio.url, **costs)
    assert len(studio.painters["plain"].seen) == 1


def test_a_token_goes_to_the_server_and_not_to_the_pictures_address(hostile, opened, monkeypatch):
    monkeypatch.setenv("DYNABENCH_TOKEN_THEIRS", "127.0.0.1 s3cret")
    away = hostile(lambda c, n: c.sendall(http(files.picture(), kind="image/png")))
    server = hostile(lambda c, n: c.sendall(http(json.dumps({"data": [{"url": f"{away.url}/x.png?a=b"}]}).encode())))
    drawn(opened, server.url, token="THEIRS", pictures=1)
    assert b"s3cret" in server.requests[0]
    assert b"s3cret" not in away.requests[0]


def entry(content):
    return {"b64_json": base64.b64encode(content).decode()}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "without a list of pictures"),
        ({"data": "picture"}, "without a list of pictures"),
        ({"data": []}, "asked for 1 pictures and sent 0; where it draws fewer"),
        ({"data": [entry(files.picture())] * 3}, "asked for 1 pictures and sent 3."),
        ({"data": [{"text": "a picture"}]}, "neither `b64_json` nor `url`"),
        ({"data": [{"b64_json": "!!!"}]}, "no base64"),
        ({"data": [entry(files.HTML)]}, "no PNG, JPEG or WebP picture"),
        ({"data": [entry(files.SVG)]}, "no PNG, JPEG or WebP picture"),
        ({"data": [entry(files.picture()[:40])]}, "no picture that can be read"),
        ({"data": [entry(files.bomb())]}, "pixels"),
        ({"data": [entry(b"\x89PNG\r\n\x1a\n" + bytes(4 * 2**20))]}, "more than 4 MiB"),
    ],
)
def test_what_is_no_answer_is_told(document, message, hostile, opened):
    server = hostile(lambda c, n: c.sendall(http(json.dumps(document).encode())))
    with pytest.raises(Broken, match=message):
        drawn(opened, server.url, pictures=1)


def test_answers_of_gigabytes_and_web_pages_are_not_read(hostile, opened):
    huge = hostile(lambda c, n: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\n{"))
    with pytest.raises(Interrupted, match="2048 MiB"):
        drawn(opened, huge.url)
    page = hostile(lambda c, n: c.sendall(http(files.HTML, kind="text/html")))
    with pytest.raises(RefusedAddress, match="web page: check `url`"):
        drawn(opened, page.url)


HUGE = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 2147483648\r\n\r\n\x89PNG"


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (http(files.HTML, kind="text/html"), "holds text/html, no picture"),
        (http(files.HTML, kind="image/png"), "no PNG, JPEG or WebP picture"),
        (http(b"gone", "404 Not Found"), "answers with status 404"),
        (http(b"", "302 Found", Location="http://169.254.169.254/latest"), "redirect"),
        (HUGE, "2048 MiB; the limit is 4 MiB"),
        (http(zlib.compress(b"x"), kind="image/png", Content_Encoding="deflate"), "compressed its answer"),
    ],
)
def test_what_lies_at_a_told_address_is_checked_too(sent, message, hostile, opened):
    away = hostile(lambda c, n: c.sendall(sent))
    server = hostile(lambda c, n: c.sendall(http(json.dumps({"data": [{"url": f"{away.url}/1.png"}]}).encode())))
    with pytest.raises(Unavailable, match=message):
        drawn(opened, server.url, pictures=1)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.2/1.png", "https://169.254.169.254/x", "https://[::1]/x", "file:///etc/passwd", "x.png"]
)
def test_no_private_address_is_called_for_a_picture(url, hostile, opened):
    server = hostile(lambda c, n: c.sendall(http(json.dumps({"data": [{"url": url}]}).encode())))
    with pytest.raises(RefusedAddress, match="names an address that is not called"):
        drawn(opened, server.url, pictures=1)


@pytest.mark.parametrize(
    ("more", "options", "field"),
    [
        ({"seconds": None}, {}, "seconds"),
        ({"returns": "text"}, {}, "returns"),
        ({}, {"prompt": "{words}"}, "options.prompt"),
        ({}, {"size": "big"}, "options.size"),
        ({}, {"pictures": 9}, "options.pictures"),
        ({}, {"spend_per_day": 1.0}, "options.spend_per_day"),
    ],
)
def test_a_folder_that_does_not_hang_together_is_refused(more, options, field, opened):
    answer = {name: value for name, value in {**DRAWS, **more}.items() if value is not None}
    with pytest.raises(Invalid) as refused:
        opened("openai-images", answer, url="https://draws.example.org/v1", **{"model": "m", **options})
    assert field in refused.value.fields


def test_a_check_has_a_few_pictures_drawn_and_no_more(studio, tmp_path):
    [task] = shipped.shipped_drawings()
    report = model_check.check(folder(tmp_path, "plain", studio.url, pictures=2), task.config)
    assert report.passed, report.document()
    assert len(studio.painters["plain"].seen) == 2
    assert report.step("batches").state == "skipped"
    assert "draw" in kinds.kind("openai-images").schema().model_fields["pictures"].description
