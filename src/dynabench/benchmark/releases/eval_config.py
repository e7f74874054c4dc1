"""The file `eval.yaml`, from which the Hugging Face Hub makes a leaderboard and Inspect runs an evaluation."""

from typing import Any

import yaml

from dynabench.benchmark.releases.description import ReleaseDescription
from dynabench.tasks.fields import Choice, Spans


def eval_yaml(description: ReleaseDescription) -> str | None:
    """Return the file's text; None without a test part, or without text to give to a language model."""
    if not description.parts("test") or not description.texts:
        return None
    task = {
        "id": description.name.replace("-", "_"),
        "config": "default",
        "split": "test",
        "field_spec": {
            "input": description.texts[-1],
            "target": description.answer,
            "id": "uid",
            "metadata": description.texts[:-1],
        },
        "solvers": [{"name": "prompt_template", "args": {"template": _template(description)}}, {"name": "generate"}],
        "scorers": [{"name": _scorer(description)}],
    }
    document: dict[str, Any] = {
        "name": description.title,
        "description": (description.config.description or description.title)[:500],
        "evaluation_framework": "inspect-ai",
        "tasks": [task],
    }
    return f"# {description.warning}\n{yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000)}"


def _template(description: ReleaseDescription) -> str:
    lines = [f"{name}: {{{name}}}" for name in description.texts[:-1]] + [f"{description.texts[-1]}: {{prompt}}"]
    field = description.config.answer[0]
    if isinstance(field, Choice):
        instruction = f"Answer with one of these words alone: {', '.join(map(str, field.values))}."
    else:
        instruction = f"Answer with the {field.name} alone."
    return "\n".join([*lines, instruction])


def _scorer(description: ReleaseDescription) -> str:
    field = description.config.answer[0]
    return "exact" if isinstance(field, Choice) else "f1" if isinstance(field, Spans) else "includes"
