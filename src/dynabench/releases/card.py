"""The dataset card, `README.md`: a head that the Hugging Face Hub reads, and a page that people do."""

from typing import Any

import yaml

from dynabench.collection.released_tables import WITHHELD
from dynabench.releases.describing import HUB_SPLITS, Described
from dynabench.releases.splitting import SPLITS


def head(of: Described) -> dict[str, Any]:
    """The card's metadata: configs by which `datasets` finds the files, and how models are evaluated on them."""
    made_by = ["crowdsourced"] + (["machine-generated"] if of.facts.sources["program"] else [])
    made: dict[str, Any] = {
        "pretty_name": of.title,
        **of.licence_fields(),
        "task_categories": [of.kind],
        "annotations_creators": ["crowdsourced"],
        "language_creators": made_by,
        "source_datasets": ["original"],
        "size_categories": [of.size],
        "tags": ["adversarial", "dynabench", "human-in-the-loop"],
        "configs": configs(of),
    }
    if of.parts("test"):
        made["train-eval-index"] = [_index(of)]
    return made


def configs(of: Described) -> list[dict[str, Any]]:
    """Which file is which split: train, validation and test, and the others as a config of their own."""
    splits = [{"split": HUB_SPLITS[part], "path": f"data/{part}.parquet"} for part in of.parts(*SPLITS)]
    apart = [{"split": part, "path": f"data/{part}.parquet"} for part in of.parts("rejected", "unverified")]
    found = [{"config_name": "default", "data_files": splits, "default": True}] if splits else []
    return found + ([{"config_name": "apart", "data_files": apart}] if apart else [])


def _index(of: Described) -> dict[str, Any]:
    splits = {"eval_split": "test"} | ({"train_split": "train"} if of.parts("train") else {})
    columns = {name: name for name in of.texts} | {of.answer: "target"}
    primary = of.config.metrics.primary
    metric = {"type": primary, "name": primary.replace("_", " ").capitalize()}
    return {"config": "default", "task": of.kind, "splits": splits, "col_mapping": columns, "metrics": [metric]}


def write(of: Described) -> str:
    """The whole card."""
    front = yaml.safe_dump(head(of), sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n# {of.warning}\n{front}---\n\n{_body(of)}"


def _body(of: Described) -> str:
    return "\n\n".join([
        f"# {of.title}",
        of.config.description or f"Examples that people wrote for the task {of.task}.",
        f"> {of.warning}",
        "## What is in it",
        _parts(of),
        _divided(of),
        "## Answers by part",
        _labels(of),
        "## Columns",
        _columns(of),
        "## Load it",
        f'```python\nfrom datasets import load_dataset\n\ndata = load_dataset("{of.name}")  # the folder\n```',
        f"Dev is the split `validation`. `data/*.jsonl` has the same rows as JSON lines. {_apart(of)}".strip(),
        "## How it was collected",
        _collected(of),
        "## Licence",
        f"{of.licence}. Cite it with the SHA-256 of `manifest.json`, which names every file with its own. "
        "`datasheet.md` answers the usual questions; `croissant.json` describes the columns for programs.",
    ]) + "\n"  # fmt: skip


def _parts(of: Described) -> str:
    lines = ["| part | examples | writers |", "|---|---:|---:|"]
    found = of.report
    lines += [f"| {name} | {n} | {found.writers.get(name, 0)} |" for name, n in sorted(found.parts.items())]
    return "\n".join(lines)


def _divided(of: Described) -> str:
    held = " and ".join(of.report.held) or "nothing"
    said = [
        f"Train, dev and test share no {held}." if of.report.held else "Train, dev and test may share writers.",
        "Near-duplicates, and examples made from one another, are in one part.",
        "Dev and test have verified examples alone. The part hidden is drawn at random from the same pool as test, and "
        "is read by nobody: where a model does better on test than on hidden, it may have seen test.",
    ]
    leaks = [f"{leak.part}: {leak.writers} by writers of train, {leak.contexts} on contexts of train, "
             f"{leak.near_duplicates} near-duplicates of train" for leak in of.report.leaks]  # fmt: skip
    return " ".join(said) + "\n\nOf the examples to test on, train shares: " + "; ".join(leaks) + "."


def _labels(of: Described) -> str:
    names = sorted({label for found in of.report.labels.values() for label in found})
    if not names or names == [""] or len(names) > 50:
        return "The answers are not chosen from a list."
    lines = ["| part | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for part, found in sorted(of.report.labels.items()):
        if part not in WITHHELD:
            lines.append(f"| {part} | " + " | ".join(str(found.get(name, 0)) for name in names) + " |")
    return "\n".join(lines)


def _columns(of: Described) -> str:
    titles = {
        (group, field.name): field for group in ("context", "input", "answer") for field in of.config.fields(group)
    }
    said = {"context": "what the writer was given", "input": "what the writer wrote", "answer": "the answer they claim"}
    lines = ["| column | what |", "|---|---|"]
    for group, field, column in of.layout.columns:
        lines.append(f"| `{column}` | {said[group]}: {titles[group, field].type} |")
    lines += [
        "| `fooled`, `predictions` | whether the models in the loop were wrong, and what each answered |",
        "| `verdict`, `validations` | what validators decided, and each vote |",
        "| `author`, `source`, `condition` | the writer's pseudonym here, who they are, how it came about |",
        "| `uid`, `number`, `made_from` | the example's name, its place in the round, the example it was made from |",
        "| `canary` | the same GUID in each row |",
    ]
    return "\n".join(lines)


def _apart(of: Described) -> str:
    found = of.parts("rejected", "unverified")
    return f'`load_dataset("{of.name}", "apart")` has the parts {" and ".join(found)}.' if found else ""


def _collected(of: Described) -> str:
    against = ", ".join(of.targets) or "no model"
    return (
        f"On a Dynabench platform, from {of.opened_at[:10]} to {of.closed_at[:10]}, by {len(of.facts.writers)} writers "
        f"against {against}. {len(of.facts.validators)} people validated. Written by {of.maker}."
    )
