"""Demo rounds are against one model, the strongest that comes for the task."""

from dynabench.models import catalog
from dynabench.operations.demo import strongest


def test_no_demo_round_counts_what_fools_n_grams_where_a_stronger_model_comes():
    cards = [entry.card for entry in catalog.find([catalog.BUILTIN]) if entry.card]
    targets = {task: [card.name for card in strongest([item for item in cards if item.task == task])]
               for task in ("nli", "sentiment", "hate", "boolq", "qa")}  # fmt: skip
    assert targets == {
        "nli": ["nli-minilm"],
        "sentiment": ["sentiment-minilm"],
        "hate": ["hate-minilm"],
        "boolq": ["boolq-minilm"],
        "qa": ["qa-minilm"],
    }
