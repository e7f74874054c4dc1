import shutil
from pathlib import Path

from dynabench.models.catalog import BUILTIN

from .table import BRIEFLY, Make, Maker, needs, plain


def shipped(name: str, kind: str = "") -> Make:
    """A copy of a shipped model; skips where its kind needs what is not installed."""

    def copy(place: Path) -> Path:
        if kind:
            needs(kind)
        return Path(shutil.copytree(BUILTIN / name, place / name))

    return plain(copy)


FORM = BRIEFLY & {
    "test_every_sample_is_answered_validly_and_alone_as_in_any_batch",
    "test_inputs_of_another_form_are_refused_by_name",
    "test_another_label_or_method_is_refused",
}
MAKERS = [
    Maker("adapter", "nli", shipped("nli-minilm")),
    Maker("extractor", "qa", shipped("qa-minilm")),
    Maker("ngram", "hate", shipped("hate-ngram")),
    Maker("ngram-pairs", "nli", shipped("nli-ngram")),
    Maker("textrank", "summarization", shipped("summarization-textrank")),
    Maker("photographs", "photographs", shipped("photographs-efficientnet", "efficientnet"), rows=6, tests=FORM),
    Maker("lexicon", "translation", shipped("translation-lexicon")),
]
