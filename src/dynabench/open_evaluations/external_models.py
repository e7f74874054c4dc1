"""Models that are not on the platform: a hub id or the address of a server, made into a folder for one evaluation."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import hub, references
from dynabench.models.starting import described
from dynabench.open_evaluations import repository_models
from dynabench.open_evaluations.kinds import ANSWER, OpenTask, RoleKind
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Field, Image, Text

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
CHAT = "openai"
ADDRESS = re.compile(r"https?://[^\s]{3,290}")


def is_external(reference: str) -> bool:
    """Return whether a reference is a hub id, a repository of the platform's hub, or an address."""
    return bool(
        HUB_ID.fullmatch(reference) or ADDRESS.fullmatch(reference) or repository_models.is_repository(reference)
    )


def refusal(settings: Settings, reference: str) -> str:
    """Return why a reference cannot be a model; empty where it can."""
    if ADDRESS.fullmatch(reference) or repository_models.is_repository(reference):
        return ""
    if not HUB_ID.fullmatch(reference) or not hub.NAME.fullmatch(reference):
        return _("There is no model %(name)s that you may use. Check its name, or give a hub id.", name=repr(reference))
    if not settings.hub_url:
        return _("This platform calls no hub. Choose a model of the platform, or the address of a server.")
    return ""


def model_config(task: OpenTask, labels: Sequence[str], roles: Collection[str], writes: bool) -> TaskConfig:
    """Return a config with the inputs of the rows, by which a new model's folder is described.

    `writes` says that the model answers with texts. Raises `Invalid` where the labels cannot be options.
    """
    inputs: list[Field] = []
    for role in task.inputs:
        if role.required or role.name in roles:
            kind = Image if role.kind is RoleKind.IMAGE else Text
            inputs.append(kind(name=role.name, label=role.title))
    answer: dict[str, Any] = {"type": "text", "name": ANSWER, "label": "Answer"}
    if task.reference.kind is RoleKind.LABEL:
        answer |= {"type": "choice", "options": list(labels)}
    elif task.reference.kind is RoleKind.TAGS:
        answer |= {"type": "labelled_spans", "of": task.inputs[0].name, "labels": list(labels)}
    elif task.name == "question-answering" and not writes:
        answer |= {"type": "spans", "of": "context"}
    document = {"id": task.name, "name": task.name, "description": task.instruction, "input": inputs}
    try:
        return TaskConfig.model_validate(document | {"answer": [answer]})
    except ValidationError as problem:
        message = _("The %(n)s labels of the rows cannot be given to a model elsewhere: %(problem)s",
                    n=len(labels), problem=str(problem.errors()[0]["msg"]))  # fmt: skip
        raise errors.Invalid({"models": message}) from None


def make_folder(task: OpenTask, labels: Sequence[str], roles: Collection[str], reference: str, into: Path) -> Path:
    """Make the folder of a model below `into`, once; raises `Problem` with what to do."""
    name = re.sub(r"[^a-z0-9._-]+", "-", reference.rpartition("/")[2].lower()).strip("-._")[:64] or "model"
    written_specs = sorted(into.glob("*/model.yaml")) if into.is_dir() else []
    if written_specs:
        return written_specs[0].parent
    into.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not ADDRESS.fullmatch(reference):
        return described.from_hub(reference, name, model_config(task, labels, roles, writes=False), into)
    kind, url, model = references.require_endpoint(reference)
    if kind == CHAT and "text" not in task.returns and "label" not in task.returns:
        message = _("A chat server gives labels and texts. Of %(task)s the answers are tags: choose another model.",
                    task=task.title)  # fmt: skip
        raise errors.Invalid({"models": message})
    config = model_config(task, labels, roles, writes=kind == CHAT)
    return references.write_endpoint_folder(kind, url, model, config, into)
