"""Trains the shipped models of pictures: `python scripts/train_pictures.py digits` and `... shapes EASY_VQA.whl`.

`digits-resnet` reads scikit-learn's handwritten digits, `vqa-vilt` answers questions about coloured shapes (easy-VQA,
MIT). Both are written with their cards and the scores that the code which serves them gets on rows that neither saw.
"""

import argparse
import io
import json
import shutil
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score
from transformers import (
    BertTokenizerFast,
    ResNetConfig,
    ResNetForImageClassification,
    ViltConfig,
    ViltForQuestionAnswering,
    ViltImageProcessor,
    ViltProcessor,
    ViTImageProcessor,
)

from dynabench.models import catalog, pictures, spec
from dynabench.models.catalog import BUILTIN
from dynabench.stats.rates import wilson
from dynabench.tasks.shipped import TRAINING_DIGITS, digit_image

SEED = 7


def fit(model: Any, batches: Iterator[dict[str, torch.Tensor]], steps: int, rate: float) -> None:
    """AdamW with a linear warm-up and a cosine to nothing."""
    model.train()
    step = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    plan = torch.optim.lr_scheduler.OneCycleLR(step, rate, total_steps=steps, pct_start=0.1)
    began, sums = time.perf_counter(), 0.0
    for number, batch in enumerate(batches, start=1):
        loss = model(**batch).loss
        step.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        step.step()
        plan.step()
        sums += loss.item()
        if number % 100 == 0:
            print(f"{number}/{steps} loss {sums / 100:.4f} {time.perf_counter() - began:.0f} s", flush=True)
            sums = 0.0
    model.eval()


def digits(folder: Path) -> dict[str, Any]:
    """A small ResNet of the first digits, shifted by up to a pixel; scored on those that contexts are made of."""
    _, view = load_digits(return_X_y=True)
    read = ViTImageProcessor(size={"height": 16, "width": 16})
    pixels = read(images=[digit_image(at).convert("RGB") for at in range(len(view))], return_tensors="pt")[
        "pixel_values"
    ]
    marks = torch.tensor(view)
    named = {"id2label": {at: str(at) for at in range(10)}, "label2id": {str(at): at for at in range(10)}}
    config = ResNetConfig(embedding_size=24, hidden_sizes=[24, 48], depths=[1, 1], layer_type="basic", **named)
    model = ResNetForImageClassification(config)
    steps = 400

    def batches() -> Iterator[dict[str, torch.Tensor]]:
        for _ in range(steps):
            picked = torch.randint(0, TRAINING_DIGITS, (64,))
            moved = torch.roll(pixels[picked], tuple(torch.randint(-2, 3, (2,)).tolist()), (2, 3))
            yield {"pixel_values": moved, "labels": marks[picked]}

    fit(model, batches(), steps, 3e-3)
    model.save_pretrained(folder)
    read.save_pretrained(folder)
    labels = [str(at) for at in range(10)]
    describe(folder, "image-classification", ["image"], labels, DIGITS)
    rows = [
        ({"image": pictures.text_of(digit_image(at).convert("RGB"))}, str(view[at]))
        for at in range(TRAINING_DIGITS, len(view))
    ]
    return {"digits, rows from 1,200 on": score(folder, rows)}


def shapes(folder: Path, wheel: Path) -> dict[str, Any]:
    """A small ViLT of easy-VQA's training questions; scored on its test questions."""
    with zipfile.ZipFile(wheel) as packed:
        train, seen = _questions(packed, "train")
        test, others = _questions(packed, "test")
    answers = sorted({row[1] for row in train})
    folder.mkdir(parents=True)
    read = ViltProcessor(ViltImageProcessor(size={"shortest_edge": 64}, size_divisor=16), _tokenizer(folder, train))
    config = ViltConfig(
        vocab_size=len(read.tokenizer), hidden_size=96, intermediate_size=192, num_hidden_layers=2, patch_size=16,
        num_attention_heads=4, image_size=64, max_image_length=-1, hidden_dropout_prob=0.0, max_position_embeddings=40,
        attention_probs_dropout_prob=0.0, id2label=dict(enumerate(answers)),
        label2id={name: at for at, name in enumerate(answers)},
    )  # fmt: skip
    model = ViltForQuestionAnswering(config)
    names = sorted(seen)
    pixels = read.image_processor(images=[seen[name] for name in names], return_tensors="pt")["pixel_values"]
    place = {name: at for at, name in enumerate(names)}
    words = read.tokenizer([row[0] for row in train], padding=True, return_tensors="pt")
    source = torch.tensor([place[row[2]] for row in train])
    marks = torch.nn.functional.one_hot(torch.tensor([answers.index(row[1]) for row in train]), len(answers)).float()

    def batches() -> Iterator[dict[str, torch.Tensor]]:
        for _ in range(STEPS):
            picked = torch.randint(0, len(train), (64,))
            text = {name: value[picked] for name, value in words.items()}
            yield {**text, "pixel_values": pixels[source[picked]], "labels": marks[picked]}

    fit(model, batches(), STEPS, 2e-3)
    model.save_pretrained(folder)
    read.save_pretrained(folder)
    describe(folder, "visual-question-answering", ["image", "question"], answers, SHAPES)
    rows = [({"image": pictures.text_of(others[name]), "question": question}, text) for question, text, name in test]
    yes = [row for row in rows if row[1] in ("yes", "no")]
    rest = [row for row in rows if row[1] not in ("yes", "no")]
    return {"easy-VQA test": score(folder, rows), "yes or no": score(folder, yes), "the others": score(folder, rest)}


def _questions(packed: zipfile.ZipFile, part: str) -> tuple[list[list[Any]], dict[int, Image.Image]]:
    request = json.loads(packed.read(f"easy_vqa/data/{part}/questions.json"))
    names = {row[2] for row in request}
    held = {name: io.BytesIO(packed.read(f"easy_vqa/data/{part}/images/{name}.png")) for name in names}
    return request, {name: Image.open(item).convert("RGB") for name, item in held.items()}


def _tokenizer(folder: Path, rows: list[list[Any]]) -> BertTokenizerFast:
    """The questions' own words; any other is spelt."""
    entries = sorted({word for row in rows for word in row[0].lower().replace("?", " ").split()})
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)] + list("0123456789?.,'!-")
    pieces = [*(item for item in letters if item not in entries), *(f"##{item}" for item in letters)]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *entries, *pieces]) + "\n")
    return BertTokenizerFast(vocab=str(vocabulary))


def score(folder: Path, rows: list[tuple[dict[str, str], str]]) -> dict[str, Any]:
    """Accuracy and macro F1 of the folder as it is served."""
    model = catalog.open_model(folder, bulk=True)
    text: list[str] = []
    for start in range(0, len(rows), 64):
        text += [
            output.answer[model.card.answer] for output in model.predict([row for row, _ in rows[start : start + 64]])
        ]
    right = sum(item == other for item, (_, other) in zip(text, rows, strict=True))
    interval = wilson(right, len(rows))
    macro = f1_score([right for _, right in rows], text, average="macro", zero_division=0)
    answer = {"accuracy": right / len(rows), "macro_f1": float(macro), "low": interval.low, "high": interval.high}
    return {name: round(value, 4) for name, value in answer.items()} | {"n": len(rows)}


def describe(folder: Path, architecture: str, inputs: list[str], labels: list[str], texts: dict[str, Any]) -> None:
    """Write `model.yaml`."""
    details = {
        "name": folder.name, "task": texts["task"], "kind": "transformers", "inputs": inputs, "images": ["image"],
        "answer": texts["answer"], "labels": labels, "licence": "Apache-2.0", "summary": texts["summary"],
        "data": texts["data"], "seed": SEED, "options": {"architecture": architecture}, "max_length": 40,
    }  # fmt: skip
    spec.write(folder, details)


def finish(folder: Path, scores: dict[str, Any], texts: dict[str, Any], minutes: float) -> None:
    """Put the scores into `model.yaml`, and write the card."""
    described = yaml.safe_load((folder / spec.FILE).read_text(encoding="utf-8"))
    spec.write(folder, described | {"scores": scores})
    table = [
        f"| {name} | {s['accuracy']:.4f} | {s['low']:.4f} to {s['high']:.4f} | {s['macro_f1']:.4f} | {s['n']:,} |"
        for name, s in scores.items()
    ]
    parts = [
        f"---\nlicense: apache-2.0\nlanguage: [en]\npipeline_tag: {texts['tag']}\n---\n# {folder.name}\n",
        f"{texts['summary']}\n\n## Scores\n",
        "Of the weights in this folder, by the code that serves them; 95 % Wilson intervals.\n",
        "| set | accuracy | interval | macro F1 | n |\n|---|---|---|---|---|\n" + "\n".join(table) + "\n",
        f"## Data\n\n{texts['about']}\n\n## Training\n",
        f"{texts['training']} {minutes:.1f} minutes on a processor, seed {SEED}. `scripts/train_pictures.py`.\n",
        f"## Limits\n\n{texts['limits']}\n\n## Licence\n\n{texts['licence']}",
    ]
    (folder / "README.md").write_text("\n".join(parts) + "\n")


STEPS = 2500
DIGITS: dict[str, Any] = {
    "task": "image-classification",
    "answer": "digit",
    "tag": "image-classification",
    "summary": "A small ResNet that reads handwritten digits of 8 x 8 points.",
    "data": ["scikit-learn digits, the first 1,200"],
    "about": "The first 1,200 of the 1,797 digits that come with scikit-learn (UCI's optical recognition of "
    "handwritten digits, CC BY 4.0), dark on white. The other 597 are what it is scored on and what the task shows.",
    "training": "Two stages of 24 and 48 channels on 16 x 16 points, 400 batches of 64, moved by up to a pixel.",
    "limits": "It has seen digits of 43 writers on one form, scaled to 8 x 8 points and centred. Anything else - "
    "photographs, light ink on dark paper, other hands, letters - is read as some digit, often with great confidence.",
    "licence": "Apache-2.0.",
}
SHAPES: dict[str, Any] = {
    "task": "vqa",
    "answer": "answer",
    "tag": "visual-question-answering",
    "summary": "A small ViLT that answers questions about one coloured shape with one of 13 words.",
    "data": ["easy-VQA train"],
    "about": "easy-VQA by Victor Zhou (MIT): 4,000 pictures of 64 x 64 points with one shape each, 38,575 questions of "
    "a few fixed forms, 13 answers. Its test part has other pictures and the same forms of question.",
    "training": "Two layers of 96 numbers over patches of 16 x 16 points and the question's words; "
    f"{STEPS:,} batches of 64.",
    "limits": "It knows three shapes, eight colours, some two dozen words and the forms of question in easy-VQA. A "
    "second shape, a count, a place, a word it never met (which it reads letter by letter), a photograph: it answers "
    "all the same, with one of its 13 words. Its scores say nothing of visual question answering in general. It is "
    "easy to fool, and meant to be.",
    "licence": "Apache-2.0. Learnt from easy-VQA, which is under the MIT licence; none of its pictures is here.",
}


def main() -> None:
    """Train one of the two into a folder (by default where shipped models are)."""
    request = argparse.ArgumentParser(description=__doc__)
    request.add_argument("what", choices=["digits", "shapes"])
    request.add_argument("wheel", nargs="?", type=Path)
    request.add_argument("--into", type=Path, default=BUILTIN)
    values = request.parse_args()
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    folder = values.into / ("digits-resnet" if values.what == "digits" else "vqa-vilt")
    shutil.rmtree(folder, ignore_errors=True)
    began = time.perf_counter()
    scores = digits(folder) if values.what == "digits" else shapes(folder, values.wheel)
    finish(folder, scores, DIGITS if values.what == "digits" else SHAPES, (time.perf_counter() - began) / 60)
    print(json.dumps(scores, indent=2))


if __name__ == "__main__":
    main()
