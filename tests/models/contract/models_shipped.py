import shutil
from pathlib import Path

from dynabench.models.catalog import BUILTIN

from .table import Make, Maker, plain


def shipped(name: str) -> Make:
    """A copy of a shipped model."""

    def copy(place: Path) -> Path:
        return Path(shutil.copytree(BUILTIN / name, place / name))

    return plain(copy)


MAKERS = [
    Maker("adapter", "nli", shipped("nli-minilm")),
    Maker("extractor", "qa", shipped("qa-minilm")),
    Maker("ngram", "hate", shipped("hate-ngram")),
    Maker("ngram-pairs", "nli", shipped("nli-ngram")),
    Maker("textrank", "summarization", shipped("summarization-textrank")),
    Maker("lexicon", "translation", shipped("translation-lexicon")),
]
