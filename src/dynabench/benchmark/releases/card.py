"""The dataset card, `README.md`: a head that the Hugging Face Hub reads, and a page that people do."""

from typing import Any

import yaml

from dynabench.benchmark.releases.description import HUB_SPLITS, ReleaseDescription
from dynabench.benchmark.releases.splitting import SPLITS
from dynabench.collection.tables import WITHHELD


def card_metadata(description: ReleaseDescription) -> dict[str, Any]:
    """Return the card's metadata: configs by which `datasets` finds the files, and the evaluation of models on them."""
    made_by = ["crowdsourced"] + (["machine-generated"] if description.facts.sources["program"] else [])
    metadata: dict[str, Any] = {
        "pretty_name": description.title,
        **description.licence_fields(),
        "task_categories": [description.kind],
        "annotations_creators": ["crowdsourced"],
        "language_creators": made_by,
        "source_datasets": ["original"],
        "size_categories": [description.size],
        "tags": ["adversarial", "dynabench", "human-in-the-loop"],
        "configs": split_configs(description),
    }
    if description.parts("test"):
        metadata["train-eval-index"] = [_index(description)]
    return metadata


def split_configs(description: ReleaseDescription) -> list[dict[str, Any]]:
    """Return the hub's configs: one with the splits train, validation and test, one with the other parts."""
    splits = [{"split": HUB_SPLITS[part], "path": f"data/{part}.parquet"} for part in description.parts(*SPLITS)]
    other_files = [
        {"split": part, "path": f"data/{part}.parquet"} for part in description.parts("rejected", "unverified")
    ]
    default_config = [{"config_name": "default", "data_files": splits, "default": True}] if splits else []
    return default_config + ([{"config_name": "apart", "data_files": other_files}] if other_files else [])


def _index(description: ReleaseDescription) -> dict[str, Any]:
    splits = {"eval_split": "test"} | ({"train_split": "train"} if description.parts("train") else {})
    columns = {name: name for name in description.texts} | {description.answer: "target"}
    primary = description.config.metrics.primary
    metric = {"type": primary, "name": primary.replace("_", " ").capitalize()}
    return {
        "config": "default",
        "task": description.kind,
        "splits": splits,
        "col_mapping": columns,
        "metrics": [metric],
    }


def card_text(description: ReleaseDescription) -> str:
    """Return the whole card, in markdown with a YAML head."""
    front = yaml.safe_dump(card_metadata(description), sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n# {description.warning}\n{front}---\n\n{_body(description)}"


def _body(description: ReleaseDescription) -> str:
    return "\n\n".join([
        f"# {description.title}",
        description.config.description or f"Examples that people wrote for the task {description.task}.",
        f"> {description.warning}",
        "## What is in it",
        _parts(description),
        _divided(description),
        "## Answers by part",
        _labels(description),
        "## Columns",
        _columns(description),
        "## Load it",
        f'```python\nfrom datasets import load_dataset\n\ndata = load_dataset("{description.name}")  # the folder\n```',
        f"Dev is the split `validation`. `data/*.jsonl` has the same rows as JSON lines. {_apart(description)}".strip(),
        "## How it was collected",
        _collected(description),
        "## Licence",
        f"{description.licence}. Cite it with the SHA-256 of `manifest.json`, which names every file with its own. "
        "`datasheet.md` answers the usual questions; `croissant.json` describes the columns for programs.",
    ]) + "\n"  # fmt: skip


def _parts(description: ReleaseDescription) -> str:
    lines = ["| part | examples | writers |", "|---|---:|---:|"]
    report = description.report
    lines += [f"| {name} | {n} | {report.writers.get(name, 0)} |" for name, n in sorted(report.parts.items())]
    return "\n".join(lines)


def _divided(description: ReleaseDescription) -> str:
    disjoint = " and ".join(description.report.held) or "nothing"
    sentences = [
        f"Train, dev and test share no {disjoint}."
        if description.report.held
        else "Train, dev and test may share writers.",
        "Near-duplicates, and examples made from one another, are in one part.",
        "Dev and test have verified examples alone. The part hidden is drawn at random from the same pool as test, and "
        "is read by nobody: where a model does better on test than on hidden, it may have seen test.",
    ]
    leaks = [f"{leak.part}: {leak.writers} by writers of train, {leak.contexts} on contexts of train, "
             f"{leak.near_duplicates} near-duplicates of train" for leak in description.report.leaks]  # fmt: skip
    return " ".join(sentences) + "\n\nOf the examples to test on, train shares: " + "; ".join(leaks) + "."


def _labels(description: ReleaseDescription) -> str:
    names = sorted({label for counts in description.report.labels.values() for label in counts})
    if not names or names == [""] or len(names) > 50:
        return "The answers are not chosen from a list."
    lines = ["| part | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for part, counts in sorted(description.report.labels.items()):
        if part not in WITHHELD:
            lines.append(f"| {part} | " + " | ".join(str(counts.get(name, 0)) for name in names) + " |")
    return "\n".join(lines)


def _columns(description: ReleaseDescription) -> str:
    titles = {
        (group, field.name): field
        for group in ("context", "input", "answer")
        for field in description.config.fields(group)
    }
    meanings = {
        "context": "what the writer was given",
        "input": "what the writer wrote",
        "answer": "the answer they claim",
    }
    lines = ["| column | what |", "|---|---|"]
    for group, field, column in description.layout.columns:
        lines.append(f"| `{column}` | {meanings[group]}: {titles[group, field].type} |")
    lines += [
        "| `fooled`, `predictions` | whether the models in the loop were wrong, and what each answered |",
        "| `verdict`, `validations` | what validators decided, and each vote |",
        "| `author`, `source`, `condition` | the writer's pseudonym here, who they are, how it came about |",
        "| `uid`, `number`, `made_from` | the example's name, its place in the round, the example it was made from |",
        "| `canary` | the same GUID in each row |",
    ]
    return "\n".join(lines)


def _apart(description: ReleaseDescription) -> str:
    part_names = description.parts("rejected", "unverified")
    return (
        f'`load_dataset("{description.name}", "apart")` has the parts {" and ".join(part_names)}.' if part_names else ""
    )


def _collected(description: ReleaseDescription) -> str:
    against = ", ".join(description.targets) or "no model"
    return (
        f"On a Dynabench platform, from {description.opened_at[:10]} to {description.closed_at[:10]}, "
        f"by {len(description.facts.writers)} writers against {against}. {len(description.facts.validators)} people "
        f"validated. Written by {description.maker}."
    )
