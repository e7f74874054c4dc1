"""Models that are not on the platform: a hub id or the address of a server, made into a folder for one evaluation."""

import re
from collections.abc import Sequence
from pathlib import Path

from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import hub, references
from dynabench.models.starting import described
from dynabench.open_evaluations.kinds import ANSWER, OpenTask, RoleKind
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice, Field, Image, LabelledSpans, Spans, Text

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
ADDRESS = re.compile(r"https?://[^\s]{3,290}")


def is_external(reference: str) -> bool:
    """Return whether a reference is a hub id or an address."""
    return bool(HUB_ID.fullmatch(reference) or ADDRESS.fullmatch(reference))


def refusal(settings: Settings, reference: str) -> str:
    """Return why a reference cannot be a model; empty where it can."""
    if ADDRESS.fullmatch(reference):
        return ""
    if not HUB_ID.fullmatch(reference) or not hub.NAME.fullmatch(reference):
        return _("There is no model %(name)s that you may use. Check its name, or give a hub id.", name=repr(reference))
    if not settings.hub_url:
        return _("This platform calls no hub. Choose a model of the platform, or the address of a server.")
    return ""


def model_config(task: OpenTask, labels: Sequence[str]) -> TaskConfig:
    """Return a config with the task's inputs and answers, by which a new model's folder is described."""
    inputs: list[Field] = []
    for role in task.inputs:
        if role.required:
            kind = Image if role.kind is RoleKind.IMAGE else Text
            inputs.append(kind(name=role.name, label=role.title))
    answer: Field = Text(name=ANSWER, label="Answer")
    if task.reference.kind is RoleKind.LABEL:
        answer = Choice(name=ANSWER, label="Answer", options=list(labels))  # type: ignore[arg-type]
    elif task.reference.kind is RoleKind.TAGS:
        answer = LabelledSpans(name=ANSWER, label="Answer", of=task.inputs[0].name, labels=list(labels)[:40])  # type: ignore[arg-type]
    elif task.name == "question-answering":
        answer = Spans(name=ANSWER, label="Answer", of="context")
    return TaskConfig.model_validate({"id": task.name, "name": task.name, "input": inputs, "answer": [answer]})


def make_folder(task: OpenTask, labels: Sequence[str], reference: str, into: Path) -> Path:
    """Make the folder of a model below `into`, once; raises `Problem` with what to do."""
    name = re.sub(r"[^a-z0-9._-]+", "-", reference.rpartition("/")[2].lower()).strip("-._")[:64] or "model"
    written_specs = sorted(into.glob("*/model.yaml")) if into.is_dir() else []
    if written_specs:
        return written_specs[0].parent
    into.mkdir(parents=True, exist_ok=True, mode=0o700)
    config = model_config(task, labels)
    if ADDRESS.fullmatch(reference):
        return references.folder_for_endpoint(reference, config, into)
    return described.from_hub(reference, name, config, into)
