"""A logistic head over the frozen encoder, trained on a few rows."""

from pathlib import Path

from dynabench.models.training.mixing import Mix, MixPart
from dynabench.models.training.rows import TrainingRow
from dynabench.models.training.run import retrain

from .table import BRIEFLY, TASKS, Maker, needs, plain

PAIRS = {
    "entailment": ("Two dogs run on the beach.", "Animals are outside."),
    "neutral": ("Two dogs run on the beach.", "The dogs are brothers."),
    "contradiction": ("Two dogs run on the beach.", "The dogs are asleep."),
}


def trained(place: Path) -> Path:
    needs("head")
    rows = [TrainingRow({"premise": premise, "hypothesis": reply}, label) for label, (premise, reply) in PAIRS.items()]
    labels = tuple(TASKS["nli"].answer[0].values)
    dev = [TrainingRow({"premise": "A man eats an apple.", "hypothesis": "Somebody eats."}, "entailment")]
    mix = Mix("nli", ("premise", "hypothesis"), "label", labels, [MixPart("dogs", rows)], dev=dev)
    retrain(mix, place / "three-pairs", name="three-pairs", method="head")
    return place / "three-pairs"


MAKERS = [Maker("head", "nli", plain(trained), tests=BRIEFLY)]
