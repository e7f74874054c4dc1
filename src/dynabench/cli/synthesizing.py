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
    from dynabench.adversaries.proposing import Context


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
    from dynabench.adversaries import known
    from dynabench.adversaries.attacking import Local
    from dynabench.adversaries.proposing import Budget
    from dynabench.adversaries.synthetic_qa import SyntheticQa
    from dynabench.errors import Invalid
    from dynabench.models import catalog

    with refusals(), ExitStack() as stack:
        wanted = {"judges": judge[1:], "agree": agree or len(judge), "seed": seed, **options(option)}
        maker = known.make("synthetic-qa", **wanted)
        if not isinstance(maker, SyntheticQa):
            raise Invalid({"adversary": "A plug-in stands in the place of `synthetic-qa`."})
        stack.callback(maker.close)
        folder = Path(judge[0]) if Path(judge[0]).is_dir() else catalog.entry(judge[0]).folder
        target = Local(catalog.open_model(folder))
        given = _contexts(passages)
        fooled = 0
        with out.open("w", encoding="utf-8") as file, bar("Asking", as_json) as tell:
            for done, context in enumerate(given, start=1):
                for number, found in enumerate(maker.propose(context, target, Budget()), start=1):
                    row = {"uid": f"{context.uid} {number}", **found.inputs, **found.answer}
                    row["facts"] = {**found.facts, "fooled": found.fooled}
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                    fooled += bool(found.fooled)
                tell(done, len(given))
    tally = asdict(maker.tally)
    share = tally["kept"] / tally["questions"] if tally["questions"] else None
    told = {**tally, "passed_over": len(given) - tally["passages"], "share": share, "fooled": fooled}
    said = f" ({share:.0%})" if share is not None else ""
    text = "{passages} passages, {answers} answers chosen, {questions} questions, {kept} kept".format(**told)
    say(as_json, told, f"{text}{said}, of which {fooled} fool {judge[0]}; {told['passed_over']} passages passed over.")


def _contexts(passages: Path) -> "list[Context]":
    """The passages of a file, each once, called by their `uid`, else by their line."""
    from dynabench.adversaries import texts
    from dynabench.adversaries.proposing import Context
    from dynabench.errors import Invalid

    found = dict[str, Context]()
    for number, row in texts.rows(passages):
        passage = row.get("passage")
        if not isinstance(passage, str):
            raise Invalid({"passages": f"Line {number} has no text called `passage`."})
        found.setdefault(passage, Context(str(row.get("uid") or f"line {number}"), {"passage": passage}))
    return list(found.values())
