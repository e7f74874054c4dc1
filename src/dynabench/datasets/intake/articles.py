"""Questions of SQuAD's articles, with all their gold answers."""

from collections.abc import Iterator, Mapping
from typing import Any

from dynabench.datasets.imports import squad
from dynabench.datasets.intake import cases
from dynabench.datasets.intake.cases import Case
from dynabench.tasks import TaskConfig


def questions(article: Mapping[str, Any], config: TaskConfig) -> Iterator[Case | str]:
    """The questions of an article, each a case, or why it is none. Raises `Invalid` for tasks of another kind."""
    passage, question, answer = squad.names(config)
    title = squad.title(article)
    for one in squad.asked(article):
        if isinstance(one, str):
            yield one
            continue
        given = {passage: one.text, question: one.said.get("question")}
        found = [{answer: span} for span in one.golds[: cases.ACCEPTED]]
        yield Case(given, found, (title,) if title else (), str(one.said.get("id") or ""))
