"""A real small language model as adversary against a shipped target: it writes by JSON schema, always the likeliest."""

import pytest

from benchmarks import language_model
from dynabench.adversaries.attacking import Local
from dynabench.adversaries.known import make
from dynabench.adversaries.proposing import Budget, Context, Metered
from dynabench.models.catalog import BUILTIN, open_model
from dynabench.settings import get_settings

pytestmark = pytest.mark.skipif(bool(language_model.missing()), reason=language_model.missing())
CALM = Context("c", {}, {"statement": "The soup was delicious and the waiter was charming."}, {"label": "positive"})


@pytest.fixture
def url(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path))
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    get_settings.cache_clear()
    with language_model.speaking(tmp_path) as address:
        yield address
    get_settings.cache_clear()


def test_a_language_model_writes_examples_that_are_read_counted_and_paid_for(url):
    target = Local(open_model(BUILTIN / "sentiment-ngram"))
    model = make("language-model", url=url, model="smollm2", strategy="iterate", tries=3, fields=["statement"],
                 temperature=0, max_tokens=40, price_in=1, price_out=1, seconds=300)  # fmt: skip
    metered = Metered(target, Budget())
    found = list(model.propose(CALM, metered, Budget()))
    model.close()
    assert model.tally["requests"] == 3
    assert model.tally.total() == 6 - len(found)
    assert metered.queries == len(found)
    assert 0 < metered.cost < 0.003
    assert sum(each.cost for each in found) <= metered.cost
    for each in found:
        assert each.output.answer["label"] in target.labels
        assert each.fooled == (each.output.answer["label"] != "positive")
        assert each.inputs["statement"].strip()
