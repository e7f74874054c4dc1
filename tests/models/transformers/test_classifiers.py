"""Sequence classifiers: labels by name, answers that batches do not change, strips over words."""

import json

import pytest
import torch

from dynabench.kit.errors import Invalid
from dynabench.models import catalog
from dynabench.models.backends.architectures import readers
from dynabench.models.backends.architectures.base import portions
from dynabench.models.client import Host
from tests.evaluate import real
from tests.models.texts import HARD
from tests.models.transformers import made

pytestmark = pytest.mark.release

TEXT = "a wonderful, moving film - one of the best"


@pytest.fixture(scope="module")
def rows():
    return [{"text": row["text"]} for row in real.rows("sst2/dev.jsonl.gz", 120)]


def test_it_answers_better_than_chance_and_its_probabilities_are_its_own_network_s(sentiment, rows):
    right = [row["label"] for row in real.rows("sst2/dev.jsonl.gz", 120)]
    predictions = sentiment.predict(rows)
    assert sum(first.answer["label"] == label for first, label in zip(predictions, right, strict=True)) > 72
    network = sentiment._network
    batch = network.run.processor(rows[3]["text"], return_tensors="pt")
    with torch.inference_mode():
        odds = network.model(**batch).logits.softmax(-1)[0].tolist()
    assert list(predictions[3].probabilities.values()) == pytest.approx(odds, abs=1e-4)


def test_the_same_input_has_the_same_answer_in_any_batch(sentiment, rows):
    together = sentiment.predict(rows[:40])
    alone = [sentiment.predict([row])[0] for row in rows[:40:8]]
    for first, other in zip(alone, together[::8], strict=True):
        assert first.answer == other.answer
        assert first.probabilities["positive"] == pytest.approx(other.probabilities["positive"], abs=2e-4)


def test_many_rows_run_in_passes_of_like_size_and_little_padding():
    sizes = [5, 400, 7, 90, 6, 401, 88]
    parts = portions(sizes, 800)
    assert sorted(row for part in parts for row in part) == list(range(7))
    assert all(max(sizes[row] for row in part) * len(part) <= 800 for part in parts)
    assert portions([5000], 800) == [[0]]


def test_bulk_answers_are_the_same(sentiment, sentiment_folder, rows):
    quick = catalog.open_model(sentiment_folder, bulk=True)
    for prediction, other in zip(quick.predict(rows[:20]), sentiment.predict(rows[:20]), strict=True):
        assert prediction.probabilities["positive"] == pytest.approx(other.probabilities["positive"], abs=1e-3)
    assert quick.attribute({"text": TEXT}, "positive", "gradient").fields["text"], "packed layers have no gradients"
    quick.close()


def test_texts_that_break_careless_code_are_answered(sentiment):
    for text in HARD:
        assert sentiment.predict([{"text": text}])[0].answer["label"] in made.SENTIMENT


def test_a_strip_covers_the_text_s_own_words(sentiment):
    for text in [*HARD[:9], TEXT]:
        result = sentiment.attribute({"text": text}, "positive", "gradient")
        assert all(text[word.start : word.end] == word.text for word in result.fields["text"])
        assert all(abs(word.weight) <= 1 + 1e-9 for word in result.fields["text"])


def test_integrated_gradients_add_up(sentiment):
    result = sentiment.attribute({"text": TEXT}, "positive", "layer_integrated_gradients")
    assert result.completeness_error < 0.05
    assert max(abs(word.weight) for word in result.fields["text"]) == pytest.approx(1)
    other = sentiment.attribute({"text": TEXT}, "negative", "layer_integrated_gradients")
    for first, against in zip(result.fields["text"], other.fields["text"], strict=True):
        assert first.weight == pytest.approx(-against.weight, abs=0.02)


def test_methods_that_take_words_away_are_there_too(sentiment):
    result = sentiment.attribute({"text": TEXT}, "positive", "occlusion")
    assert result.method == "occlusion"
    assert len(result.fields["text"]) == len(sentiment.attribute({"text": TEXT}, "positive", "gradient").fields["text"])


def test_explaining_does_not_change_answers(sentiment):
    before = sentiment.predict([{"text": TEXT}])
    for method in ("gradient", "layer_integrated_gradients"):
        sentiment.attribute({"text": TEXT}, "positive", method)
    assert sentiment.predict([{"text": TEXT}]) == before


@pytest.mark.parametrize(("label", "method"), [("neutral", "gradient"), ("positive", "exact")])
def test_what_cannot_be_explained_is_told(sentiment, label, method):
    with pytest.raises(Invalid, match="One of"):
        sentiment.attribute({"text": TEXT}, label, method)


def test_two_texts_are_read_as_a_pair(sentiment_folder, changed):
    model = catalog.open_model(changed(sentiment_folder, inputs=["premise", "hypothesis"]))
    values = {"premise": "A dull film.", "hypothesis": "It is dull, dull."}
    result = model.attribute(values, "positive", "gradient")
    assert [word.text for word in result.fields["hypothesis"]] == ["It", "is", "dull", ",", "dull", "."]
    long = {"premise": "word " * 3000, "hypothesis": "short"}
    row, size = model._network.encode(long)
    assert size == 256
    assert model._network.run.processor.decode(row["input_ids"]).endswith("short [SEP]")


def test_other_words_for_the_same_labels_are_mapped(sentiment_folder, changed):
    answer = {}
    for names, options in (
        (("Negative", "POSITIVE"), {}),
        (("bad", "good"), {"labels": {"negative": "bad", "positive": "good"}}),
        (("positive", "negative"), {}),
    ):
        model = catalog.open_model(changed(sentiment_folder, labels=list(names), options=options))
        answer[names] = model.predict([{"text": TEXT}])[0].probabilities
    assert answer["bad", "good"]["good"] == answer["Negative", "POSITIVE"]["POSITIVE"]
    assert answer["positive", "negative"]["positive"] == answer["bad", "good"]["good"]


@pytest.mark.parametrize("missing", [["bad", "good"], ["negative", "positive", "neutral"]])
def test_labels_that_nothing_maps_are_listed_on_both_sides(sentiment_folder, changed, missing):
    with pytest.raises(Invalid, match=r"The model's labels are negative, positive, the task's .*Say which means"):
        catalog.open_model(changed(sentiment_folder, labels=missing))


def test_several_of_the_model_s_labels_may_mean_one_of_the_task_s():
    meant = readers.matched(
        ["1 star", "2 stars", "5 stars"], ["bad", "good"], {"1 star": "bad", "2 stars": "bad", "5 stars": "good"}
    )
    logits = torch.tensor([[0.1, 0.2, 0.7]]).log()
    assert readers.gathered(logits, meant, 2).softmax(-1)[0].tolist() == pytest.approx([0.3, 0.7])


def test_a_label_map_that_names_strangers_is_refused():
    with pytest.raises(Invalid, match=r"LABEL_7, which options\.labels names"):
        readers.matched(["a", "b"], ["a", "b"], {"LABEL_7": "a"})


def test_a_model_of_several_labels_at_once_is_refused(sentiment_folder, changed):
    folder = changed(sentiment_folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"problem_type": "multi_label_classification"}))
    with pytest.raises(Invalid, match="a choice of one is needed"):
        catalog.open_model(folder)


async def _ask(url):
    host = Host(url, 20)
    try:
        answer = await host.answer("sentiment", None, {"text": TEXT})
        return answer, await host.attribute("sentiment", None, {"text": TEXT}, None, None)
    finally:
        await host.close()


def test_the_host_serves_it_over_the_open_protocol(serve_models, sentiment, sentiment_folder, tmp_path):
    import asyncio
    import time

    place = tmp_path / "models"
    place.mkdir()
    (place / "sentiment").symlink_to(sentiment_folder)
    with serve_models(place) as url:

        async def ready():
            host = Host(url, 20)
            until = time.monotonic() + 60
            while not await host.ready() and time.monotonic() < until:
                await asyncio.sleep(0.1)
            await host.close()

        asyncio.run(ready())
        answer, result = asyncio.run(_ask(url))
    assert answer.probabilities == sentiment.predict([{"text": TEXT}])[0].probabilities
    assert result.method == "gradient"
    assert [word.text for word in result.fields["text"]][:3] == ["a", "wonderful", ","]
