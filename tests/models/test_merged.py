"""Models for evaluation, each merged into an encoder of its own, answer as the served ones do."""

import gzip
import json

import pytest

from dynabench.errors import Invalid
from dynabench.models import catalog
from dynabench.models.backends.adapter import AdapterModel
from dynabench.models.backends.merged import Merged
from dynabench.models.backends.pool import Pool

pytestmark = pytest.mark.models
FOLDER = catalog.BUILTIN / "sentiment-minilm"


@pytest.fixture(scope="module")
def statements(data):
    with gzip.open(data / "sst3" / "test.jsonl.gz", "rt") as file:
        return [{"statement": json.loads(line)["text"]} for line in file][::8]


@pytest.mark.parametrize(("quick", "tolerance"), [(True, 0.03), (False, 1e-4)], ids=["bf16", "fp32"])
def test_answers_are_those_of_the_served_model(statements, quick, tolerance):
    served = AdapterModel.load(FOLDER, Pool()).predict(statements)
    merged = AdapterModel.load(FOLDER, Merged(quick)).predict(statements)
    assert [one.answer for one in merged] == [one.answer for one in served]
    for one, other in zip(merged, served, strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=tolerance)


def test_models_of_several_kinds_stand_side_by_side():
    pool = Merged(True)
    sentiment = AdapterModel.load(FOLDER, pool)
    nli = AdapterModel.load(catalog.BUILTIN / "nli-minilm", pool)
    pair = {"premise": "A man is sleeping on a bench.", "hypothesis": "A man is awake."}
    mixed = nli.answer([(nli, nli.prepare(pair)), (sentiment, sentiment.prepare({"statement": "A wonderful film."}))])
    assert [one.answer["label"] for one in mixed] == ["contradiction", "positive"]
    sentiment.close()
    assert nli.predict([pair])[0].answer == mixed[0].answer


def test_extracted_answers_are_not_rounded():
    passage = {"passage": "The bridge was built in 1932 by Dorothea Lang.", "question": "Who built the bridge?"}
    folder = catalog.BUILTIN / "qa-minilm"
    served, merged = (catalog.open_model(folder, bulk=bulk).predict([passage])[0] for bulk in (False, True))
    assert merged.answer == served.answer
    assert merged.probabilities == pytest.approx(served.probabilities, abs=1e-4)


def test_a_broken_adapter_is_refused_and_leaves_nothing(copied):
    folder = copied("sentiment-minilm")
    (folder / "adapter" / "adapter_model.safetensors").write_bytes(b"nothing")
    pool = Merged()
    with pytest.raises(Invalid):
        AdapterModel.load(folder, pool)
    assert pool.logits([], []) == []
