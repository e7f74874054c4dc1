"""The card `README.md` and the `eval.yaml` of a release.

The card has a head that the Hugging Face Hub reads, and a page for people. From `eval.yaml` the hub makes a
leaderboard and Inspect runs an evaluation.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from dynabench.benchmark.releases.description import HUB_SPLITS, ReleaseDescription
from dynabench.benchmark.releases.division import SPLITS
from dynabench.collection.tables import WITHHELD
from dynabench.evaluate.cards.dataset_card import INDEX_KEY, Benchmark, BenchmarkTask, EvaluationIndex, write_benchmark
from dynabench.evaluate.cards.yaml_text import dump_yaml
from dynabench.tasks.fields import Choice, Spans


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
        metadata[INDEX_KEY] = [_evaluation_index(description).document()]
    return metadata


def split_configs(description: ReleaseDescription) -> list[dict[str, Any]]:
    """Return the hub's configs: one with the splits train, validation and test, one with the other parts."""
    splits = [{"split": HUB_SPLITS[part], "path": f"data/{part}.parquet"} for part in description.parts(*SPLITS)]
    other_files = [
        {"split": part, "path": f"data/{part}.parquet"} for part in description.parts("rejected", "unverified")
    ]
    default_config = [{"config_name": "default", "data_files": splits, "default": True}] if splits else []
    return default_config + ([{"config_name": "apart", "data_files": other_files}] if other_files else [])


def _evaluation_index(description: ReleaseDescription) -> EvaluationIndex:
    primary = description.config.metrics.primary
    return EvaluationIndex(
        config="default",
        task=description.kind,
        splits={"eval_split": "test"} | ({"train_split": "train"} if description.parts("train") else {}),
        columns={name: name for name in description.texts} | {description.answer: "target"},
        metrics=({"type": primary, "name": primary.replace("_", " ").capitalize()},),
    )


MARKED = "\\`*_{}[]<>()#+-.!|~&"
"""Characters that have a meaning in Markdown or HTML."""
DEMO_NOTE = "**Demo data.** The people, their votes and the dates are simulated; only the models' answers are real."


def card_text(description: ReleaseDescription) -> str:
    """Return the whole card, in markdown with a YAML head."""
    front = dump_yaml(card_metadata(description))
    return f"---\n# {description.warning}\n{front}---\n\n{_body(description)}"


def _body(description: ReleaseDescription) -> str:
    return "\n\n".join([
        f"# {description.title}",
        description.config.description or f"Examples that people wrote for the task {description.task}.",
        f"> {description.warning}",
        *([DEMO_NOTE] if description.demo else []),
        "## What is in it",
        _parts(description),
        _divided(description),
        "## Answers by part",
        _label_table(description),
        "## Columns",
        _column_table(description),
        "## Load it",
        f'```python\nfrom datasets import load_dataset\n\ndata = load_dataset("{description.name}")  # the folder\n```',
        f"Dev is the split `validation`. `data/*.jsonl` has the same rows as JSON lines. {_apart(description)}".strip(),
        "## How it was collected",
        _collected(description),
        *_thanks(description),
        "## Licence",
        f"{description.licence}. Cite it with the SHA-256 of `manifest.json`, which names every file with its own. "
        "`datasheet.md` answers the usual questions; `croissant.json` describes the columns for programs.",
    ]) + "\n"  # fmt: skip


def _thanks(description: ReleaseDescription) -> list[str]:
    """The thanks to the people and teams who chose to be named."""
    if not description.thanked_people and not description.thanked_teams:
        return []
    sentences = []
    if description.thanked_people:
        sentences.append(f"Thanks to {_listing(description.thanked_people)} for writing and checking.")
    if description.thanked_teams:
        word = "team" if len(description.thanked_teams) == 1 else "teams"
        sentences.append(f"Thanks to the {word} {_listing(description.thanked_teams)}.")
    return ["## Thanks", " ".join([*sentences, "Others who took part chose not to be named."])]


def _listing(names: Sequence[str]) -> str:
    """Names as a sentence lists them; their characters mean nothing in Markdown."""
    plain = ["".join(f"\\{letter}" if letter in MARKED else letter for letter in name) for name in names]
    return plain[0] if len(plain) == 1 else f"{', '.join(plain[:-1])} and {plain[-1]}"


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


def _label_table(description: ReleaseDescription) -> str:
    names = sorted({label for counts in description.report.labels.values() for label in counts})
    if not names or names == [""] or len(names) > 50:
        return "The answers are not chosen from a list."
    lines = ["| part | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for part, counts in sorted(description.report.labels.items()):
        if part not in WITHHELD:
            lines.append(f"| {part} | " + " | ".join(str(counts.get(name, 0)) for name in names) + " |")
    return "\n".join(lines)


def _column_table(description: ReleaseDescription) -> str:
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


Answers = Iterator[tuple[str, str]]


def eval_yaml(description: ReleaseDescription) -> str | None:
    """Return the file's text; None without a test part, or without text to give to a language model."""
    if not description.parts("test") or not description.texts:
        return None
    field = description.config.answer[0]
    scorer = "exact" if isinstance(field, Choice) else "f1" if isinstance(field, Spans) else "includes"
    task = BenchmarkTask(
        id=description.name.replace("-", "_"),
        config="default",
        fields={
            "input": description.texts[-1],
            "target": description.answer,
            "id": "uid",
            "metadata": description.texts[:-1],
        },
        solvers=({"name": "prompt_template", "args": {"template": _template(description)}}, {"name": "generate"}),
        scorers=({"name": scorer},),
    )
    text = (description.config.description or description.title)[:500]
    benchmark = Benchmark(description.title, "inspect-ai", [task], text)
    return f"# {description.warning}\n{write_benchmark(benchmark)}"


def _template(description: ReleaseDescription) -> str:
    lines = [f"{name}: {{{name}}}" for name in description.texts[:-1]] + [f"{description.texts[-1]}: {{prompt}}"]
    field = description.config.answer[0]
    if isinstance(field, Choice):
        instruction = f"Answer with one of these words alone: {', '.join(map(str, field.values))}."
    else:
        instruction = f"Answer with the {field.name} alone."
    return "\n".join([*lines, instruction])
