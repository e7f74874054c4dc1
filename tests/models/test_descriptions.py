"""Descriptions of trained models: one sentence with names that visitors know, and without digests."""

import json
import re
import zipfile

import pytest

from dynabench.models import catalog
from dynabench.models.training.learning import LearningSettings
from dynabench.models.training.mixing import MixPart
from dynabench.models.training.report import mix_summary
from dynabench.operations.demo_history import archive_path
from tests.models.mixes import mix, rows


def test_the_description_names_rounds_by_number_and_files_without_digests():
    parts = [
        MixPart(f"nli round {number} ({number:012x})", rows(2, number), round=own)
        for number, own in ((2, 2), (1, 1), (3, None))
    ]
    sources = [*parts, MixPart("reviews.jsonl (0123456789ab)", rows(2, 7))]
    assert mix_summary(mix(parts=sources), LearningSettings("head")) == (
        "A classifier over the frozen encoder all-MiniLM-L6-v2, trained on "
        "rounds 1 and 2 of sentiment, nli round 3 and reviews.jsonl."
    )
    further = LearningSettings("lora", str(catalog.BUILTIN / "sentiment-minilm"))
    assert mix_summary(mix(parts=parts[:1]), further) == (
        "sentiment-minilm, trained further on round 2 of sentiment with a LoRA adapter."
    )


@pytest.mark.parametrize("task", ["hate", "nli", "qa", "sentiment"])
def test_models_of_the_demo_are_described_without_digests(task):
    with zipfile.ZipFile(archive_path(task)) as file:
        submissions = [json.loads(line) for line in file.read("rows/submissions.jsonl").splitlines()]
        folders = {name.split("/")[1] for name in file.namelist() if name.startswith("models/")}
        described = {
            folder: re.search(r"^summary: (.+)$", file.read(f"models/{folder}/model.yaml").decode(), re.M)[1]
            for folder in folders
        }
    texts = {f"{row['model']}-{row['version']}": row["card"]["summary"] for row in submissions}
    assert described.items() <= texts.items()
    assert not [text for text in texts.values() if re.search(r"[0-9a-f]{8}", text) or not text.endswith(".")]
