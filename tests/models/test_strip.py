"""The strip is worth looking at: removing its words matters more than removing words at random."""

import pytest

from dynabench.models import catalog, removal
from dynabench.models.protocol import Attribution, WordWeight
from dynabench.models.training import recipes, rows
from tests.large_data import folder_with

pytestmark = pytest.mark.release

EXAMPLES = 40


@pytest.mark.models
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "name", [f"{task}-{kind}" for task in ("nli", "sentiment", "hate") for kind in ("minilm", "ngram")]
)
def test_removing_the_strips_top_words_beats_random_ones_in_four_of_five_examples(name):
    model = catalog.open_model(catalog.BUILTIN / name)
    recipe = recipes.load(name)
    test = [row.inputs for row in rows.read_source(recipe.test[0], folder_with(*recipe.test[0].files), recipe)]
    faithfulness = removal.check_faithfulness(model, removal.sample_rows(test, EXAMPLES))
    assert faithfulness.n > EXAMPLES * 0.8
    assert faithfulness.share >= 0.8, faithfulness
    assert faithfulness.drop > faithfulness.random_drop


def test_words_are_cut_out_where_they_stand():
    attribution = Attribution(
        "exact",
        "x",
        {
            "a": [WordWeight("big", 0, 3, 0.9), WordWeight("dog", 5, 8, 0.1), WordWeight("big", 9, 12, -1.0)],
            "b": [WordWeight("🐕", 0, 1, 0.5), WordWeight("!", 1, 2, 0.6)],
        },
    )
    chosen = removal.top_words(attribution)
    assert [(field, word.text) for field, word in chosen] == [("a", "big"), ("b", "!"), ("b", "🐕")]
    assert removal.without_words({"a": "big  dog big", "b": "🐕!"}, chosen) == {"a": "dog big", "b": ""}
