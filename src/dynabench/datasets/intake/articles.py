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
    title = "".join(one for one in str(article.get("title") or "").replace("_", " ")[:100] if one.isprintable())
    for paragraph in article.get("paragraphs") or [article]:
        text = paragraph.get("context") if isinstance(paragraph, dict) else None
        for asked in paragraph.get("qas", [paragraph]) if isinstance(paragraph, dict) else []:
            if not isinstance(text, str) or not isinstance(asked, dict):
                yield "A paragraph has no context, or a question is no object."
                continue
            golds = dict.fromkeys(squad.golds(asked))
            if asked.get("is_impossible") or not golds:
                yield f"Question {str(asked.get('id', '?'))[:60]}: the passage has no answer, so there is no span."
                continue
            found = [{answer: [{"start": start, "end": start + len(span), "text": span}]} for start, span in golds]
            uid = str(asked.get("id") or "")
            given = {passage: text, question: asked.get("question")}
            yield Case(given, found[: cases.ACCEPTED], (title,) if title else (), uid)
