"""A task with an answer of each sort, to try rules on."""

from typing import Any

import yaml

from dynabench.tasks import TaskConfig

BASE: dict[str, Any] = {
    "id": "trial",
    "name": "Trial",
    "context": [{"name": "first", "type": "text"}, {"name": "second", "type": "text"}],
    "input": [{"name": "question", "type": "text"}],
    "answer": [
        {"name": "label", "type": "choice", "options": ["yes", "no", "maybe"]},
        {"name": "reply", "type": "text"},
        {"name": "count", "type": "number"},
    ],
}


def task(fooled: Any, **more: Any) -> str:
    """Its YAML."""
    return yaml.safe_dump({**BASE, "fooled": fooled, **more})


def rule(name: str, *fields: str, **settings: Any) -> TaskConfig:
    """The task under a rule that looks at these fields."""
    return TaskConfig.parse(task({"rule": name, "fields": list(fields or ["reply"]), **settings}))
