"""A model folder for a repository of a hub: which commit, which task, how its labels map; no weights."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from dynabench.errors import Conflict, Invalid
from dynabench.models import hub, spec
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice, Spans


def bring(folder: Path, config: TaskConfig, repository: str, revision: str, options: Mapping[str, Any]) -> Path:
    """Write `model.yaml` into a new folder, with the commit that `revision` names now; its name is the folder's.

    `options` are those of `backends.transformers.Options` besides the repository. Raises `Conflict` for a folder that
    has one, `Invalid` for what does not fit, and what `hub.resolve` raises.
    """
    if (folder / spec.FILE).exists():
        raise Conflict(f"{folder} holds a model already; choose another folder.")
    commit = hub.resolve(repository, revision)
    document = {
        "name": folder.name,
        "task": config.id,
        "kind": "transformers",
        "licence": hub.licence(repository, commit),
        "summary": f"{repository} at {commit[:8]}.",
        **_fields(config),
        "options": {**options, "hub": repository, "revision": commit},
    }
    try:
        spec.Spec.model_validate(document)
    except ValueError as error:  # Pydantic's tells which line
        raise Invalid({spec.FILE: str(error)}) from error
    folder.mkdir(parents=True, exist_ok=True)
    (folder / spec.FILE).write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return folder


def _fields(config: TaskConfig) -> dict[str, Any]:
    """What a model of the task reads and answers."""
    answer = config.answer[0]
    found: dict[str, Any] = {"inputs": list(config.model_inputs({}, {})), "answer": answer.name}
    if isinstance(answer, Choice):
        return {**found, "labels": list(answer.values)}
    return {**found, "returns": "spans" if isinstance(answer, Spans) else "text"}
