"""Suites of short tests by phenomenon (`adversaries.template_suites`) as datasets: rows, files, shipped suites."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy.orm import Session

from dynabench.adversaries.checklist import Suite
from dynabench.datasets import library
from dynabench.datasets import library_queries as queries
from dynabench.datasets.library_schemas import Settled
from dynabench.datasets.stored import Stored, Written
from dynabench.datasets.tables import Dataset
from dynabench.kit.language import _


def rows(suite: Suite) -> Iterator[Stored]:
    """A suite's items as a dataset's rows; what each is about is its tag."""
    for item in suite.items():
        yield Stored(item.uid, item.inputs, (item.answer,), (item.phenomenon,))


def lines(suite: Suite) -> Iterator[dict[str, Any]]:
    """A suite's items as rows of a file that can be added as a dataset: its columns need no layout."""
    for item in suite.items():
        yield {"uid": item.uid, **item.inputs, **item.answer, "functionality": item.phenomenon}


def card(suite: Suite) -> str:
    """Return the description of a suite for its dataset's page, in Markdown."""
    about = "\n".join(f"- **{each.name}**: {each.about}" for each in suite.phenomena)
    how = _("Each phenomenon has short sentences made of templates and words, a fixed sample that is always the same.")
    why = _("A model that passes knows the phenomenon in its plainest form; one that fails does not.")
    return f"{how} {why}\n\n{about}\n"


def add(session: Session, suite: Suite, written: Written) -> Dataset | None:
    """A suite as a public dataset of its task, with its stored rows; None where the task has one of that name."""
    if session.scalar(queries.named(suite.task, suite.name)):
        return None
    settled = Settled(
        title=suite.title, card=card(suite), licence=suite.licence, languages=["en"], visibility="public", kind="suite"
    )
    made = library.add(session, None, suite.task, suite.name, settled)
    library.ready(session, library.draft(session, None, made).id, written)
    return made
