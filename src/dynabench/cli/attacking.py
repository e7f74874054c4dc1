"""The command `dynabench adversary attack`: a model in this process, a file of inputs, a named adversary."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from dynabench.adversaries import attacks, protocol
from dynabench.adversaries.protocol import Budget
from dynabench.cli.operator import say
from dynabench.kit.errors import Invalid, Problem
from dynabench.models import catalog


def run(
    model: str, data: Path, name: str, options: Sequence[str], budget: Budget, most: int | None, kept: Sequence[str],
    out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Attack, write the candidates as JSON lines to `out` if it is given, and say how it went."""
    try:
        folder = Path(model) if Path(model).is_dir() else catalog.entry(model).folder
        opened = catalog.open_model(folder)
        contexts = list(attacks.read_contexts(data, opened.card, kept))
        adversary = protocol.create_adversary(name, **_options(options))
        made = attacks.run_attempts(adversary, attacks.LocalTarget(opened), contexts, budget, most)
        with ExitStack() as stack:
            file = stack.enter_context(out.open("w", encoding="utf-8")) if out else None
            found = list[attacks.Attempt]()
            total = min(len(contexts), most or len(contexts))
            for attempt in track(
                islice(made, total), "Attacking", total, console=Console(stderr=True), disable=as_json
            ):
                found.append(attempt)
                for candidate in attempt.candidates:
                    if file is None:
                        break
                    file.write(json.dumps(attacks.candidate_row(candidate), ensure_ascii=False) + "\n")
    except Problem as problem:
        Console(stderr=True, soft_wrap=True).print(f"{problem.title}: {problem.detail}", style="red", markup=False)
        raise typer.Exit(1) from None
    summary = attacks.summarise_attempts(found)
    if as_json:
        say(True, {"model": f"{opened.card.name}@{opened.card.version}", "adversary": name, **_figures(summary)}, "")
        return
    table = Table(title=f"{name} against {opened.card.name}", show_header=False)
    for what, value in _said(summary):
        table.add_row(what, value)
    Console().print(table)


def _options(given: Sequence[str]) -> dict[str, Any]:
    """`name=value` by name; values are JSON where they can be read as such, else text."""
    found: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier():
            raise Invalid({"option": f"{each!r} is no name=value."})
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _figures(summary: attacks.AttackSummary) -> dict[str, Any]:
    rate = summary.fooled
    return {
        "correct": summary.correct,
        "fooled": {"value": rate.value, "low": rate.low, "high": rate.high, "n": rate.n},
        "queries": {"median": summary.queries_median, "mean": summary.queries_mean},
        "queries_fooled_median": summary.queries_fooled_median,
        "similarity": summary.similarity,
        "changed": summary.changed,
        "seconds": round(summary.seconds, 2),
    }


def _said(summary: attacks.AttackSummary) -> list[tuple[str, str]]:
    rate = summary.fooled
    fooled = "" if rate.value is None else f"{rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%})"
    return [
        ("inputs answered correctly", str(summary.correct)),
        ("of these fooled (95 % Wilson)", fooled),
        ("queries, median", _number(summary.queries_median)),
        ("queries, mean", _number(summary.queries_mean)),
        ("queries of successes, median", _number(summary.queries_fooled_median)),
        ("similarity of successes, mean", _number(summary.similarity)),
        ("words changed of successes, mean", "" if summary.changed is None else f"{summary.changed:.1%}"),
        ("seconds", f"{summary.seconds:.1f}"),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
