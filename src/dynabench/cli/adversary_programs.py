"""`dynabench adversary run`, `import`, `mine` and `synthesize`: programs that write and propose examples."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynabench.cli.operator import AsJson, bar, refusals, say

if TYPE_CHECKING:
    from dynabench.adversaries.corpus_mining import AnswerRule
    from dynabench.adversaries.program_run import RunPlan, RunStep
    from dynabench.adversaries.protocol import Adversary, AttackContext
    from dynabench.adversaries.remote_tasks import RemoteTask
    from dynabench.adversaries.reports import AttackReport
    from dynabench.adversaries.run_journal import Journal
    from dynabench.adversaries.synthetic_qa import GenerationCounts
    from dynabench.client import Client


app = typer.Typer()
Server = Annotated[str, typer.Option("--url", envvar="DYNABENCH_URL", help="The platform's address.")]
Token = Annotated[str, typer.Option(envvar="DYNABENCH_TOKEN", help="Your API token.", show_default=False)]
Dry = Annotated[bool, typer.Option("--dry-run", help="Propose nothing; print the proposals.")]
Options = Annotated[
    list[str] | None, typer.Option("--option", help="An option of the adversary as NAME=VALUE; repeatable.")
]


def parse_pairs(texts: list[str] | None) -> dict[str, str]:
    """Return the values of an option that is given as NAME=VALUE; raise `Invalid` for another form."""
    from dynabench.kit.errors import Invalid

    values = {}
    for item in texts or ():
        name, equals, value = item.partition("=")
        if not equals:
            raise Invalid({"option": f"Write NAME=VALUE, not {item!r}."})
        values[name.strip()] = value.strip()
    return values


def parse_options(texts: list[str] | None) -> dict[str, Any]:
    """Return the values of `--option`; each value that is JSON is decoded, such as numbers, true and false."""
    import json

    values: dict[str, Any] = {}
    for name, value in parse_pairs(texts).items():
        try:
            values[name.replace("-", "_")] = json.loads(value)
        except ValueError:
            values[name.replace("-", "_")] = value
    return values


def require_token(token: str, dry: bool) -> None:
    """Raise `Unauthenticated` for proposals without a token, before any query is spent; a dry run needs none."""
    from dynabench.kit.errors import Unauthenticated

    if not token and not dry:
        raise Unauthenticated(
            "What is proposed needs a name: set DYNABENCH_TOKEN to a token of yours with the scope annotate, made on "
            "your settings page, or look first with --dry-run."
        )


@app.command("run")
def run_program(
    task: Annotated[str, typer.Argument(help="A task with an open round.")],
    with_: Annotated[str, typer.Option("--with", help="The adversary.")],
    url: Server = "http://127.0.0.1:8000",
    token: Token = "",
    contexts: Annotated[int, typer.Option(min=1, help="Total number of contexts, including earlier runs.")] = 20,
    queries: Annotated[int | None, typer.Option(min=1, help="Maximum queries of a target per context.")] = 200,
    seconds: Annotated[float | None, typer.Option(min=0, help="Maximum seconds per context.")] = None,
    cost: Annotated[
        float | None, typer.Option(min=0, help="Total budget in dollars for the adversary's own models.")
    ] = None,
    model: Annotated[str, typer.Option(help="Attack this installed model instead of the round's targets.")] = "",
    texts: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="JSONL with inputs and answers to start from.")
    ] = None,
    only_fooling: Annotated[bool, typer.Option(help="Do not send proposals that do not fool.")] = False,
    journal: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Journal file; by default TASK-ADVERSARY.jsonl.")
    ] = None,
    option: Options = None,
    dry_run: Dry = False,
    as_json: AsJson = False,
) -> None:
    """Attack the open round's targets and propose one example per context for people to check.

    A journal file records the progress: repeat the command to continue; nothing is sent twice.
    """
    from dynabench.adversaries import attacks as files
    from dynabench.adversaries import program_run, protocol
    from dynabench.adversaries.protocol import Budget
    from dynabench.adversaries.remote_tasks import RemoteTask
    from dynabench.adversaries.run_journal import Journal
    from dynabench.client import Client

    with refusals(), Client(url, token, timeout=120) as client, ExitStack() as stack:
        require_token(token, dry_run)
        adversary = protocol.create_adversary(with_, **parse_options(option))
        stack.callback(getattr(adversary, "close", lambda: None))
        site = RemoteTask(client, task)
        _inform(adversary, site, signed_in=bool(token))
        about = {"task": task, "round": site.round, "program": adversary.name, "version": adversary.version, "url": url}
        notes = Journal.open(journal or Path(f"{task}-{with_}.jsonl"), about)
        start_texts = files.read_start_texts(texts, site.inputs, site.contexts, site.answers) if texts else ()
        plan = program_run.RunPlan(contexts, Budget(queries, seconds, cost), cost, only_fooling, dry_run, start_texts)
        with bar(f"{adversary.name} on {task}", as_json) as tell:
            steps = _collect_steps(
                program_run.run_program(site, adversary, notes, plan, _open_target(model)), notes, plan, tell
            )
    answer = about | _summarise_run(notes, steps, dry_run)
    say(as_json, answer, _describe_run(answer, dry_run))


def _inform(adversary: "Adversary", site: "RemoteTask", signed_in: bool) -> None:
    """Tell an adversary that asks for it of the task, and of what fooled before."""
    from dynabench.adversaries.language_model import SHOTS, InformedAdversary

    if isinstance(adversary, InformedAdversary):
        adversary.inform(site.config, site.successes(SHOTS) if signed_in else ())


def _collect_steps(
    steps: "Iterator[RunStep]", notes: "Journal", plan: "RunPlan", tell: Callable[[int, int], object]
) -> "list[RunStep]":
    """All steps, each told as it is done."""
    done: list[RunStep] = []
    tell(notes.done, plan.contexts)
    for step in steps:
        done.append(step)
        tell(len(done) if plan.dry else notes.done, plan.contexts)
    return done


def _summarise_run(notes: "Journal", steps: "list[RunStep]", dry: bool) -> dict[str, Any]:
    """Return the figures of all runs so far, and the outcomes of this run's steps."""
    now = Counter("refused" if item.refused else "proposed" if item.body else "nothing" for item in steps)
    figures = {
        "contexts": notes.done,
        "proposed": notes.sent,
        "fooled": notes.fooled,
        "refused": [{"context": item.context, "why": item.refused} for item in steps if item.refused],
        "queries": notes.queries,
        "cost": notes.cost,
        "now": dict(now),
    }
    return figures | ({"would_propose": [item.body for item in steps if item.body]} if dry else {})


def _open_target(name: str) -> Any:
    if not name:
        return None
    from dynabench.adversaries.attacks import LocalTarget
    from dynabench.models import catalog

    model_name, _, version = name.partition("@")
    return LocalTarget(catalog.open_model(catalog.entry(model_name, version or None).folder))


def _describe_run(answer: dict[str, Any], dry: bool) -> str:
    lines = [
        f"{answer['program']} {answer['version']} on {answer['task']}, round {answer['round']}: "
        f"{answer['contexts']} contexts, {answer['proposed']} proposed, {answer['fooled']} fooled, "
        f"{len(answer['refused'])} refused; {answer['queries']:,} queries, ${answer['cost']:.4f}."
    ]
    lines += [f"Context {item['context']} was refused: {item['why']}" for item in answer["refused"]]
    for item in answer.get("would_propose", ()) if dry else ():
        lines.append(f"Would propose: {item['input']} as {item['answer']}")
    return "\n".join(lines)


@app.command("import")
def import_report(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The other program's output file.")],
    from_: Annotated[str, typer.Option("--from", help="garak, promptfoo or textattack.")],
    task: Annotated[str, typer.Option("--task", help="A task with an open round.")],
    url: Server = "http://127.0.0.1:8000",
    token: Token = "",
    text: Annotated[str, typer.Option(help="The text to use as input, if there are several.")] = "",
    label: Annotated[
        list[str] | None, typer.Option(help="THEIRS=OURS: maps an answer of the file to the task's.")
    ] = None,
    answer: Annotated[list[str] | None, typer.Option(help="FIELD=VALUE: the right answer of all examples.")] = None,
    journal: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Journal file; by default FILE.TASK.jsonl.")
    ] = None,
    dry_run: Dry = False,
    as_json: AsJson = False,
) -> None:
    """Propose examples that garak, promptfoo or TextAttack found, for people to check; list the skipped lines."""
    import hashlib

    from dynabench.adversaries import reports
    from dynabench.adversaries.remote_tasks import RemoteTask
    from dynabench.adversaries.run_journal import Journal
    from dynabench.client import Client

    with refusals(), Client(url, token, timeout=120) as client:
        require_token(token, dry_run)
        report = reports.read_report(from_, file)
        site = RemoteTask(client, task)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        about = {
            "task": task,
            "round": site.round,
            "program": report.program,
            "version": report.version,
            "file": digest,
        }
        notes = Journal.open(journal or file.with_name(f"{file.name}.{task}.jsonl"), about)
        labels = {name: str(value) for name, value in parse_pairs(label).items()}
        mapped = reports.ReportMapping(text, labels, parse_pairs(answer))
        steps = []
        with bar(f"{report.program} into {task}", as_json) as tell:
            for step in reports.import_report(site, notes, report, mapped, dry_run):
                steps.append(step)
                tell(len(steps), len(report.findings) + len(report.skipped))
    skipped = [{"at": item.context, "why": item.refused} for item in steps if item.refused]
    summary: dict[str, Any] = about | {"proposed": notes.sent, "fooled": notes.fooled, "not_taken": skipped}
    summary |= {"would_propose": [item.body for item in steps if item.body]} if dry_run else {}
    lines = [
        f"{report.program} {report.version}: {notes.sent} proposed, {notes.fooled} fooled, {len(skipped)} not taken."
    ]
    lines += [f"{item['at']}: {item['why']}" for item in skipped]
    lines += [f"Would propose: {item['input']} as {item['answer']}" for item in summary.get("would_propose", ())]
    say(as_json, summary, "\n".join(lines))


@app.command("mine")
def mine(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSONL: an object with texts per line.")],
    model: Annotated[list[str], typer.Option(help="An installed model; the first is the target; repeatable.")],
    rules: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="YAML file with rules for the texts.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Maximum number of cases, the hardest first.")] = 100,
    out: Annotated[Path | None, typer.Option(help="Output file for the cases, as JSONL.")] = None,
    task: Annotated[str, typer.Option(help="Propose the cases for this task, for people to check.")] = "",
    url: Server = "http://127.0.0.1:8000",
    token: Token = "",
    as_json: AsJson = False,
) -> None:
    """Find texts on which models disagree, are unsure, or break a rule; write or propose them with a claimed answer.

    The answer is the rule's, or that of most other models, or the first model's; each case names its source.
    """
    from dynabench.adversaries import corpus_mining
    from dynabench.client import Client

    with refusals():
        if task:
            require_token(token, dry=False)
        report, answer = _find_cases(
            file, model, corpus_mining.read_rules(rules.read_text(encoding="utf-8")) if rules else [], most
        )
        cases = [
            {"uid": item.at, **item.texts, answer: item.label, "facts": dict(item.facts)} for item in report.findings
        ]
        if out is not None:
            out.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases), encoding="utf-8")
        proposed, refused = 0, list[dict[str, str]]()
        if task:
            with Client(url, token, timeout=120) as client, bar(f"Cases into {task}", as_json) as tell:
                proposed, refused = _propose_cases(client, task, file, report, tell)
    summary = {"cases": len(cases), "proposed": proposed, "not_taken": refused}
    summary |= {} if out or task else {"found": cases}
    lines = [f"{len(cases)} cases, {proposed} proposed, {len(refused)} not taken."]
    lines += [f"{item['at']}: {item['why']}" for item in refused]
    lines += [] if out or task else [json.dumps(case, ensure_ascii=False) for case in cases]
    say(as_json, summary, "\n".join(lines))


def _find_cases(file: Path, names: list[str], rules: "list[AnswerRule]", most: int) -> "tuple[AttackReport, str]":
    """The hardest cases of a file for some models, and the field of their answer."""
    from dynabench.adversaries import corpus_mining
    from dynabench.adversaries.attacks import LocalTarget
    from dynabench.adversaries.protocol import AttackContext
    from dynabench.intake.reader import read_objects
    from dynabench.models import catalog

    opened = {name: catalog.open_model(catalog.entry(name).folder) for name in names}
    card = next(iter(opened.values())).card
    inputs = (
        AttackContext(str(row.get("uid") or f"line {number}"), {}, {name: row[name] for name in card.inputs})
        for number, row in read_objects(file)
        if all(isinstance(row.get(name), str) for name in card.inputs)
    )
    targets = {name: LocalTarget(item) for name, item in opened.items()}
    chosen = corpus_mining.choose_hardest(corpus_mining.find_hard_cases(inputs, targets, card.answer, rules), most)
    return corpus_mining.build_report(chosen, card.answer, names), card.answer


def _propose_cases(
    client: "Client", task: str, file: Path, report: "AttackReport", tell: Callable[[int, int], None]
) -> tuple[int, list[dict[str, str]]]:
    """Propose the report's cases; return how many are proposed so far, and the refused ones with reasons."""
    from dynabench.adversaries import reports
    from dynabench.adversaries.remote_tasks import RemoteTask
    from dynabench.adversaries.run_journal import Journal

    site, refused = RemoteTask(client, task), []
    journal = Journal.open(file.with_name(f"{file.name}.{task}.jsonl"), {"task": task, "round": site.round})
    for number, step in enumerate(reports.import_report(site, journal, report, reports.ReportMapping()), start=1):
        tell(number, len(report.findings))
        refused += [{"at": step.context, "why": step.refused}] if step.refused else []
    return journal.sent, refused


@app.command("synthesize")
def synthesize(
    passages: Annotated[
        Path, typer.Option(exists=True, dir_okay=False, help="JSONL: an object with a `passage` per line.")
    ],
    judge: Annotated[
        list[str],
        typer.Option(help="A model's name or folder; the first is the target; repeatable."),
    ],
    out: Annotated[Path, typer.Option(dir_okay=False, help="Output file for the questions, as JSONL.")],
    agree: Annotated[int | None, typer.Option(min=1, help="Number of judges that must agree; by default all.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Choose answers in passages, write a question for each, and keep those whose answer the judges agree on.

    A row has `passage`, `question` and `answer`, as `dynabench train qa --on` reads them.
    """
    from dynabench.adversaries import protocol
    from dynabench.adversaries.attacks import LocalTarget
    from dynabench.adversaries.protocol import Budget
    from dynabench.adversaries.synthetic_qa import Judge, SyntheticQa
    from dynabench.kit.errors import Invalid

    with refusals(), ExitStack() as stack:
        target = Judge.open(judge[0])
        question_field, passage_field, answer = *target.model.card.inputs, target.model.card.answer
        fields = {"question": question_field, "passage": passage_field, "answer": answer}
        settings = {"judges": judge[1:], "agree": agree or len(judge), "seed": seed, **parse_options(option), **fields}
        maker = protocol.create_adversary("synthetic-qa", **settings)
        if not isinstance(maker, SyntheticQa):
            raise Invalid({"adversary": "A plug-in stands in the place of `synthetic-qa`."})
        stack.callback(maker.close)
        begun = _read_passages(passages, passage_field)
        fooled = 0
        with out.open("w", encoding="utf-8") as file, bar("Asking", as_json) as tell:
            for done, context in enumerate(begun, start=1):
                for number, proposal in enumerate(maker.propose(context, LocalTarget(target.model), Budget()), start=1):
                    values = {**proposal.inputs, **proposal.answer}
                    row = {"uid": f"{context.uid} {number}", **{name: values[own] for name, own in fields.items()}}
                    row["facts"] = {**proposal.facts, "fooled": proposal.fooled}
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                    fooled += bool(proposal.fooled)
                tell(done, len(begun))
    _show_tally(as_json, maker.tally, len(begun), fooled, judge[0])


def _show_tally(as_json: bool, counts: "GenerationCounts", passage_count: int, fooled: int, target: str) -> None:
    tally = asdict(counts)
    share = tally["kept"] / tally["questions"] if tally["questions"] else None
    figures = {**tally, "passed_over": passage_count - tally["passages"], "share": share, "fooled": fooled}
    percentage = f" ({share:.0%})" if share is not None else ""
    text = "{passages} passages, {answers} answers chosen, {questions} questions, {kept} kept".format(**figures)
    say(
        as_json,
        figures,
        f"{text}{percentage}, of which {fooled} fool {target}; {figures['passed_over']} passages passed over.",
    )


def _read_passages(passages: Path, field: str) -> "list[AttackContext]":
    """The passages of a file, each once, called by their `uid`, else by their line."""
    from dynabench.adversaries.protocol import AttackContext
    from dynabench.intake.reader import read_objects
    from dynabench.kit.errors import Invalid

    contexts = dict[str, AttackContext]()
    for number, row in read_objects(passages):
        passage = row.get("passage")
        if not isinstance(passage, str):
            raise Invalid({"passages": f"Line {number} has no text called `passage`."})
        contexts.setdefault(passage, AttackContext(str(row.get("uid") or f"line {number}"), {field: passage}))
    return list(contexts.values())
