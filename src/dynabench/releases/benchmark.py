"""`eval.yaml`, by which the Hugging Face Hub makes a board of a dataset and Inspect runs it."""

from typing import Any

import yaml

from dynabench.releases.describing import Described
from dynabench.tasks.fields import Choice, Spans


def write(of: Described) -> str | None:
    """The file; None where there is nothing to test on, or no text to give to a language model."""
    if not of.parts("test") or not of.texts:
        return None
    task = {
        "id": of.name.replace("-", "_"),
        "config": "default",
        "split": "test",
        "field_spec": {"input": of.texts[-1], "target": of.answer, "id": "uid", "metadata": of.texts[:-1]},
        "solvers": [{"name": "prompt_template", "args": {"template": _template(of)}}, {"name": "generate"}],
        "scorers": [{"name": _scorer(of)}],
    }
    made: dict[str, Any] = {
        "name": of.title,
        "description": (of.config.description or of.title)[:500],
        "evaluation_framework": "inspect-ai",
        "tasks": [task],
    }
    return f"# {of.warning}\n{yaml.safe_dump(made, sort_keys=False, allow_unicode=True, width=1000)}"


def _template(of: Described) -> str:
    given = [f"{name}: {{{name}}}" for name in of.texts[:-1]] + [f"{of.texts[-1]}: {{prompt}}"]
    field = of.config.answer[0]
    if isinstance(field, Choice):
        asked = f"Answer with one of these words alone: {', '.join(map(str, field.values))}."
    else:
        asked = f"Answer with the {field.name} alone."
    return "\n".join([*given, asked])


def _scorer(of: Described) -> str:
    field = of.config.answer[0]
    return "exact" if isinstance(field, Choice) else "f1" if isinstance(field, Spans) else "includes"
