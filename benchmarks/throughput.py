"""Evaluating the sentiment target: our evaluator, a transformers pipeline with and without batches, `evaluate`."""

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.evaluation import ROOT, THEIRS, theirs
from benchmarks.row import Row
from dynabench.evaluate import evaluator
from dynabench.models import catalog, encoder, runtime

FOLDER = catalog.BUILTIN / "sentiment-minilm"
DATA = ROOT.parent / "shared" / "data" / "sst3" / "test.jsonl.gz"


def rows() -> list[Row]:
    """Examples per second; the same model, the same rows, the same machine."""
    runtime.quiet()
    model = catalog.open_model(FOLDER, bulk=True)
    with gzip.open(DATA, "rt") as file:
        data = [json.loads(line) for line in file]
    rows = [{"text": row["text"], "label": row["label"]} for row in data]
    with tempfile.TemporaryDirectory() as folder:
        written(model.card.labels, Path(folder))
        file = Path(folder) / "rows.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        result = [_ours(model, rows)]
        other, now = theirs("throughput.py", folder, str(file)), _here(folder, str(file))
        result.append(_ours(model, rows))
    if abs(result[0]["accuracy"] - other["accuracy"]) > 1e-12:
        raise RuntimeError(f"both sides must say the same: {result[0]['accuracy']} and {other['accuracy']}")
    speed = max(item["samples_per_second"] for item in result)
    against = {
        "a pipeline loop, transformers 5": now["loop"],
        "a pipeline loop, transformers 4": other["loop"],
        "a pipeline in batches of 32, transformers 5": now["batched"],
        "a pipeline in batches of 32, transformers 4": other["batched"],
        "package evaluate": other["evaluator"],
    }
    return [_row(speed, name, len(rows) / seconds) for name, seconds in against.items()]


def _ours(model: Any, rows: list[dict[str, str]]) -> dict[str, Any]:
    result: dict[str, Any] = evaluator("text-classification").compute(model, rows, metric="accuracy")
    return result


def _row(speed: float, name: str, anchor: float) -> Row:
    least = 1.5 if "batches" in name else 3.0
    budget, rest = f"at least {least:g}x", speed >= least * anchor
    return Row("evaluator, sentiment target", speed, "examples/s", name, anchor, budget, rest, "SST-3 test")


def _here(*arguments: str) -> dict[str, Any]:
    """The pipeline loop in this environment."""
    command = [sys.executable, "-W", "ignore", THEIRS / "throughput.py", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=THEIRS)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def written(labels: Sequence[str], folder: Path) -> None:
    """The target with its adapter merged into the encoder, as files that `benchmarks/theirs/target.py` reads."""
    from peft import PeftModel
    from safetensors.torch import load_file, save_file

    body = PeftModel.from_pretrained(encoder.load(), str(FOLDER / "adapter")).merge_and_unload()
    tensors = {f"bert.{name}": value.contiguous() for name, value in body.state_dict().items()}
    head = {name: value.float() for name, value in load_file(FOLDER / "head.safetensors").items()}
    save_file(tensors | head, folder / "model.safetensors")
    config = json.loads((encoder.find() / "config.json").read_text())
    names = dict(enumerate(labels))
    config |= {"id2label": names, "label2id": {name: code for code, name in names.items()}}
    del config["architectures"]
    (folder / "config.json").write_text(json.dumps(config))
    for path in encoder.find().glob("*token*.json"):
        (folder / path.name).write_bytes(path.read_bytes())
