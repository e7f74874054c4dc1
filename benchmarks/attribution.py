"""Ways to explain an answer: how long each takes on the same sentence, and how much of the change its weights miss."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.row import Row, median_ms
from dynabench.models import catalog, removal, runtime, spec
from dynabench.models.protocol import Attributable, Attribution

STATEMENT = {
    "statement": "The acting is wonderful, but the plot is thin, the jokes are older than the cast, and the ending "
    "bored me so much that I left."
}


def rows() -> list[Row]:
    """All figures of this file; the anchor is one call of the same model."""
    runtime.use_threads(runtime.cores())
    result = []
    neural = catalog.open_model(catalog.BUILTIN / "sentiment-minilm")
    for method in neural.card.methods:
        result += _row(neural, method, "sentiment-minilm")
    linear = catalog.open_model(catalog.BUILTIN / "sentiment-ngram")
    result += _row(linear, "exact", "sentiment-ngram")
    with _both() as both:
        for method in removal.METHODS:
            result += _row(both, method, "an ensemble of both, which gives answers only")
    return result


def _row(model: Attributable, method: str, note: str) -> list[Row]:
    label = str(model.predict([STATEMENT])[0].answer["label"])
    item = median_ms(lambda: model.predict([STATEMENT]), 20)
    text: list[Attribution] = []
    used = median_ms(lambda: text.append(model.attribute(STATEMENT, label, method)), 3, warm=1)
    error = text[-1].completeness_error
    limit = {"layer_integrated_gradients": 2000}.get(method)
    rest = None if limit is None else used <= limit
    rows = [Row(method, used, "ms", "one call", item, "2 s" if limit else "", rest, note)]
    if error is not None:
        rows.append(Row(f"{method}, completeness error", error, "relative", budget="under 0.05", holds=error < 0.05))
    return rows


@contextmanager
def _both() -> Iterator[Attributable]:
    card = catalog.entry("sentiment-ngram").card
    assert card is not None
    members = [f"{name}@{catalog.entry(name).version}" for name in ("sentiment-minilm", "sentiment-ngram")]
    with TemporaryDirectory() as folder:
        document = {
            "name": "both", "task": card.task, "kind": "ensemble", "inputs": list(card.inputs), "answer": card.answer,
            "labels": list(card.labels), "licence": card.licence, "options": {"members": members},
        }  # fmt: skip
        spec.write(Path(folder), document)
        yield catalog.open_model(Path(folder))
