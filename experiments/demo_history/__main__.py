"""`python -m experiments.demo_history`: write the shipped contexts, or build the archive of the demo's history."""

import argparse
import asyncio
import json
import time
from pathlib import Path

from dynabench.operations import demo_history
from dynabench.stats import minhash
from experiments.demo_history import claims
from experiments.demo_history.build import build
from experiments.demo_history.scripts import SCRIPTS

NEAR = 0.7
"""Similarity from which on two texts are near-duplicates (`stats.minhash`)."""
BUILTIN = Path(demo_history.__file__).parents[1] / "tasks" / "builtin"


def write_contexts() -> None:
    """Add the written contexts that the shipped tasks lack to their files, without near-duplicates."""
    rows = {
        "nli": [({"premise": premise.text}, premise.tag) for premise in claims.premises()],
        "sentiment": [({"prompt": prompt}, tag) for prompt, tag in claims.sentiment_prompts()],
        "qa": [({"passage": passage.text}, passage.tag) for passage in claims.passages()],
    }
    for task, pairs in rows.items():
        path = BUILTIN / f"{task}.contexts.jsonl"
        present = [json.loads(line)["values"] for line in path.read_text("utf-8").splitlines()]
        fresh = [(values, tag) for values, tag in pairs if values not in present]
        texts = [" ".join(values.values()) for values in (*present, *(values for values, _ in fresh))]
        repeated = {second for _, second in minhash.near_pairs(texts, NEAR)}
        with path.open("a", encoding="utf-8") as file:
            for place, (values, tag) in enumerate(fresh, start=len(present)):
                if place not in repeated:
                    file.write(json.dumps({"values": values, "tag": tag}, ensure_ascii=False) + "\n")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("contexts", "build"))
    parser.add_argument("tasks", nargs="*", help="tasks to build; by default all")
    parser.add_argument("--out", type=Path, default=demo_history.ARCHIVES)
    values = parser.parse_args()
    if values.command == "contexts":
        write_contexts()
        return
    begun = time.monotonic()

    def report(text: str) -> None:
        print(f"{time.monotonic() - begun:6.0f} s  {text}", flush=True)

    asyncio.run(build(values.tasks or list(SCRIPTS), values.out, report))


if __name__ == "__main__":
    main()
