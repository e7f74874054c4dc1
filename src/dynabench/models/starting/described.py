"""The first weights and files of a new model folder."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from dynabench.kit.errors import Invalid
from dynabench.models import kinds, spec
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Choice, Field, Spans

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
    told = {}
    for option in field.options:
        said = f"{option.value} {option.label} {option.description} {CUES.get(option.value, '')}".casefold()
        told[option.value] = set(re.findall(r"\w+|[^\w\s]", said)) - {"_", "-", ".", ",", ":", "'", ";", "’"}
    shared = {word for value in told for word in told[value] if sum(word in words for words in told.values()) > 1}
    return {value: sorted(words - shared) or [value.casefold()] for value, words in told.items()}


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


def readme_text(told: Mapping[str, Any], body: str = "") -> str:
    """Markdown for a folder whose `model.yaml` says `told`."""
    steps = f"""\
## Try it

```bash
dynabench model check {told["name"]} --task {told["task"]}
```

## Limits

Say here what it was tried on, where it fails, and for whom it is not meant.
"""
    return "\n".join(part for part in (f"# {told['name']}\n\n{told.get('summary', '')}\n", body, steps) if part)


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
        inputs = [*(each for each in inputs if each != field.of), field.of]
    told: dict[str, Any] = {"name": name, "task": config.id, "kind": kind, "inputs": inputs, "answer": field.name}
    told |= {"labels": list(field.values)} if isinstance(field, Choice) else {"returns": returns}
    told |= {"languages": ["en"], "licence": "Apache-2.0", **more}
    return told | ({"options": dict(options)} if options else {})


def text(told: Mapping[str, Any]) -> str:
    """Those facts as YAML: comments above each, and the options that were left out as comments at the end."""
    lines = []
    for name, value in told.items():
        lines += [f"# {COMMENTS[name]}"] if name in COMMENTS else []
        lines.append(_dumped({name: value}))
    return "\n".join([*lines, *_further(told)]) + "\n"


def _dumped(told: Mapping[str, Any]) -> str:
    """YAML with short lists in one line and long texts as blocks."""
    how: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 110}
    [value] = told.values()
    text = yaml.dump(dict(told), Dumper=_Dumper, default_flow_style=None if isinstance(value, list) else False, **how)
    return str(text).rstrip()


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as they are read."""


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _block)


def _further(told: Mapping[str, Any]) -> list[str]:
    """The kind's other options with their defaults, as comments."""
    kind = kinds.kind(told["kind"])
    if not kind.options:
        return []
    given = told.get("options", {})
    lines = [] if given else ["# options:"]
    for name, field in kind.schema().model_fields.items():
        if name not in given and not field.is_required():
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

    rows = [(" ".join(part), label) for label, found in cues(field).items() for part in _parts(found)]
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0, max_iter=500))
    pipeline.fit([text for text, _ in rows], [label for _, label in rows])
    told = facts(name, config, "linear", {}, summary=f"First weights for {config.name}.")
    kept = {key: told[key] for key in ("task", "inputs", "answer", "licence", "languages", "summary")}
    fitted.save(folder, pipeline, **kept, data=["the names and descriptions of the task's options"])
    written: dict[str, Any] = yaml.safe_load((folder / spec.FILE).read_text(encoding="utf-8"))
    (folder / spec.FILE).write_text(text(written), encoding="utf-8")
    (folder / "README.md").write_text(readme_text(written, BODY.format_map(written)), encoding="utf-8")


def _parts(words: Sequence[str]) -> Iterator[Sequence[str]]:
    for at in range(0, len(words), TOGETHER):
        yield words[at : at + TOGETHER]
