"""Behavioural suites in the manner of CheckList: a line is a test with its cases.

Minimum functionality tests (MFT) become rows whose tags are the test, which is the functionality, and its capability.
Invariance and directional tests (INV, DIR) compare two answers of a model and have none that is right: they are
counted and left out; robustness and fairness measure the former on every dataset.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dynabench.datasets.intake import cases
from dynabench.datasets.intake.cases import TAG, Case, Note
from dynabench.intake.mapping import value_key
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Field, Spans

VALENCE = ("negative", "neutral", "positive")  # what CheckList's sentiment numbers mean, from 0
Meanings = Mapping[str, str | list[str]]


def guess(config: TaskConfig, tests: Sequence[Mapping[str, Any]]) -> dict[str, str | list[str]]:
    """Return the meanings of class numbers and of tests without a label.

    A test without a label that is called "... not X" means all options but X.
    """
    first = config.fields("answer")[0]
    options = first.values if isinstance(first, Choice) else []
    found: dict[str, str | list[str]] = {}
    if set(VALENCE) == set(options):
        found |= {str(number): name for number, name in enumerate(VALENCE)}
    for test in tests:
        name = str(test.get("test", ""))
        for option in options:
            if test.get("labels") is None and test.get("type") == "MFT" and f"not {option}" in name:
                found[name] = [each for each in options if each != option]
    return found


def tests(values: Mapping[str, Any], config: TaskConfig, meanings: Meanings) -> Iterator[Case | Note | str]:
    """The cases of a test; a text says why one is none."""
    name, kind, data = str(values.get("test") or ""), str(values.get("type") or ""), values.get("data")
    if not isinstance(data, list) or not name:
        yield _("A test has a name under test and a list of cases under data.")
        return
    if kind != "MFT":
        yield Note(f"Cases of {kind[:10] or 'unnamed'} tests, which have no right answer", len(data))
        return
    labels = values.get("labels")
    if labels is None and name not in meanings:
        yield _(
            "The test %(name)s says nothing of its answers. Name those that are right under values.",
            name=repr(name[:60]),
        )
        return
    capability = str(values.get("capability") or "")[:80]
    tags = cases.tags([name[:TAG]], [("capability", capability)])
    fields = [*config.model_context, *config.fields("input")]
    for number, item in enumerate(data, start=1):
        wanted = labels[number - 1] if isinstance(labels, list) and number <= len(labels) else labels
        for place, texts in enumerate(_members(item, len(fields)), start=1):
            if texts is None:
                yield Note("Cases without any text")
                continue
            label = wanted[place - 1] if isinstance(wanted, list) and place <= len(wanted) else wanted
            given = {field.name: text for field, text in zip(fields, texts, strict=False)}
            try:
                answers = _answers(config.fields("answer")[0], name if labels is None else label, meanings, given)
            except errors.Invalid as problem:
                yield problem.detail
                continue
            yield Case(given, answers, tags, f"{number}.{place}")


def _members(item: Any, fields: int) -> Iterator[list[Any] | None]:
    """The texts of each case in a member of `data`: a text, one text for each field, or a list of either."""
    if item is None:
        yield None
    elif isinstance(item, str):
        yield [item]
    elif isinstance(item, list) and fields > 1 and len(item) == fields and all(isinstance(e, str) for e in item):
        yield item
    elif isinstance(item, list):
        yield from (each if isinstance(each, list) else [each] for each in item)
    else:
        yield [item]


def _answers(field: Field, label: Any, meanings: Meanings, given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for one in label if isinstance(label, list) else [label]:
        meant = meanings.get(value_key(one), one)
        for each in meant if isinstance(meant, list) else [meant]:
            spans = isinstance(field, Spans) and isinstance(each, str)
            read = cases.spans_of(each, given.get(field.of)) if spans else cases.value(each, field)  # type: ignore
            found.append({field.name: read})
    return found
