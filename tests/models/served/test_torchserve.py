"""A real TorchServe, where Java and the package are there."""

import pytest

from dynabench.kit.errors import Invalid, Unavailable

BATCH = [{"statement": text} for text in ("A good, great day.", "Bad and dull.", "It is a day.")]
pytestmark = [pytest.mark.release, pytest.mark.xdist_group("torchserve")]
EXPECTED = ["positive", "negative", "negative"]


@pytest.fixture
def model(torchserve, opened):
    def open_one(name, **options):
        return opened(
            "torchserve", url=torchserve.inference, model=name, **{"management": torchserve.management, **options}
        )

    return open_one


@pytest.mark.parametrize("sends", ["json", "text"])
def test_inputs_are_answered_with_probabilities(sends, model):
    outputs = model("classifier", sends=sends, cache=False).predict(BATCH)
    assert [output.answer["label"] for output in outputs] == EXPECTED
    assert outputs[0].probabilities["positive"] == pytest.approx(0.9647, abs=1e-4)
    assert outputs[2].probabilities == pytest.approx(dict.fromkeys(outputs[2].probabilities, 1 / 3), abs=1e-6)


def test_a_plain_label_is_an_answer(model):
    assert model("plain").predict(BATCH[:1])[0].answer == {"label": "positive"}


def test_the_management_api_tells_version_and_workers(model):
    assert model("classifier").ready().version == "2.0"
    assert model("classifier", management="").ready().ready
    missing = model("nobody", retries=0).ready()
    assert not missing.ready
    assert "check `url` and the model's name" in missing.reason


def test_a_version_is_asked_for(model):
    assert model("classifier", version="2.0").predict(BATCH[:1])[0].answer == {"label": "positive"}
    with pytest.raises(Unavailable, match="status 404"):
        model("classifier", version="3.0", retries=0).predict(BATCH[:1])


def test_a_handler_that_fails_is_told(model):
    with pytest.raises(Unavailable, match=r"status 5\d\d"):
        model("broken", retries=0).predict(BATCH[:1])


def test_options_that_do_not_fit_are_told(opened):
    with pytest.raises(Invalid, match="send `json`"):
        opened("torchserve", more={"inputs": ["a", "b"]}, url="https://example.org", model="m", sends="text")
    with pytest.raises(Invalid, match="management"):
        opened("torchserve", url="https://example.org", model="m", management="file:///etc/passwd")
