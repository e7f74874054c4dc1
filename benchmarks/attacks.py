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
from dynabench.adversaries.protocol import Budget, Candidate, Context
from dynabench.adversaries.search.word_search import cosines
from dynabench.models import catalog
from dynabench.models.protocol import Output
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
    asked = parser.parse_args()
    table = [line for name in asked.targets for line in _target(name, asked)]
    for line in table:
        print(line)
    if PAGE.exists():
        PAGE.write_text(merged(PAGE.read_text(), table, f"{machine()}, {datetime.now(UTC):%Y-%m-%d}"))


def merged(page: str, table: Sequence[str], where: str) -> str:
    """`page` with these rows in place of those of the same target and adversary; raises ValueError without marks."""
    found = re.search(f"{re.escape(MARKS[0])}(.*?){re.escape(MARKS[1])}", page, re.DOTALL)
    if found is None:
        raise ValueError("the page lacks the marks between which the figures stand")
    old = [line for line in found[1].splitlines() if line.startswith("| ")][1:]
    rows = {_key(line): line for line in (*old, *table)}
    order = sorted(rows, key=lambda key: list(TARGETS).index(key[0]))
    head = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    text = "\n".join([MARKS[0], f"On {where}.", "", *head, *(rows[key] for key in order), MARKS[1]])
    return page[: found.start()] + text + page[found.end() :]


def contexts(name: str, data: Path) -> list[Context]:
    """The test rows of a target, in an order that is drawn."""
    recipe = recipes.load(name)
    set_, kept = TARGETS[name]
    [source] = [each for each in recipe.test if each.name == set_]
    rows = labelled.of_source(source, data, recipe)
    answer = catalog.entry(name).card.answer  # type: ignore[union-attr]
    return [
        Context(str(at), {field: row.inputs[field] for field in kept}, row.inputs, {answer: row.label})
        for at, row in enumerate(random.Random(SEED).sample(rows, min(len(rows), 2000)))
    ]


def _target(name: str, asked: argparse.Namespace) -> list[str]:
    rows, target = contexts(name, asked.data), LocalTarget(catalog.open_model(catalog.entry(name).folder))
    lines = []
    for adversary in asked.adversaries:
        kind, options = ADVERSARIES[adversary]
        made = list(
            run_attempts(protocol.create_adversary(kind, **options), target, rows, Budget(queries=QUERIES), asked.n)
        )
        lines.append(_line(name, adversary, f"{options['similarity']}", made))
        _keep(asked.out, f"{name}-{adversary}", made)
        print(lines[-1], file=sys.stderr)
    if asked.textattack:
        made = _textattack(asked.textattack, name, rows, asked.n)
        near = [each for each in made if each.fooled and each.fooled.facts["similarity"] < 0.7]
        lines.append(_line(name, "TextAttack's DeepWordBug", f"none ({len(near)} successes are below 0.7)", made))
        _keep(asked.out, f"{name}-textattack", made)
        print(lines[-1], file=sys.stderr)
    return lines


def _line(target: str, adversary: str, least: str, made: Sequence[Attempt]) -> str:
    found = summarise_attempts(made)
    rate = found.fooled
    queries = (found.queries_median, found.queries_mean, found.queries_fooled_median)
    cells = [
        target,
        adversary,
        least,
        str(found.correct),
        f"{rate.value or 0:.1%}",
        f"{rate.low or 0:.1%} to {rate.high or 0:.1%}",
        *("" if value is None else f"{value:.1f}" for value in queries),
        "" if found.similarity is None else f"{found.similarity:.3f}",
        "" if found.changed is None else f"{found.changed:.1%}",
    ]
    return "| " + " | ".join(cells) + " |"


def _key(line: str) -> tuple[str, str]:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return cells[0], cells[1]


def _keep(folder: Path | None, name: str, made: Sequence[Attempt]) -> None:
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
        for attempt in made:
            for each in attempt.candidates:
                file.write(
                    json.dumps({"original": dict(attempt.context.inputs), **candidate_row(each)}, ensure_ascii=False)
                    + "\n"
                )


def _textattack(python: str, name: str, rows: Sequence[Context], n: int) -> list[Attempt]:
    """DeepWordBug as TextAttack has it, with as many queries, on the same rows."""
    card = catalog.entry(name).card
    assert card is not None
    given = [{"inputs": dict(row.inputs), "label": row.answer[card.answer]} for row in rows]  # type: ignore[index]
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "rows.json", Path(folder) / "attempts.json"
        source.write_text(
            json.dumps({"rows": given, "kept": TARGETS[name][1], "n": n, "queries": QUERIES, "model": name})
        )
        script = ROOT / "benchmarks" / "theirs" / "attack.py"
        subprocess.run([python, script, source, result], check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "src")})
        found = json.loads(result.read_text())
    return [_theirs(rows[each["row"]], each, card.answer) for each in found]


def _theirs(context: Context, each: dict[str, object], answer: str) -> Attempt:
    inputs = {**context.inputs, **each["inputs"]}  # type: ignore[dict-item]
    changed = [name for name, text in inputs.items() if text != context.inputs[name]]
    near = min((cosines(context.inputs[name], [inputs[name]])[0] for name in changed), default=1.0)
    before = [word for name in context.inputs if name not in context.values for word in context.inputs[name].split()]
    after = [word for name in context.inputs if name not in context.values for word in inputs[name].split()]
    count = sum(one != other for one, other in zip(before, after, strict=False))
    facts = {"similarity": near, "changed": count, "words": len(before)}
    fooled = bool(each["fooled"])
    output = Output({answer: each["predicted"]})
    found = Candidate(context.uid, inputs, context.answer or {}, output, fooled, int(str(each["queries"])), facts=facts)
    return Attempt(context, [found] if fooled else [], found.queries, float(str(each["seconds"])))


if __name__ == "__main__":
    main()
