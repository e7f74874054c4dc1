"""The trial of a submission in a process of its own: its folder is made and tried, or its predictions are read.

`registry.trial_process` starts the process and defines its messages.
"""

import time
from pathlib import Path
from typing import Any

from dynabench.benchmark.registry import endpoint_mapping
from dynabench.kit.child_process import ParentChannel
from dynabench.kit.errors import Invalid, Problem
from dynabench.kit.language import _
from dynabench.kit.process_memory import limit_memory
from dynabench.kit.settings import get_settings
from dynabench.models import check_report as words
from dynabench.models import fitted, kinds, model_check, spec
from dynabench.models.check_report import REMEDIES, ModelCheckReport, ModelCheckStep, StepState, describe_error
from dynabench.tasks import TaskConfig

OWN = {
    "archive": _(
        "Only models that run in the sandbox are uploaded as a handler archive; upload this one as a model folder."
    )
}
OUTSIDE = _("A model served elsewhere is not uploaded as a folder. Submit its address and token instead.")


def build_model_folder(request: dict[str, Any], config: TaskConfig, into: Path) -> Path:
    """The folder of the model that is described, below `into`, under the submission's name. Raises `Problem`."""
    from dynabench.models import archives, starting
    from dynabench.models.starting import described

    kind, source, name = request["kind"], request["source"], request["name"]
    if kind == "hub":
        return described.from_hub(source["hub"], name, config, into, source["revision"])
    if kind == "endpoint":
        return _served(
            starting.start(
                name,
                config,
                source["protocol"],
                into,
                **{name: str(source[name]) for name in ("url", "model") if name in source},
            ),
            source,
            request["readme"],
        )
    folder = archives.unpack(Path(request["file"]), into / name)
    details = spec.read(folder)
    if kind == "archive" and details.kind != "handler":
        raise Invalid({"model.yaml": f"This is a model of kind {details.kind!r}. {OWN['archive']}"})
    if not kinds.kind(details.kind).inside:
        raise Invalid({"model.yaml": OUTSIDE})
    model_names = [reference.partition("@")[0] for reference in kinds.kind(details.kind).asks(details.options)]
    if hidden := [reference for reference in model_names if reference in request["hidden"]]:
        raise Invalid({"model.yaml": _("There is no model %(hidden)s to ask.", hidden=repr(hidden[0]))})
    if details.task != config.id or details.name != name:
        rewrite(folder, name=name, task=config.id)
    return folder


def _served(folder: Path, source: dict[str, Any], readme: str) -> Path:
    """With what its submitter said; its address is nobody else's business."""
    option_names = ("prompt", "pipeline", "token", "price_in", "price_out", "price_per_call", "spend_per_day")
    options = {name: source[name] for name in (*option_names, *endpoint_mapping.MAPPED) if source.get(name)}
    rewrite(folder, options=options, summary="Served by whoever submitted it.")
    (folder / spec.README).write_text(
        readme or f"# {folder.name}\n\nServed by whoever submitted it.\n", encoding="utf-8"
    )
    return folder


def rewrite(folder: Path, **changes: Any) -> None:
    """Change lines of `model.yaml`; members of `options` are added to those there are."""
    import yaml

    document = yaml.safe_load((folder / spec.FILE).read_text(encoding="utf-8"))
    options = changes.pop("options", {})
    document |= changes
    if options:
        document["options"] = {**document.get("options", {}), **options}
    spec.write(folder, document)


def try_model(request: dict[str, Any], config: TaskConfig, say: Any) -> ModelCheckReport:
    """Make the folder and check it, by what `dynabench model check` runs."""
    say("found")
    try:
        folder = build_model_folder(request, config, Path(request["into"]))
    except Exception as error:
        step = ModelCheckStep("found", StepState.FAILED, describe_error(error), REMEDIES["found"], _fields(error))
        return ModelCheckReport(request["name"], config.id, "", "", (step,))
    check_result = model_check.check(folder, config, say, request["seconds"])
    return ModelCheckReport(request["name"], config.id, check_result.model, check_result.version, check_result.steps)


def read_predictions_trial(request: dict[str, Any], config: TaskConfig, say: Any) -> ModelCheckReport:
    """Read the file of each dataset."""
    from dynabench.benchmark.registry.predictions import read_predictions

    steps = []
    for dataset in request["datasets"]:
        say(dataset["name"])
        read = read_predictions(
            get_settings(), config, Path(dataset["file"]), dataset["called"], dataset["digest"], Path(dataset["into"])
        )
        if read.count:
            message = "\n".join([_wrong(read.count, dataset["called"]), *read.lines()])
            steps.append(
                ModelCheckStep(
                    dataset["name"],
                    StepState.FAILED,
                    message,
                    _("Correct the lines listed here and upload all files again."),
                )
            )
        else:
            steps.append(
                ModelCheckStep(
                    dataset["name"],
                    StepState.OK,
                    words.ALL_ROWS % {"count": f"{read.rows:,}"},
                    details={"rows": read.rows},
                )
            )
    return ModelCheckReport(request["name"], config.id, "", "", tuple(steps))


def try_training_set(request: dict[str, Any], config: TaskConfig, say: Any) -> ModelCheckReport:
    """Read the rows, train the task's learner on them, and check what came of it as any other model."""
    from dynabench.benchmark.registry import training_sets

    say("rows")
    settings, source = get_settings(), request["source"]
    if source.get("baseline"):
        chosen = training_sets.baseline_set(settings, config, request["pool"], source["baseline"])
    else:
        chosen, read = training_sets.read_training_set(
            settings, config, Path(request["file"]), source["name"], request["pool"]
        )
        if read.count:
            message = "\n".join([_wrong(read.count, source["name"]), *read.lines()])
            step = ModelCheckStep(
                "rows", StepState.FAILED, message, _("Correct the lines listed here and upload the file again.")
            )
            return ModelCheckReport(request["name"], config.id, "", "", (step,))
    summary, counts = f"Learnt from {len(chosen):,} rows.", fitted.label_balance(chosen)
    steps = [
        ModelCheckStep(
            "rows",
            StepState.OK,
            words.ROWS % {"count": f"{len(chosen):,}"},
            details={"rows": len(chosen), "balance": counts},
        )
    ]
    say("learns")
    begun = time.perf_counter()
    try:
        folder = fitted.train_on_choice(Path(request["into"]) / request["name"], config, chosen, summary)
    except Problem as error:
        failed = ModelCheckStep(
            "learns",
            StepState.FAILED,
            describe_error(error),
            _("Choose other rows and upload the file again."),
            _fields(error),
        )
        return ModelCheckReport(request["name"], config.id, "", "", (*steps, failed))
    steps.append(
        ModelCheckStep("learns", StepState.OK, words.LOADED % {"seconds": f"{time.perf_counter() - begun:.2f}"})
    )
    check_result = model_check.check(folder, config, say, request["seconds"])
    return ModelCheckReport(
        request["name"], config.id, check_result.model, check_result.version, (*steps, *check_result.steps)
    )


def _wrong(count: int, file: str) -> str:
    return words.WRONG_THINGS % {"count": f"{count:,}", "file": file}


def _fields(error: Exception) -> dict[str, Any]:
    if isinstance(error, Invalid):
        return {"fields": error.fields}
    return {"status": error.status} if isinstance(error, Problem) else {}


def main() -> None:
    """Do what the parent asks for."""
    parent = ParentChannel()
    request = parent.receive()
    limit_memory(request["memory"])
    config = TaskConfig.parse(request["config"])

    def say(name: str) -> None:
        parent.send({"step": name})

    work = {"predictions": read_predictions_trial, "training_set": try_training_set}.get(request["kind"], try_model)
    parent.send({"report": work(request, config, say).document()})


if __name__ == "__main__":
    main()
