from pathlib import Path

from dynabench.models import starting

from .table import BRIEFLY, TASKS, Maker, needs, plain


def mean(place: Path) -> Path:
    """The two shipped models of sentiment."""
    needs("ensemble")
    return starting.start("both", TASKS["sentiment"], "ensemble", place, members="sentiment-ngram,sentiment-minilm")


MAKERS = [Maker("ensemble", "sentiment", plain(mean), tests=BRIEFLY)]
