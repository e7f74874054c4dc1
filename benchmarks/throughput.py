"""Evaluating the sentiment target: our evaluator, a loop over a transformers pipeline, the package `evaluate`."""

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.evaluation import ROOT, THEIRS, theirs
from benchmarks.row import Row
from dynabench.evaluate import evaluator
from dynabench.models import catalog, encoder
from dynabench.models.backends.adapter import AdapterModel
from dynabench.models.backends.pool import shared_pool

DATA = ROOT.parent / "shared" / "data" / "sst3" / "test.jsonl.gz"


def rows() -> list[Row]:
    """Examples per second; the same model, the same rows, the same machine."""
    model = AdapterModel.load(catalog.BUILTIN / "sentiment-minilm")
    with gzip.open(DATA, "rt") as file:
        data = [json.loads(line) for line in file]
    rows = [{"text": row["text"], "label": model.card.labels[model.card.labels.index(row["label"])]} for row in data]
    with tempfile.TemporaryDirectory() as folder:
        written(model, Path(folder))
        file = Path(folder) / "rows.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        other, now = theirs("throughput.py", folder, str(file)), _here(folder, str(file))
    task = evaluator("text-classification")
    found = max(
        (task.compute(model, rows, metric="accuracy") for _ in range(2)), key=lambda one: one["samples_per_second"]
    )
    if abs(found["accuracy"] - other["accuracy"]) > 0.002:
        raise RuntimeError(f"both sides must say the same: {found['accuracy']} and {other['accuracy']}")
    speed = found["samples_per_second"]
    against = {
        "a pipeline loop, transformers 5": now["loop"],
        "a pipeline loop, transformers 4": other["loop"],
        "package evaluate": other["evaluator"],
    }
    return [_row(speed, name, len(rows) / seconds) for name, seconds in against.items()]


def _row(speed: float, name: str, anchor: float) -> Row:
    kept = speed >= 3 * anchor
    return Row("evaluator, sentiment target", speed, "examples/s", name, anchor, "at least 3x", kept, "SST-3 test")


def _here(*arguments: str) -> dict[str, Any]:
    """The pipeline loop in this environment."""
    command = [sys.executable, "-W", "ignore", THEIRS / "throughput.py", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=THEIRS)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def written(model: AdapterModel, folder: Path) -> None:
    """The target with its adapter merged into the encoder, as files that `benchmarks/theirs/target.py` reads."""
    from peft import PeftModel
    from safetensors.torch import save_file

    body = PeftModel.from_pretrained(encoder.load(), str(catalog.BUILTIN / "sentiment-minilm" / "adapter"))
    merged = body.merge_and_unload()
    head = shared_pool().head(next(iter(shared_pool()._heads)))
    tensors = {f"bert.{name}": value.contiguous() for name, value in merged.state_dict().items()}
    save_file(
        tensors | {name: value.contiguous() for name, value in head.state_dict().items()}, folder / "model.safetensors"
    )
    config = json.loads((encoder.find() / "config.json").read_text())
    labels = dict(enumerate(model.card.labels))
    config |= {"id2label": labels, "label2id": {name: code for code, name in labels.items()}}
    (folder / "config.json").write_text(
        json.dumps({key: value for key, value in config.items() if key != "architectures"})
    )
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        if (encoder.find() / name).exists():
            (folder / name).write_bytes((encoder.find() / name).read_bytes())
