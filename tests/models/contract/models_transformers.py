from pathlib import Path

from dynabench.models import encoder, starting

from .table import TASKS, Maker, needs, plain


def saved(place: Path) -> Path:
    """The shared encoder with a classification head of random weights, saved as any such model is, and described."""
    needs("transformers")
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    labels = dict(enumerate(["NEUTRAL", "positive", "neg"]))
    torch.manual_seed(3)
    network = AutoModelForSequenceClassification.from_pretrained(encoder.find(), id2label=labels, num_labels=3)
    torch.nn.init.normal_(network.classifier.weight, std=0.5)
    network.save_pretrained(place / "saved")
    AutoTokenizer.from_pretrained(encoder.find()).save_pretrained(place / "saved")
    return starting.start("theirs", TASKS["sentiment"], "transformers", place, source=str(place / "saved"))


MAKERS = [Maker("transformers", "sentiment", plain(saved))]
