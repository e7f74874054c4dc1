"""`dynabench adversary synthesize`: questions about passages that models agree on, as rows to train on."""

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dynabench.cli.operator import AsJson, bar, refusals, say
from dynabench.cli.proposing import Options, options

if TYPE_CHECKING:
    from dynabench.adversaries.protocol import Context
    from dynabench.adversaries.synthetic_qa import Tally


def synthesize(
    passages: Annotated[
        Path, typer.Option(exists=True, dir_okay=False, help="JSONL: an object with a `passage` on a line.")
    ],
    judge: Annotated[
        list[str],
        typer.Option(help="A model that answers, by name or folder; the first is the target. Again for more."),
    ],
    out: Annotated[Path, typer.Option(dir_okay=False, help="Write the questions that are kept here, as JSONL.")],
    agree: Annotated[int | None, typer.Option(min=1, help="Judges that must agree; by default all of them.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another number draws other answers.")] = 0,
    option: Options = None,
    as_json: AsJson = False,
) -> None:
    """Choose answers in passages, make a question of each, and keep those on whose answer the judges agree.

    A row has `passage`, `question` and `answer`, as `dynabench train qa --on` reads them.
    """
    from dynabench.adversaries import protocol
    from dynabench.adversaries.attacks import LocalTarget
    from dynabench.adversaries.protocol import Budget
    from dynabench.adversaries.synthetic_qa import Judge, SyntheticQa
    from dynabench.kit.errors import Invalid

    with refusals(), ExitStack() as stack:
        target = Judge.open(judge[0])
        asked, given, answer = *target.model.card.inputs, target.model.card.answer
        fields = {"question": asked, "passage": given, "answer": answer}
        wanted = {"judges": judge[1:], "agree": agree or len(judge), "seed": seed, **options(option), **fields}
        maker = protocol.create_adversary("synthetic-qa", **wanted)
        if not isinstance(maker, SyntheticQa):
            raise Invalid({"adversary": "A plug-in stands in the place of `synthetic-qa`."})
        stack.callback(maker.close)
        begun = _contexts(passages, given)
        fooled = 0
        with out.open("w", encoding="utf-8") as file, bar("Asking", as_json) as tell:
            for done, context in enumerate(begun, start=1):
                for number, found in enumerate(maker.propose(context, LocalTarget(target.model), Budget()), start=1):
                    values = {**found.inputs, **found.answer}
                    row = {"uid": f"{context.uid} {number}", **{name: values[own] for name, own in fields.items()}}
                    row["facts"] = {**found.facts, "fooled": found.fooled}
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                    fooled += bool(found.fooled)
                tell(done, len(begun))
    _tell(as_json, maker.tally, len(begun), fooled, judge[0])


def _tell(as_json: bool, made: "Tally", given: int, fooled: int, target: str) -> None:
    tally = asdict(made)
    share = tally["kept"] / tally["questions"] if tally["questions"] else None
    told = {**tally, "passed_over": given - tally["passages"], "share": share, "fooled": fooled}
    said = f" ({share:.0%})" if share is not None else ""
    text = "{passages} passages, {answers} answers chosen, {questions} questions, {kept} kept".format(**told)
    say(as_json, told, f"{text}{said}, of which {fooled} fool {target}; {told['passed_over']} passages passed over.")


def _contexts(passages: Path, field: str) -> "list[Context]":
    """The passages of a file, each once, called by their `uid`, else by their line."""
    from dynabench.adversaries.protocol import Context
    from dynabench.intake.reader import read_objects
    from dynabench.kit.errors import Invalid

    found = dict[str, Context]()
    for number, row in read_objects(passages):
        passage = row.get("passage")
        if not isinstance(passage, str):
            raise Invalid({"passages": f"Line {number} has no text called `passage`."})
        found.setdefault(passage, Context(str(row.get("uid") or f"line {number}"), {field: passage}))
    return list(found.values())
