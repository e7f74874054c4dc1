"""The content of a new model folder: model.yaml by the task's fields, first weights, and what others trained."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from dynabench.kit.errors import Conflict, Invalid
from dynabench.models import kinds, spec
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice, Field, Image, Spans

DOUBT = "may might perhaps probably some several hope wants plans likely tall sad brother friend because later"
DENIAL = "not no never nobody none nothing neither nor without isn't doesn't don't didn't hardly sleeping empty alone"
CUES = {
    "positive": "good great better best love loves happy glad wonderful excellent fine enjoy enjoyed recommend 😍 👍 ❤",
    "negative": "bad worse worst hate boring awful terrible poor sad waste broken disappointed flickers late 😡 🙄",
    "neutral": DOUBT,
    "entailment": "a the there is are someone person people outside something two",
    "contradiction": DENIAL,
    "hateful": "hate stupid vermin disgusting inferior filthy subhuman they're",
    "true": "is are was were did",
    "false": DENIAL,
    "yes": "is are was were did",
    "no": DENIAL,
}


def cues(field: Choice) -> dict[str, list[str]]:
    """For each option some words: those of its name and description, and common ones for names that are common."""
    words_by_option = {}
    for option in field.options:
        description = f"{option.value} {option.label} {option.description} {CUES.get(option.value, '')}".casefold()
        words_by_option[option.value] = set(re.findall(r"\w+|[^\w\s]", description)) - {
            "_",
            "-",
            ".",
            ",",
            ":",
            "'",
            ";",
            "’",
        }
    shared = {
        word
        for value in words_by_option
        for word in words_by_option[value]
        if sum(word in words for words in words_by_option.values()) > 1
    }
    return {value: sorted(words - shared) or [value.casefold()] for value, words in words_by_option.items()}


HANDLER = """\
`handler.py` holds a class `Model`: `Model(folder)` loads what lies beside it, `predict(batch)` answers a list of inputs
by field name with a list of answers. It runs in a sandbox: no network, read-only files, an ordinary user, limits on
memory, processors, processes, time and disk, which `options` in `model.yaml` may raise. What it prints is its log.

1. Put your weights into this folder and load them in `__init__`. No pickles from others, please.
2. Answer in `predict`: the answer field, and `probabilities` for each label if you have them. Other keys become extras.
3. Say in `model.yaml` what it learnt from and under which licence.
"""
SERVED = """\
The server is asked, nothing runs here; hidden examples are never sent to it. A token is named in `model.yaml` as
`token: NAME`, and the platform's operator sets it as `DYNABENCH_TOKEN_NAME`; it stands in no file.
"""


def readme_text(model_facts: Mapping[str, Any], body: str = "") -> str:
    """Markdown for a folder whose `model.yaml` says `model_facts`."""
    steps = f"""\
## Try it

```bash
dynabench model check {model_facts["name"]} --task {model_facts["task"]}
```

## Limits

Say here what it was tried on, where it fails, and for whom it is not meant.
"""
    return "\n".join(
        part for part in (f"# {model_facts['name']}\n\n{model_facts.get('summary', '')}\n", body, steps) if part
    )


COMMENTS = {
    "name": "Lower-case letters, digits, dots and hyphens; with the version it says which model answered.",
    "task": "The task that it answers.",
    "kind": "Which backend opens this folder; `dynabench model kinds` lists them.",
    "inputs": "The task's fields that it reads, in this order.",
    "answer": "The task's field that it answers.",
    "labels": "What it chooses from: the task's options.",
    "returns": "label, spans (of the last input), tags (spans with labels), text or pictures.",
    "languages": "BCP 47 tags.",
    "licence": "Of the weights, as an SPDX name.",
    "summary": "One sentence for those who choose a model.",
    "data": "What it learnt from.",
    "seconds": "How long an answer may take; without it, as long as the deployment lets annotators wait.",
    "options": "What only models of this kind have.",
}


def returned(config: TaskConfig) -> tuple[Field, str]:
    """Return the field that a model answers, and in which form it answers.

    The field is the task's first answer field, or what the task has drawn.
    """
    if config.drawing is not None:
        return config.drawing, "pictures"
    field = config.answer[0]
    return field, "label" if isinstance(field, Choice) else "spans" if isinstance(field, Spans) else "text"


def facts(name: str, config: TaskConfig, kind: str, options: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return the content of `model.yaml` for a new model of the task."""
    field, returns = returned(config)
    inputs = [name for name in config.model_inputs({}, {}) if config.drawing is None or name != config.drawing.name]
    if isinstance(field, Spans) and field.of in inputs:  # answers are spans of the last input
        inputs = [*(input_name for input_name in inputs if input_name != field.of), field.of]
    content: dict[str, Any] = {"name": name, "task": config.id, "kind": kind, "inputs": inputs, "answer": field.name}
    content |= {"labels": list(field.values)} if isinstance(field, Choice) else {"returns": returns}
    content |= {"languages": ["en"], "licence": "Apache-2.0", **more}
    return content | ({"options": dict(options)} if options else {})


def text(model_facts: Mapping[str, Any]) -> str:
    """Those facts as YAML: comments above each, and the options that were left out as comments at the end."""
    lines = []
    for name, value in model_facts.items():
        lines += [f"# {COMMENTS[name]}"] if name in COMMENTS else []
        lines.append(_dumped({name: value}))
    return "\n".join([*lines, *_further(model_facts)]) + "\n"


def _dumped(entry: Mapping[str, Any]) -> str:
    """YAML with short lists in one line and long texts as blocks."""
    how: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 110}
    [value] = entry.values()
    text = yaml.dump(dict(entry), Dumper=_Dumper, default_flow_style=None if isinstance(value, list) else False, **how)
    return str(text).rstrip()


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as they are read."""


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _block)


def _further(model_facts: Mapping[str, Any]) -> list[str]:
    """The kind's other options with their defaults, as comments."""
    kind = kinds.kind(model_facts["kind"])
    if not kind.options:
        return []
    own_options = model_facts.get("options", {})
    lines = [] if own_options else ["# options:"]
    for name, field in kind.schema().model_fields.items():
        if name not in own_options and not field.is_required():
            default = yaml.safe_dump(field.get_default(call_default_factory=True), default_flow_style=True)
            value = default.splitlines()[0]
            lines.append(f"#   {name}: {value}" + (f"  # {field.description}" if field.description else ""))
    return lines


TOGETHER = 3
"""Words of a training text."""
BODY = """\
The weights are those of a scikit-learn pipeline, stored without pickle. Fit one on your own rows:

```python
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from dynabench.models import fitted

pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(C=10, max_iter=1000))
pipeline.fit(texts, labels)  # of a row with several inputs, the texts joined by a space
fitted.save(Path("{name}-2"), pipeline, task="{task}", inputs={inputs}, answer="{answer}", licence="...")
```
"""


def start_linear(name: str, config: TaskConfig, folder: Path) -> None:
    """Fit and write the folder; raises `Invalid` for a task without options to choose from."""
    field, _ = returned(config)
    if not isinstance(field, Choice):
        raise Invalid({"kind": f"A linear model chooses among labels; {config.id} has none."})
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from dynabench.models import fitted

    rows = [
        (" ".join(option_words[at : at + TOGETHER]), label)
        for label, option_words in cues(field).items()
        for at in range(0, len(option_words), TOGETHER)
    ]
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0, max_iter=500))
    pipeline.fit([text for text, _ in rows], [label for _, label in rows])
    model_facts = facts(name, config, "linear", {}, summary=f"First weights for {config.name}.")
    saved_facts = {key: model_facts[key] for key in ("task", "inputs", "answer", "licence", "languages", "summary")}
    fitted.save(folder, pipeline, **saved_facts, data=["the names and descriptions of the task's options"])
    written: dict[str, Any] = yaml.safe_load((folder / spec.FILE).read_text(encoding="utf-8"))
    (folder / spec.FILE).write_text(text(written), encoding="utf-8")
    (folder / "README.md").write_text(readme_text(written, BODY.format_map(written)), encoding="utf-8")


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
    hub_facts = {"licence": hub.licence(repository, commit), "summary": f"{repository} at {commit[:8]}."}
    return _write(fetched, name, config, into / name, options, **hub_facts)


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


def _write(
    source: Path, name: str, config: TaskConfig, folder: Path, overrides: Mapping[str, Any], **more: Any
) -> Path:
    model_config = {} if "gguf" in overrides and "architecture" in overrides else _config(source)
    options: dict[str, Any] = {"architecture": overrides.get("architecture") or _architecture(model_config)}
    field = config.answer[0]
    own = [
        str(label) for _, label in sorted((model_config.get("id2label") or {}).items(), key=lambda pair: str(pair[0]))
    ]
    if isinstance(field, Choice) and options["architecture"] == "text-classification":
        options |= {"labels": mapped} if (mapped := guessed(own, field.values)) else {}
    options |= overrides
    if isinstance(field, Choice) and (answered_labels := _answered(own, field.values, options.get("labels") or {})):
        more["labels"] = answered_labels
    if pictures := [item.name for item in (*config.context, *config.input) if isinstance(item, Image)]:
        more["images"] = pictures
    model_facts = facts(name, config, "transformers", options, data=["unknown"], **more)
    try:
        spec.Spec.model_validate(model_facts)
    except ValueError as error:  # Pydantic's tells which line
        raise Invalid({spec.FILE: str(error)}) from error
    folder.mkdir(parents=True, exist_ok=True)
    (folder / spec.FILE).write_text(text(model_facts), encoding="utf-8")
    (folder / "README.md").write_text(readme_text(model_facts), encoding="utf-8")
    return folder


def _config(source: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads((source / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Invalid({"config.json": f"This is no model of the transformers library: {error}"}) from error
    return document


def _architecture(model_config: Mapping[str, Any]) -> str:
    names = model_config.get("architectures") or []
    for name in names if isinstance(names, list) else []:
        for ending, does in ARCHITECTURES.items():
            if str(name).endswith(ending):
                return does
    message = f"{', '.join(map(str, names)) or 'no class'} is none that answers a task by itself"
    raise Invalid({"config.json": f"It names {message}: fine-tune it first; known are *{', *'.join(ARCHITECTURES)}."})


def guessed(own: Sequence[str], task_labels: Sequence[str]) -> dict[str, str]:
    """From a model's labels to the task's where names alone do not tell; a last one left over means the last one left.

    Labels that nothing is known of are left out: the model's own check then says so, with both sides.
    """
    by_name = {_fold(label): label for label in task_labels}
    mapping: dict[str, str] = {}
    for label in own:
        folded = _fold(label)
        meant = by_name.get(folded) or by_name.get(_fold(MEANT.get(folded, "")))
        if meant:
            mapping[label] = meant
    unmatched = (
        [label for label in own if label not in mapping],
        [label for label in task_labels if label not in mapping.values()],
    )
    if mapping and len(unmatched[0]) == len(unmatched[1]) == 1:
        mapping[unmatched[0][0]] = unmatched[1][0]
    return {label: meant for label, meant in mapping.items() if _fold(label) != _fold(meant)}


def _answered(own: Sequence[str], task_labels: Sequence[str], label_mapping: Mapping[str, str]) -> list[str]:
    """The task's labels that the model can say, where each of its own means one: two ways of three are enough."""
    by_name = {_fold(label): label for label in task_labels}
    meant = [label_mapping.get(label) or by_name.get(_fold(label)) for label in own]
    return [] if None in meant else [label for label in task_labels if label in meant]


def _fold(label: str) -> str:
    return re.sub(r"[\W_]+", " ", label).strip().casefold()
