"""Folders of kind `transformers`, written from what a pretrained model's `config.json` says."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Conflict, Invalid
from dynabench.models import spec
from dynabench.models.starting import described
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice

ARCHITECTURES = {
    "ForSequenceClassification": "text-classification",
    "ForQuestionAnswering": "question-answering",
    "ForTokenClassification": "token-classification",
    "ForCausalLM": "text-generation",
    "LMHeadModel": "text-generation",
    "ForConditionalGeneration": "text2text-generation",
    "ForImageClassification": "image-classification",
}
"""What the class of a model, as `config.json` names it, does."""
MEANT = {"pos": "positive", "neg": "negative", "neu": "neutral", "entail": "entailment", "contradict": "contradiction"}
MEANT |= {"not entailment": "neutral", "hate": "hateful", "nothate": "not hateful", "non hate": "not hateful"}


def from_hub(
    repository: str, name: str, config: TaskConfig, into: Path, revision: str = "main", **options: Any
) -> Path:
    """A folder that names the commit that `revision` is now; `options` go before what its `config.json` suggests.

    Raises `Conflict` for a folder that holds a model, `Invalid` for options that do not fit, and what `hub.resolve` and
    `hub.fetch` raise.
    """
    from dynabench.models import hub

    if (into / name / spec.FILE).exists():
        raise Conflict(f"{into / name} holds a model already; choose another folder.")
    commit = hub.resolve(repository, revision)
    fetched = hub.fetch(repository, commit, str(options.get("gguf") or ""))
    options |= {"hub": repository, "revision": commit}
    told = {"licence": hub.licence(repository, commit), "summary": f"{repository} at {commit[:8]}."}
    return _write(fetched, name, config, into / name, options, **told)


def from_folder(source: Path, name: str, config: TaskConfig, into: Path) -> Path:
    """A folder with the files of what `save_pretrained` wrote, and a `model.yaml`."""
    folder = _write(source, name, config, into / name, {}, licence="unknown", summary=f"Made of {source.name}.")
    for path in source.iterdir():
        if path.is_file() and not (folder / path.name).exists():
            try:
                os.link(path, folder / path.name)  # weights are large, and the same bytes will do
            except OSError:
                (folder / path.name).write_bytes(path.read_bytes())
    return folder


def _write(source: Path, name: str, config: TaskConfig, folder: Path, given: Mapping[str, Any], **more: Any) -> Path:
    said = {} if "gguf" in given and "architecture" in given else _config(source)
    options: dict[str, Any] = {"architecture": given.get("architecture") or _architecture(said)}
    field = config.answer[0]
    own = [str(label) for _, label in sorted((said.get("id2label") or {}).items(), key=lambda pair: str(pair[0]))]
    if isinstance(field, Choice) and options["architecture"] == "text-classification":
        options |= {"labels": mapped} if (mapped := guessed(own, field.values)) else {}
    options |= given
    if isinstance(field, Choice) and (said_of := _answered(own, field.values, options.get("labels") or {})):
        more["labels"] = said_of
    told = described.facts(name, config, "transformers", options, data=["unknown"], **more)
    try:
        spec.Spec.model_validate(told)
    except ValueError as error:  # Pydantic's tells which line
        raise Invalid({spec.FILE: str(error)}) from error
    folder.mkdir(parents=True, exist_ok=True)
    (folder / spec.FILE).write_text(described.text(told), encoding="utf-8")
    (folder / "README.md").write_text(described.readme_text(told), encoding="utf-8")
    return folder


def _config(source: Path) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads((source / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Invalid({"config.json": f"This is no model of the transformers library: {error}"}) from error
    return said


def _architecture(said: Mapping[str, Any]) -> str:
    names = said.get("architectures") or []
    for name in names if isinstance(names, list) else []:
        for ending, does in ARCHITECTURES.items():
            if str(name).endswith(ending):
                return does
    told = f"{', '.join(map(str, names)) or 'no class'} is none that answers a task by itself"
    raise Invalid({"config.json": f"It names {told}: fine-tune it first; known are *{', *'.join(ARCHITECTURES)}."})


def guessed(own: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
    """From a model's labels to the task's where names alone do not tell; a last one left over means the last one left.

    Labels that nothing is known of are left out: the model's own check then says so, with both sides.
    """
    by_name = {_fold(label): label for label in wanted}
    found: dict[str, str] = {}
    for label in own:
        folded = _fold(label)
        meant = by_name.get(folded) or by_name.get(_fold(MEANT.get(folded, "")))
        if meant:
            found[label] = meant
    left = [label for label in own if label not in found], [label for label in wanted if label not in found.values()]
    if found and len(left[0]) == len(left[1]) == 1:
        found[left[0][0]] = left[1][0]
    return {label: meant for label, meant in found.items() if _fold(label) != _fold(meant)}


def _answered(own: Sequence[str], wanted: Sequence[str], said: Mapping[str, str]) -> list[str]:
    """The task's labels that the model can say, where each of its own means one: two ways of three are enough."""
    by_name = {_fold(label): label for label in wanted}
    meant = [said.get(label) or by_name.get(_fold(label)) for label in own]
    return [] if None in meant else [label for label in wanted if label in meant]


def _fold(label: str) -> str:
    return re.sub(r"[\W_]+", " ", label).strip().casefold()
