"""`dynabench adversary mine`: hard cases in unlabelled text, written to a file or proposed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dynabench.cli.operator import AsJson, bar, refusals, say
from dynabench.cli.proposing import Server, Token, allowed

if TYPE_CHECKING:
    from dynabench.adversaries.corpus_mining import AnswerRule
    from dynabench.adversaries.reports import AttackReport
    from dynabench.client import Client


def mine(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSONL: an object with texts on a line.")],
    model: Annotated[list[str], typer.Option(help="An installed model; the first is the target. Again for more.")],
    rules: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="YAML: rules that texts must hold to.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Cases at most, the hardest first.")] = 100,
    out: Annotated[Path | None, typer.Option(help="Write the cases here as JSONL.")] = None,
    task: Annotated[str, typer.Option(help="Propose them for this task, for people to check.")] = "",
    url: Server = "http://127.0.0.1:8000",
    token: Token = "",
    as_json: AsJson = False,
) -> None:
    """Find texts on which models disagree, are unsure, or break a rule; write or propose them with a claimed answer.

    The answer is the rule's, or that of most other models, or the first model's, as each case says.
    """
    from dynabench.adversaries import corpus_mining
    from dynabench.client import Client

    with refusals():
        if task:
            allowed(token, dry=False)
        report, answer = _found(
            file, model, corpus_mining.read_rules(rules.read_text(encoding="utf-8")) if rules else [], most
        )
        cases = [
            {"uid": each.at, **each.texts, answer: each.label, "facts": dict(each.facts)} for each in report.findings
        ]
        if out is not None:
            out.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases), encoding="utf-8")
        proposed, refused = 0, list[dict[str, str]]()
        if task:
            with Client(url, token, timeout=120) as client, bar(f"Cases into {task}", as_json) as tell:
                proposed, refused = _proposed(client, task, file, report, tell)
    told = {"cases": len(cases), "proposed": proposed, "not_taken": refused}
    told |= {} if out or task else {"found": cases}
    lines = [f"{len(cases)} cases, {proposed} proposed, {len(refused)} not taken."]
    lines += [f"{each['at']}: {each['why']}" for each in refused]
    lines += [] if out or task else [json.dumps(case, ensure_ascii=False) for case in cases]
    say(as_json, told, "\n".join(lines))


def _found(file: Path, names: list[str], known: "list[AnswerRule]", most: int) -> "tuple[AttackReport, str]":
    """The hardest cases of a file for some models, and the field of their answer."""
    from dynabench.adversaries import corpus_mining
    from dynabench.adversaries.attacks import LocalTarget
    from dynabench.adversaries.protocol import Context
    from dynabench.intake.reader import read_objects
    from dynabench.models import catalog

    opened = {name: catalog.open_model(catalog.entry(name).folder) for name in names}
    card = next(iter(opened.values())).card
    given = (
        Context(str(row.get("uid") or f"line {number}"), {}, {name: row[name] for name in card.inputs})
        for number, row in read_objects(file)
        if all(isinstance(row.get(name), str) for name in card.inputs)
    )
    targets = {name: LocalTarget(each) for name, each in opened.items()}
    chosen = corpus_mining.choose_hardest(corpus_mining.find_hard_cases(given, targets, card.answer, known), most)
    return corpus_mining.build_report(chosen, card.answer, names), card.answer


def _proposed(
    client: "Client", task: str, file: Path, report: "AttackReport", tell: Callable[[int, int], None]
) -> tuple[int, list[dict[str, str]]]:
    """Propose the report's cases; return how many are proposed so far, and the refused ones with reasons."""
    from dynabench.adversaries import reports
    from dynabench.adversaries.program_run import Journal, RemoteTask

    site, refused = RemoteTask(client, task), []
    journal = Journal.open(file.with_name(f"{file.name}.{task}.jsonl"), {"task": task, "round": site.round})
    for number, step in enumerate(reports.import_report(site, journal, report, reports.ReportMapping()), start=1):
        tell(number, len(report.findings))
        refused += [{"at": step.context, "why": step.refused}] if step.refused else []
    return journal.sent, refused
