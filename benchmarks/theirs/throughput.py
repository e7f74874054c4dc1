"""Times a pipeline, one text at a time and in batches, and the package `evaluate` where it is installed; prints JSON.

Arguments: the target's folder, and a file with one JSON object of text and label a line.
"""

import importlib.util
import json
import sys
import time
from pathlib import Path

from target import load


def main() -> None:
    """Time all in one process; of two runs each the better counts."""
    folder, file = map(Path, sys.argv[1:3])
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    pipe = load(folder)
    texts = [row["text"] for row in rows]
    for text in texts[:50]:
        pipe(text)
    result = {
        "loop": min(_loop(pipe, texts) for _ in range(2)),
        "batched": min(_batched(pipe, texts) for _ in range(2)),
    }
    result["accuracy"] = sum(pipe(row["text"])[0]["label"] == row["label"] for row in rows) / len(rows)
    if importlib.util.find_spec("evaluate") is not None:
        result["evaluator"] = _evaluator(pipe, rows)
    json.dump(result, sys.stdout)


def _loop(pipe: object, texts: list[str]) -> float:
    begun = time.perf_counter()
    for text in texts:
        pipe(text)  # type: ignore[operator]
    return time.perf_counter() - begun


def _batched(pipe: object, texts: list[str]) -> float:
    """The same pipeline in batches of 32, texts of like length together so that little is padded."""
    begun = time.perf_counter()
    for _ in pipe(sorted(texts, key=len), batch_size=32):  # type: ignore[operator]
        pass
    return time.perf_counter() - begun


def _evaluator(pipe: object, rows: list[dict[str, str]]) -> float:
    import evaluate
    from datasets import Dataset

    names = sorted({row["label"] for row in rows})
    codes = {name: code for code, name in enumerate(names)}
    data = Dataset.from_dict({"text": [row["text"] for row in rows], "label": [codes[row["label"]] for row in rows]})
    metric = evaluate.load(str(Path(__file__).parent / "accuracy.py"))
    task = evaluate.evaluator("text-classification")
    done = task.compute(pipe, data, metric=metric, label_mapping=codes)
    return float(done["total_time_in_seconds"])


if __name__ == "__main__":
    main()
