"""`python -m benchmarks.attacks`: adversaries against the shipped targets, written into docs/explanation/attacks.md.

Rows of test sets are read from the folder of data and changed in memory; none is written but to `--out`, a folder of
yours. `--textattack PYTHON` names an interpreter that has both this package and TextAttack, for its DeepWordBug beside.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.__main__ import machine
from dynabench.adversaries import protocol
from dynabench.adversaries.attacks import Attempt, LocalTarget, candidate_row, run_attempts, summarise_attempts
from dynabench.adversaries.protocol import AttackCandidate, AttackContext, Budget
from dynabench.adversaries.word_search import cosines
from dynabench.models import catalog
from dynabench.models.protocol import ModelOutput
from dynabench.models.training import recipes
from dynabench.models.training import rows as labelled

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "explanation" / "attacks.md"
MARKS = (
    "<!-- figures: `python -m benchmarks.attacks` writes what is between these marks -->",
    "<!-- end of figures -->",
)
TARGETS = {
    "sentiment-minilm": ("SST-3 test", ()),
    "nli-minilm": ("SNLI test", ("premise",)),
    "hate-minilm": ("HatemojiBuild test", ()),
}
"""By target the test set whose rows are changed, and the inputs that stay."""
ADVERSARIES: dict[str, tuple[str, dict[str, Any]]] = {
    "substitution": ("substitution", {"similarity": 0.85, "share": 0.25}),
    "substitution, loose": (
        "substitution",
        {"similarity": 0.8, "share": 0.4, "words": "both", "alone": 0.3, "rare": 1},
    ),
    "typos": ("typos", {"similarity": 0.7, "share": 0.25}),
    "typos, 40 % of words": ("typos", {"similarity": 0.7, "share": 0.4}),
    "perturb": ("perturb", {"similarity": 0.7}),
}
"""By the name in the table, the adversary and its options."""
QUERIES = 200
SEED = 0
HEAD = ("target", "adversary", "similarity at least", "correct inputs", "fooled", "95 % interval", "queries, median",
        "queries, mean", "queries of successes, median", "similarity, mean", "words changed, mean")  # fmt: skip


def main() -> None:
    """Attack, print the table, and put it into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks")
    parser.add_argument("--n", type=int, default=150, help="inputs that a target answers correctly, for each row")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, help="a folder for what was proposed")
    parser.add_argument("--textattack", help="an interpreter that has this package and TextAttack")
    parser.add_argument("--targets", nargs="+", default=list(TARGETS))
    parser.add_argument("--adversaries", nargs="*", default=list(ADVERSARIES))
    request = parser.parse_args()
    table = [line for name in request.targets for line in _target(name, request)]
    for line in table:
        print(line)
    if PAGE.exists():
        PAGE.write_text(merged(PAGE.read_text(), table, f"{machine()}, {datetime.now(UTC):%Y-%m-%d}"))


def merged(page: str, table: Sequence[str], where: str) -> str:
    """`page` with these rows in place of those of the same target and adversary; raises ValueError without marks."""
    result = re.search(f"{re.escape(MARKS[0])}(.*?){re.escape(MARKS[1])}", page, re.DOTALL)
    if result is None:
        raise ValueError("the page lacks the marks between which the figures stand")
    old = [line for line in result[1].splitlines() if line.startswith("| ")][1:]
    rows = {_key(line): line for line in (*old, *table)}
    order = sorted(rows, key=lambda key: list(TARGETS).index(key[0]))
    head = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    text = "\n".join([MARKS[0], f"On {where}.", "", *head, *(rows[key] for key in order), MARKS[1]])
    return page[: result.start()] + text + page[result.end() :]


def contexts(name: str, data: Path) -> list[AttackContext]:
    """The test rows of a target, in an order that is drawn."""
    recipe = recipes.load(name)
    set_, rest = TARGETS[name]
    [source] = [item for item in recipe.test if item.name == set_]
    rows = labelled.read_source(source, data, recipe)
    answer = catalog.entry(name).card.answer  # type: ignore[union-attr]
    return [
        AttackContext(str(at), {field: row.inputs[field] for field in rest}, row.inputs, {answer: row.label})
        for at, row in enumerate(random.Random(SEED).sample(rows, min(len(rows), 2000)))
    ]


def _target(name: str, request: argparse.Namespace) -> list[str]:
    rows, target = contexts(name, request.data), LocalTarget(catalog.open_model(catalog.entry(name).folder))
    lines = []
    for adversary in request.adversaries:
        kind, options = ADVERSARIES[adversary]
        created = list(
            run_attempts(protocol.create_adversary(kind, **options), target, rows, Budget(queries=QUERIES), request.n)
        )
        lines.append(_line(name, adversary, f"{options['similarity']}", created))
        _keep(request.out, f"{name}-{adversary}", created)
        print(lines[-1], file=sys.stderr)
    if request.textattack:
        created = _textattack(request.textattack, name, rows, request.n)
        near = [item for item in created if item.fooled and item.fooled.facts["similarity"] < 0.7]
        lines.append(_line(name, "TextAttack's DeepWordBug", f"none ({len(near)} successes are below 0.7)", created))
        _keep(request.out, f"{name}-textattack", created)
        print(lines[-1], file=sys.stderr)
    return lines


def _line(target: str, adversary: str, least: str, created: Sequence[Attempt]) -> str:
    result = summarise_attempts(created)
    rate = result.fooled
    queries = (result.queries_median, result.queries_mean, result.queries_fooled_median)
    cells = [
        target,
        adversary,
        least,
        str(result.correct),
        f"{rate.value or 0:.1%}",
        f"{rate.low or 0:.1%} to {rate.high or 0:.1%}",
        *("" if value is None else f"{value:.1f}" for value in queries),
        "" if result.similarity is None else f"{result.similarity:.3f}",
        "" if result.changed is None else f"{result.changed:.1%}",
    ]
    return "| " + " | ".join(cells) + " |"


def _key(line: str) -> tuple[str, str]:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return cells[0], cells[1]


def _keep(folder: Path | None, name: str, created: Sequence[Attempt]) -> None:
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
        for attempt in created:
            for item in attempt.candidates:
                file.write(
                    json.dumps({"original": dict(attempt.context.inputs), **candidate_row(item)}, ensure_ascii=False)
                    + "\n"
                )


def _textattack(python: str, name: str, rows: Sequence[AttackContext], n: int) -> list[Attempt]:
    """DeepWordBug as TextAttack has it, with as many queries, on the same rows."""
    card = catalog.entry(name).card
    assert card is not None
    values = [{"inputs": dict(row.inputs), "label": row.answer[card.answer]} for row in rows]  # type: ignore[index]
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "rows.json", Path(folder) / "attempts.json"
        source.write_text(
            json.dumps({"rows": values, "kept": TARGETS[name][1], "n": n, "queries": QUERIES, "model": name})
        )
        script = ROOT / "benchmarks" / "theirs" / "attack.py"
        subprocess.run([python, script, source, result], check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "src")})
        match = json.loads(result.read_text())
    return [_theirs(rows[item["row"]], item, card.answer) for item in match]


def _theirs(context: AttackContext, item: dict[str, object], answer: str) -> Attempt:
    inputs = {**context.inputs, **item["inputs"]}  # type: ignore[dict-item]
    changed = [name for name, text in inputs.items() if text != context.inputs[name]]
    near = min((cosines(context.inputs[name], [inputs[name]])[0] for name in changed), default=1.0)
    before = [word for name in context.inputs if name not in context.values for word in context.inputs[name].split()]
    after = [word for name in context.inputs if name not in context.values for word in inputs[name].split()]
    count = sum(entry != other for entry, other in zip(before, after, strict=False))
    facts = {"similarity": near, "changed": count, "words": len(before)}
    fooled = bool(item["fooled"])
    output = ModelOutput({answer: item["predicted"]})
    result = AttackCandidate(
        context.uid, inputs, context.answer or {}, output, fooled, int(str(item["queries"])), facts=facts
    )
    return Attempt(context, [result] if fooled else [], result.queries, float(str(item["seconds"])))


if __name__ == "__main__":
    main()
