"""Small models that look at pictures, trained within seconds on real ones."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import (
    ResNetConfig,
    ResNetForImageClassification,
    ViltConfig,
    ViltForQuestionAnswering,
    ViltImageProcessor,
    ViltProcessor,
    ViTImageProcessor,
)

from dynabench.models import pictures
from tests.models.transformers.made import described, tokenizer, trained


def digits(folder: Path) -> tuple[Path, list[tuple[str, str]]]:
    """A tiny ResNet that reads scikit-learn's digits, and pictures that it was not trained on with what they show."""
    from sklearn.datasets import load_digits

    images, view = load_digits(return_X_y=True)
    drawn = [_picture(row) for row in images[:900]]
    read = ViTImageProcessor(size={"height": 16, "width": 16})
    torch.manual_seed(0)
    named = {"id2label": {at: str(at) for at in range(10)}, "label2id": {str(at): at for at in range(10)}}
    config = ResNetConfig(embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1], layer_type="basic", **named)
    pixels = read(images=drawn[:800], return_tensors="pt")["pixel_values"]
    marks = torch.tensor(view[:800])

    def batches() -> Iterator[dict[str, Any]]:
        for _ in range(80):
            picked = torch.randint(0, 800, (64,))
            yield {"pixel_values": pixels[picked], "labels": marks[picked]}

    trained(ResNetForImageClassification(config), batches, 3e-3, 0.03).save_pretrained(folder)
    read.save_pretrained(folder)
    labels = [str(at) for at in range(10)]
    described(folder, "image-classification", inputs=["picture"], images=["picture"], answer="digit", labels=labels)
    return folder, [(pictures.text_of(first), str(at)) for first, at in zip(drawn[800:], view[800:900], strict=True)]


def _picture(row: Any) -> Image.Image:
    whole = np.kron(row.reshape(8, 8) / 16 * 255, np.ones((4, 4)))
    return Image.fromarray(whole.astype(np.uint8)).convert("RGB")


COLOURS = ("blue", "green", "red")
YES = ("no", "yes")


def colours(folder: Path, wheel: Path) -> tuple[Path, list[dict[str, str]]]:
    """A tiny ViLT that answers which colour a shape has and whether one is there, and questions it has not seen."""
    with zipfile.ZipFile(wheel) as packed:
        document = json.loads(packed.read("easy_vqa/data/train/questions.json"))
        known_values = [*COLOURS, *YES]
        picked = [row for row in document if row[1] in COLOURS][:400]
        names = {row[2] for row in picked}
        held = {name: Image.open(io.BytesIO(packed.read(f"easy_vqa/data/train/images/{name}.png"))) for name in names}
        seen = {name: first.convert("RGB") for name, first in held.items()}
    read = ViltProcessor(ViltImageProcessor(size={"shortest_edge": 32}, size_divisor=8), tokenizer())
    torch.manual_seed(0)
    config = ViltConfig(
        vocab_size=len(read.tokenizer), hidden_size=48, intermediate_size=96, num_hidden_layers=2, patch_size=8,
        num_attention_heads=4, image_size=32, max_image_length=-1, hidden_dropout_prob=0.0, max_position_embeddings=40,
        id2label=dict(enumerate(known_values)), label2id={name: at for at, name in enumerate(known_values)},
    )  # fmt: skip
    view = [seen[row[2]] for row in picked]
    how = {"padding": True, "truncation": True, "max_length": 40, "return_tensors": "pt"}
    batch = read(images=view, text=[row[0] for row in picked], **how)
    marks = torch.nn.functional.one_hot(
        torch.tensor([known_values.index(row[1]) for row in picked]), len(known_values)
    ).float()

    def batches() -> Iterator[dict[str, Any]]:
        for _ in range(80):
            chosen = torch.randint(0, 340, (32,))
            yield {**{name: value[chosen] for name, value in batch.items()}, "labels": marks[chosen]}

    trained(ViltForQuestionAnswering(config), batches, 2e-3, 0.05).save_pretrained(folder)
    read.save_pretrained(folder)
    described(
        folder, "visual-question-answering", inputs=["picture", "question"], images=["picture"], answer="answer",
        labels=known_values,
    )  # fmt: skip
    return folder, [
        {"picture": pictures.text_of(seen[row[2]]), "question": row[0], "answer": row[1]} for row in picked[340:]
    ]
