"""First folders: one for each kind of model, that works at once and says what to change."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Conflict, Invalid
from dynabench.models import catalog, kinds, spec, validity
from dynabench.models.endpoint_protocols import protocols
from dynabench.models.protocol import ModelCard
from dynabench.models.starting import described
from dynabench.models.starting.described import cues
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True)
class NewModel:
    """A new model: its name, task, folder, and what the builder said of it, such as `url`."""

    name: str
    config: TaskConfig
    folder: Path
    choices: dict[str, str]

    def facts(self, kind: str, options: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Return the content of the new model's `model.yaml`."""
        return described.facts(self.name, self.config, kind, options, **more)


def start(name: str, config: TaskConfig, kind: str, place: Path, **choices: str) -> Path:
    """Write the folder `place/name`; raises `Invalid` for what cannot be begun here, `Conflict` where something is.

    `choices` may hold `url` and `model` for served kinds, `members` (names, by commas) for ensembles, and `source` (a
    hub id or a folder) for pretrained ones.
    """
    if not NAME.fullmatch(name):
        raise Invalid({"name": "Begin with a letter or digit; then small letters, digits, dots and hyphens, up to 64."})
    if kind not in starts():
        kinds.kind(kind)
        raise Invalid(
            {"kind": f"Folders of kind {kind!r} are not begun by hand: {ELSEWHERE.get(kind, 'see its docs.')}"}
        )
    if (config.drawing is not None) != (kind == "openai-images"):
        raise Invalid({"kind": "Models of kind openai-images draw: for tasks that have something drawn, no others."})
    folder = place / name
    if folder.exists() and any(folder.iterdir()):
        raise Conflict(f"{folder} exists already; choose another name or place.")
    if message := kinds.kind(kind).lacks():
        raise Invalid({"kind": message})
    filled_choices = {key: value for key, value in choices.items() if value}
    files_of = starts()[kind](NewModel(name, config, folder, filled_choices))
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in files_of.items():
        (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


Files = dict[str, str | bytes]


def _handler(wish: NewModel) -> Files:
    field, returns = described.returned(wish.config)
    model_facts = wish.facts(
        "handler", {}, summary=f"A first rule for {wish.config.name}.", data=["none: a rule by hand"]
    )
    words: dict[str, Any] = {"inputs": model_facts["inputs"], "answer": field.name}
    words |= {"words": cues(field)} if isinstance(field, Choice) else {}
    code = (files(__package__) / "handlers" / f"{returns}.py").read_text(encoding="utf-8")
    return {
        "handler.py": code,
        "words.json": json.dumps(words, indent=1, ensure_ascii=False) + "\n",
        spec.FILE: described.text(model_facts),
        "README.md": described.readme_text(model_facts, described.HANDLER),
    }


def _ensemble(wish: NewModel) -> Files:
    member_names = [part.strip() for part in wish.choices.get("members", "").split(",") if part.strip()]
    fitting = [entry.card for entry in catalog.find() if entry.card and _joins(wish.config, entry.card)]
    by_name: dict[str, ModelCard] = {}
    for card in fitting:  # of a name's versions the catalog lists the one first that is served by default
        by_name.setdefault(card.name, card)
    card_by_reference = {f"{card.name}@{card.version}": card for card in fitting} | by_name
    if missing := [name for name in member_names if name not in card_by_reference]:
        fitting_names = ", ".join(sorted({card.name for card in fitting})) or "none"
        raise Invalid({"members": f"{', '.join(missing)}: no installed model that fits; there are: {fitting_names}."})
    members = [card_by_reference[name] for name in member_names] or list(by_name.values())
    if len(members) < 2:
        raise Invalid({"members": f"An ensemble needs two installed models of {wish.config.id} at least."})
    named = [f"{card.name}@{card.version}" for card in members]
    summary = f"The mean of {' and '.join(card.name for card in members)}."
    model_facts = wish.facts("ensemble", {"members": named}, summary=summary, data=["what its members learnt from"])
    return {spec.FILE: described.text(model_facts), "README.md": described.readme_text(model_facts)}


def _joins(config: TaskConfig, card: ModelCard) -> bool:
    field = config.answer[0]
    whole = not isinstance(field, Choice) or set(field.values) == set(card.labels)
    return (
        card.kind != "ensemble" and whole and card.answer == field.name and not validity.answer_problems(config, card)
    )


def _served(kind: str, *needed: str, **fixed: Any) -> Callable[[NewModel], Files]:
    """A model that others serve: `needed` are options that the builder has to say."""

    def write(wish: NewModel) -> Files:
        wrong = {name: f"Say --{name}: {OPTION_HINTS[name]}" for name in needed if not wish.choices.get(name)}
        if wrong:
            raise Invalid(wrong)
        options = {name: wish.choices[name] for name in needed}
        options |= {name: value(wish) if callable(value) else value for name, value in fixed.items()}
        _, returns = described.returned(wish.config)
        if kind == "openai" and returns == "spans":
            raise Invalid({"kind": "A chat model writes labels and texts, it marks none; try kind huggingface."})
        kinds.kind(kind).read(options)
        defaults = {"licence": "unknown", "summary": f"Served at {wish.choices['url']}.", "data": ["unknown"]}
        model_facts = wish.facts(kind, options, **defaults, seconds=30.0)
        return {
            spec.FILE: described.text(model_facts),
            "README.md": described.readme_text(model_facts, described.SERVED),
        }

    return write


OPTION_HINTS = {"url": "the address of the server.", "model": "the model's name there."}


def _pretrained(wish: NewModel) -> Files:
    """Made of a hub id or of a folder that the transformers library saved, with its files."""
    source = wish.choices.get("source", "")
    if not source:
        raise Invalid({"source": "Say --source: a hub id (org/name), or a folder that save_pretrained wrote."})
    path = Path(source).expanduser()
    if path.is_dir():
        described.from_folder(path, wish.name, wish.config, wish.folder.parent)
    else:
        described.from_hub(source, wish.name, wish.config, wish.folder.parent)
    return {}


def _linear(wish: NewModel) -> Files:
    described.start_linear(wish.name, wish.config, wish.folder)
    return {}


def _prompt(wish: NewModel) -> str:
    field, _ = described.returned(wish.config)
    fields_text = "\n".join(f"{name}: {{{name}}}" for name in wish.config.model_inputs({}, {}))
    question = wish.config.description or wish.config.name
    if isinstance(field, Choice):
        options = "\n".join(f"- {option.value}: {option.description or option.label}" for option in field.options)
        return f"{question}\n\n{options}\n\n{fields_text}\n\nAnswer with one of: {{labels}}."
    return f"{question}\n\n{fields_text}\n\n{field.label}:"


def _pipeline(wish: NewModel) -> str:
    _, returns = described.returned(wish.config)
    return {"label": "text-classification", "spans": "question-answering"}.get(returns, "text-generation")


STARTS: dict[str, Callable[[NewModel], Files]] = {
    "handler": _handler,
    "linear": _linear,
    "transformers": _pretrained,
    "ensemble": _ensemble,
    "huggingface": _served("huggingface", "url", pipeline=_pipeline),
    "openai": _served("openai", "url", "model", prompt=_prompt),
    "openai-images": _served("openai-images", "url", "model"),
}


def starts() -> dict[str, Callable[[NewModel], Files]]:
    """Return what begins a folder, by kind; where nothing more is needed it is made of the protocol."""
    served = {name: _served(name, *protocol.needs) for name, protocol in protocols().items()}
    return served | STARTS


ELSEWHERE = {
    "adapter": "`dynabench train` makes them from a recipe, or of rows by `--on`.",
    "extractor": "`dynabench train` makes them from a recipe, or of rows by `--on`.",
    "head": "`dynabench train --method head` makes them.",
    "ngram": "`dynabench train` makes them from a recipe, or of rows by `--on`.",
    "onnx": "`dynabench model export` makes one of another model.",
}
