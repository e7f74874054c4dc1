"""What is done with a submission in a process of its own: its folder made and tried, or its predictions read.

`python -m dynabench.registry.trial` reads a JSON document from its standard input and writes lines of JSON to its
standard output: `{"step": name}` as it goes on, then `{"report": ...}`. Whatever models print goes to standard error.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import IO, Any

from dynabench.errors import Invalid, Problem
from dynabench.language import Amount, _, joined
from dynabench.models import checking, kinds, spec
from dynabench.models.checking.report import Report, Step
from dynabench.models.checking.trial import REMEDIES, told
from dynabench.models.sandbox import usage
from dynabench.models.training import fixed
from dynabench.settings import get_settings
from dynabench.tasks import TaskConfig

OWN = {"archive": _("Only what runs in the sandbox is sent as a handler archive; send this one as a model folder.")}
OUTSIDE = _("A model that others serve is not sent as a folder. Submit its address instead, with its token.")


def made(given: dict[str, Any], config: TaskConfig, into: Path) -> Path:
    """The folder of the model that is described, below `into`, under the submission's name. Raises `Problem`."""
    from dynabench.models import archives, starting
    from dynabench.models.starting import pretrained

    kind, source, name = given["kind"], given["source"], given["name"]
    if kind == "hub":
        return pretrained.from_hub(source["hub"], name, config, into, source["revision"])
    if kind == "endpoint":
        return _served(starting.start(name, config, source["protocol"], into, **_said(source)), source, given["readme"])
    folder = archives.unpack(Path(given["file"]), into / name)
    details = spec.read(folder)
    if kind == "archive" and details.kind != "handler":
        raise Invalid(
            {"model.yaml": _("This is a model of kind %(kind)s.", kind=repr(details.kind)) + " " + OWN["archive"]}
        )
    if not kinds.kind(details.kind).inside:
        raise Invalid({"model.yaml": OUTSIDE})
    asked = [each.partition("@")[0] for each in kinds.kind(details.kind).asks(details.options)]
    if hidden := [each for each in asked if each in given["hidden"]]:
        raise Invalid({"model.yaml": _("There is no model %(hidden)s that it could ask.", hidden=repr(hidden[0]))})
    if details.task != config.id or details.name != name:
        _rewrite(folder, name=name, task=config.id)
    return folder


def _said(source: dict[str, Any]) -> dict[str, str]:
    return {name: str(source[name]) for name in ("url", "model") if name in source}


def _served(folder: Path, source: dict[str, Any], readme: str) -> Path:
    """With what its submitter said; its address is nobody else's business."""
    said = ("prompt", "pipeline", "token", "price_in", "price_out", "price_per_call", "spend_per_day")
    options = {name: source[name] for name in said if source.get(name)}
    _rewrite(folder, options=options, summary="Served by whoever submitted it.")
    (folder / spec.README).write_text(
        readme or f"# {folder.name}\n\nServed by whoever submitted it.\n", encoding="utf-8"
    )
    return folder


def _rewrite(folder: Path, **changes: Any) -> None:
    """Change lines of `model.yaml`; members of `options` are added to those there are."""
    import yaml

    document = yaml.safe_load((folder / spec.FILE).read_text(encoding="utf-8"))
    options = changes.pop("options", {})
    document |= changes
    if options:
        document["options"] = {**document.get("options", {}), **options}
    spec.write(folder, document)


def model(given: dict[str, Any], config: TaskConfig, say: Any) -> Report:
    """Make the folder and check it, by what `dynabench model check` runs."""
    say("found")
    try:
        folder = made(given, config, Path(given["into"]))
    except Exception as error:
        step = Step("found", "failed", told(error), REMEDIES["found"], _fields(error))
        return Report(given["name"], config.id, "", "", (step,))
    found = checking.check(folder, config, say, given["seconds"])
    return Report(given["name"], config.id, found.model, found.version, found.steps)


def predictions(given: dict[str, Any], config: TaskConfig, say: Any) -> Report:
    """Read the file of each dataset."""
    from dynabench.registry import predictions as reading

    steps = []
    for each in given["datasets"]:
        say(each["name"])
        read = reading.read(
            get_settings(), config, Path(each["file"]), each["called"], each["digest"], Path(each["into"])
        )
        if read.count:
            wrong = _("%(n)s things are wrong in %(file)s", n=Amount(read.count), file=each["called"])
            message = joined("\n", [wrong, *read.told()])
            steps.append(
                Step(each["name"], "failed", message, _("Mend the lines that are named, and send all files again."))
            )
        else:
            steps.append(
                Step(
                    each["name"],
                    "ok",
                    _("all %(n)s rows have an answer", n=Amount(read.rows)),
                    details={"rows": read.rows},
                )
            )
    return Report(given["name"], config.id, "", "", tuple(steps))


def training_set(given: dict[str, Any], config: TaskConfig, say: Any) -> Report:
    """Read the rows, train the task's learner on them, and check what came of it as any other model."""
    from dynabench.registry import training_sets as reading

    say("rows")
    settings, source = get_settings(), given["source"]
    if source.get("baseline"):
        chosen = reading.drawn(settings, config, given["pool"], source["baseline"])
    else:
        chosen, read = reading.read(settings, config, Path(given["file"]), source["name"], given["pool"])
        if read.count:
            wrong = _("%(n)s things are wrong in %(file)s", n=Amount(read.count), file=source["name"])
            message = joined("\n", [wrong, *read.told()])
            step = Step("rows", "failed", message, _("Mend the lines that are named, and send the file again."))
            return Report(given["name"], config.id, "", "", (step,))
    summary, counts = f"Learnt from {len(chosen):,} rows.", fixed.balance(chosen)
    steps = [
        Step("rows", "ok", _("%(n)s rows", n=Amount(len(chosen))), details={"rows": len(chosen), "balance": counts})
    ]
    say("learns")
    begun = time.perf_counter()
    try:
        folder = fixed.learn(Path(given["into"]) / given["name"], config, chosen, summary)
    except Problem as error:
        failed = Step("learns", "failed", told(error), _("Choose other rows, and send the file again."), _fields(error))
        return Report(given["name"], config.id, "", "", (*steps, failed))
    steps.append(Step("learns", "ok", _("in %(seconds)s s", seconds=Amount(time.perf_counter() - begun, ".2f"))))
    found = checking.check(folder, config, say, given["seconds"])
    return Report(given["name"], config.id, found.model, found.version, (*steps, *found.steps))


def _fields(error: Exception) -> dict[str, Any]:
    if isinstance(error, Invalid):
        return {"fields": error.fields}
    return {"status": error.status} if isinstance(error, Problem) else {}


def main(out: IO[str]) -> None:
    """Do what the standard input asks for."""
    given = json.load(sys.stdin)
    usage.bound(given["memory"])
    config = TaskConfig.parse(given["config"])

    def say(name: str) -> None:
        print(json.dumps({"step": name}), file=out, flush=True)

    work = {"predictions": predictions, "training_set": training_set}.get(given["kind"], model)
    report = work(given, config, say)
    print(json.dumps({"report": report.record()}), file=out, flush=True)


if __name__ == "__main__":
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    main(own)
