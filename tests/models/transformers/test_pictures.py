"""Pictures: digits by a tiny network, colours by a tiny network of pictures and questions, heat maps over both."""

import asyncio
import base64
import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from transformers import ConvNextImageProcessorPil

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models import catalog, pictures
from dynabench.models.backends.architectures.images import seen
from dynabench.models.client import Host
from dynabench.models.host import wire
from dynabench.models.protocol import LARGEST, Attribution, ModelOutput
from tests.large_data import need_data
from tests.models.transformers import drawn
from tests.models.waiting import until_ready

pytestmark = pytest.mark.release

EASY = "easy_vqa/easy_vqa-1.0-py3-none-any.whl"


@pytest.fixture(scope="module")
def digits(workshop):
    folder, rows = drawn.digits(workshop / "digits")
    return catalog.open_model(folder), rows


@pytest.fixture(scope="module")
def colours(workshop):
    folder, rows = drawn.colours(workshop / "colours", need_data(EASY))
    return catalog.open_model(folder), rows


def test_digits_are_read(digits):
    model, rows = digits
    predictions = model.predict([{"picture": picture} for picture, _ in rows])
    assert sum(first.answer["digit"] == digit for first, (_, digit) in zip(predictions, rows, strict=True)) > 80


def test_a_host_takes_the_largest_picture_that_a_model_does_and_says_what_is_wrong_with_a_larger_one(
    digits, workshop, serve_models, tmp_path
):
    _, rows = digits
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "digits").symlink_to(workshop / "digits")
    head, _, body = rows[0][0].partition(",")
    drawn = base64.b64decode(body)
    room = (LARGEST - len(head) - 1) // 4 * 3
    largest = f"{head},{base64.b64encode(drawn + bytes(room - len(drawn))).decode()}"  # what follows a PNG is not read
    assert LARGEST - 4 < len(largest) <= LARGEST

    async def ask(url, picture):
        host = Host(url, 60.0)
        try:
            return await host.answer("digits", None, {"picture": picture})
        finally:
            await host.close()

    with serve_models(tmp_path / "models") as url:
        until_ready(url)
        assert asyncio.run(ask(url, largest)).answer == asyncio.run(ask(url, rows[0][0])).answer
        with pytest.raises(Unavailable, match="of up to 8 MiB is needed"):
            asyncio.run(ask(url, largest + "AAAA"))


@pytest.mark.parametrize("method", ["gradient", "integrated_gradients", "occlusion"])
def test_a_map_lies_over_the_picture_and_travels(digits, method):
    model, rows = digits
    result = model.attribute({"picture": rows[0][0]}, rows[0][1], method)
    [grid] = result.maps.values()
    assert result.fields == {}
    assert len({len(row) for row in grid}) == 1
    assert max(abs(cell) for row in grid for cell in row) == pytest.approx(1)
    assert (result.completeness_error is not None) == (method == "integrated_gradients")
    sent = wire.attribution_of(wire.attribution_json(result, "1"))
    assert np.allclose(sent.maps["picture"], grid, atol=1e-4)


def test_a_map_without_pictures_travels_as_nothing():
    assert wire.attribution_of({"method": "m", "label": "l", "fields": {}, "completeness_error": None}).maps == {}


class Looks:
    """A model that answers by how red the picture's top left quarter is."""

    def __init__(self, card):
        self.card = card

    def predict(self, batch):
        result = []
        for row in batch:
            red = np.asarray(pictures.open_picture(row["picture"], "picture"))[:14, :14, 0].mean() / 255
            result.append(ModelOutput({"digit": "0"}, {"0": float(red), "1": float(1 - red)}))
        return result


def test_covering_finds_the_part_that_the_answer_comes_from(digits):
    whole = np.zeros((28, 28, 3), np.uint8)
    whole[4:8, 8:12] = (255, 0, 0)
    card = digits[0].card
    empty = Attribution("occlusion", "0", {})
    result = pictures.weigh_patches(Looks(card), empty, {"picture": pictures.text_of(Image.fromarray(whole))})
    grid = np.array(result.maps["picture"])
    assert grid.shape == (7, 7)
    assert np.unravel_index(grid.argmax(), grid.shape) == (1, 2)
    assert grid[1, 2] == 1


def test_a_cut_picture_is_known_to_be_cut():
    cut = ConvNextImageProcessorPil(size={"shortest_edge": 224}, crop_pct=0.875)
    assert seen(cut, (300, 200)) == (1.0, 1.0)  # it cuts by itself, without saying so by crop_size

    class Crops:
        do_center_crop, do_resize = True, True
        crop_size, size = {"height": 224, "width": 224}, {"shortest_edge": 256}

    assert seen(Crops(), (512, 256)) == (0.875, 0.4375)


@pytest.mark.large_data(EASY)
def test_colours_are_told_and_the_strip_is_over_words_and_picture(colours):
    model, rows = colours
    predictions = model.predict(rows)
    assert sum(
        first.answer["answer"] == row["answer"] for first, row in zip(predictions, rows, strict=True)
    ) > 0.8 * len(rows)
    for method in ("gradient", "integrated_gradients", "occlusion"):
        result = model.attribute(rows[0], rows[0]["answer"], method)
        assert [word.text for word in result.fields["question"]][:2] == ["what", "color"]
        assert "picture" in result.maps


@pytest.mark.large_data(EASY)
def test_questions_and_pictures_of_all_sizes_share_a_batch(colours):
    model, rows = colours
    wide = pictures.text_of(pictures.open_picture(rows[1]["picture"], "picture").resize((90, 40)))
    batch = [
        rows[0],
        {**rows[1], "picture": wide},
        {**rows[2], "question": "color? " * 60},
        {**rows[0], "question": ""},
    ]
    together, [alone] = model.predict(batch), model.predict(batch[:1])
    assert together[0].answer == alone.answer
    assert together[0].probabilities["red"] == pytest.approx(alone.probabilities["red"], abs=1e-3)


def bomb():
    """A PNG of a few bytes that claims to be 60,000 pixels wide and high."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")


def data_of(content, kind="png"):
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def gif():
    held = io.BytesIO()
    Image.new("RGB", (4, 4)).save(held, "GIF")
    return held.getvalue()


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (data_of(bomb()), "pixels"),
        (data_of(b"no picture"), "no picture that can be read"),
        (data_of(gif(), "gif"), "no picture that can be read"),
        ("data:image/png;base64,%%%", "no picture that can be read"),
        ("data:image/png,abc", "base64"),
        ("http://127.0.0.1/x.png", "as data:image/png;base64"),
        (data_of(bomb()[:40]), "no picture that can be read"),
        (7, "A picture is needed"),
    ],
)
def test_what_is_no_picture_is_told(digits, picture, message):
    with pytest.raises(Invalid, match=message):
        digits[0].predict([{"picture": picture}])


@pytest.mark.parametrize(
    ("spec", "message"), [({"images": []}, "one picture"), ({"returns": "text", "labels": []}, "returns a label")]
)
def test_a_card_without_its_picture_is_told(workshop, digits, changed, spec, message):
    with pytest.raises(Invalid, match=message):
        catalog.open_model(changed(workshop / "digits", **spec))
