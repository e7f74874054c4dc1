"""Results that others report, read from the forms in which they travel. Pure.

Papers-with-Code's evaluation tables (`sota-extractor`: tasks with datasets, each with a table of rows), and
`model-index` of Hugging Face's model cards (https://github.com/huggingface/hub-docs, modelcard.md). Whoever wrote a
document is trusted with nothing: what is no number or no plain text is left out and named.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

import orjson

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.tasks import reading

MAX_RESULTS = 2000  # results of one document
MAX_NAMED = 50  # results that were left out which are named, and results of one model's README
MAX_FRONT_MATTER = 64 * 1024  # characters of a README in which its front matter has to end
ADDRESS = re.compile(r"https?://[\x21-\x7e]{3,500}")
NUMBER = re.compile(
    r"\s*([-+]?(?:\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})(?:e[-+]?\d{1,2})?)\s*%?\s*(?:(?:±|\+/?-).{0,40})?", re.I
)


@dataclass(frozen=True)
class ExternalResult:
    """One number as it was reported; `source` says who reports it, `link` is an address or empty."""

    model: str
    dataset: str
    metric: str
    value: str
    source: str = ""
    link: str = ""
    date: str = ""

    @property
    def number(self) -> float | None:
        """The number in `value`, written as `88.6`, `88.6%` or `88.6 ± 0.2`; None where it is not a number."""
        found = NUMBER.fullmatch(self.value)
        return float(found[1]) if found else None


@dataclass
class ParsedReport:
    """The results that a document reports, and a line with the reason for each result left out."""

    form: str
    results: list[ExternalResult] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def read_report(content: bytes) -> ParsedReport:
    """The results in a document of either form; raises `Invalid` (field `file`) where it is neither or has none."""
    form, told = _results_by_form(content)
    found = ParsedReport(form)
    for each in islice(told, MAX_RESULTS + 1):
        where = " · ".join(text for text in (each.model, each.dataset, each.metric) if text) or "a result"
        if not all((each.model, each.dataset, each.metric)):
            found.left_out.append(f"{where}: its model, dataset or metric has no name")
        elif each.number is None:
            found.left_out.append(f"{where}: {each.value or 'nothing'} is no number")
        else:
            found.results.append(each)
    if len(found.results) + len(found.left_out) > MAX_RESULTS:
        raise errors.Invalid({"file": _("At most %(most)s results at once. Split the file.", most=f"{MAX_RESULTS:,}")})
    if not found.results:
        reason = f" {found.left_out[0]}." if found.left_out else ""
        raise errors.Invalid({"file": _("No result could be read from this.") + reason})
    return found


def _results_by_form(content: bytes) -> tuple[str, Iterator[ExternalResult]]:
    if content.lstrip().startswith(b"---"):
        return "model-index", _models(front_matter(content.decode("utf-8", "replace")))
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as problem:
        raise errors.Invalid(
            {"file": _("This is neither JSON nor a model card's front matter: %(problem)s.", problem=problem)}
        ) from None
    if _get(document, "model-index"):
        return "model-index", _models(document)
    return "papers-with-code", _tasks(document)


@lru_cache(maxsize=64)
def readme_results(text: str) -> tuple[ExternalResult, ...]:
    """The results that a README's `model-index` tells, at most `NAMED`; none where it has none."""
    return tuple(islice((each for each in _models(front_matter(text)) if each.value), MAX_NAMED))


def front_matter(text: str) -> object:
    """Return the parsed text between the two rules at the start of a model card; None where it is unreadable."""
    text = text.lstrip()
    if not text.startswith("---"):
        return None
    try:
        return reading.read_config(text[3:MAX_FRONT_MATTER].split("\n---", 1)[0])[0]
    except errors.Invalid:
        return None


def _models(matter: object) -> Iterator[ExternalResult]:
    for model in _maps(_get(matter, "model-index")):
        for result in _maps(model.get("results")):
            data = _text(_get(result.get("dataset"), "name")) or _text(_get(result.get("dataset"), "type"))
            source, link = (_get(result.get("source"), name) for name in ("name", "url"))
            for metric in _maps(result.get("metrics")):
                name = _text(metric.get("name")) or _text(metric.get("type"))
                value = _text(metric.get("value"))
                yield ExternalResult(_text(model.get("name")), data, name, value, _text(source), _address(link))


def _tasks(document: object) -> Iterator[ExternalResult]:
    """Of tasks with their subtasks and datasets with their subdatasets, in whatever depth."""
    waiting = _maps(document) or _maps([document])
    while waiting:
        each = waiting.pop(0)
        waiting += _maps(each.get("subtasks")) + _maps(each.get("datasets")) + _maps(each.get("subdatasets"))
        data = _text(each.get("dataset")) or _text(each.get("subdataset"))
        for row in _maps(_get(each.get("sota"), "rows")):
            link = _address(row.get("paper_url"))
            said = row.get("metrics")
            for metric, value in said.items() if isinstance(said, Mapping) else ():
                date = _text(row.get("paper_date"))[:10]
                title = _text(row.get("paper_title"))
                yield ExternalResult(_text(row.get("model_name")), data, _text(metric), _text(value), title, link, date)


def _get(of: object, name: str) -> object:
    return of.get(name) if isinstance(of, Mapping) else None


def _maps(of: object) -> list[Mapping[str, Any]]:
    return [each for each in of if isinstance(each, Mapping)] if isinstance(of, list) else []


def _text(of: object) -> str:
    """One line of it; empty where it is no text, or has signs that cannot be shown."""
    if isinstance(of, bool) or not isinstance(of, int | float | str):
        return ""
    try:
        text = " ".join(str(of).split())[:200]
    except ValueError:  # a whole number of thousands of digits
        return ""
    return text if text.isprintable() else ""


def _address(of: object) -> str:
    text = _text(of)
    return text if ADDRESS.fullmatch(text) else ""
