"""`.eval_results/*.yaml`: the results of a model in its repository, from which the hub makes leaderboards of datasets.

The format is https://github.com/huggingface/hub-docs, eval_results.yaml. It has no metric: a benchmark's task is one
number.
"""

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from dynabench.evaluate.cards.model_index import CardResult
from dynabench.evaluate.cards.yaml_edits import EditError, TextEdit, apply_edits, edited_values
from dynabench.evaluate.cards.yaml_text import CardError, dump_yaml, given_values, plain_values, read_yaml, same_values

FOLDER = ".eval_results"


@dataclass(frozen=True)
class ResultEntry:
    """One number on one task of a benchmark, under the names of `huggingface_hub.EvalResultEntry`."""

    dataset_id: str
    task_id: str
    value: Any
    dataset_revision: str | None = None
    verify_token: str | None = None
    date: str | None = None
    source_url: str | None = None
    source_name: str | None = None
    source_user: str | None = None
    source_org: str | None = None
    notes: str | None = None

    def __post_init__(self) -> None:
        if self.source_url is None and any((self.source_name, self.source_user, self.source_org)):
            raise CardError("A source with a name, a user or an organisation needs a url.")

    @property
    def identity(self) -> tuple[Any, ...]:
        """The fields that are the same for all values of one measurement."""
        return (self.dataset_id, self.task_id, self.dataset_revision, self.source_url, self.notes)


def read_entries(text: str) -> list[ResultEntry]:
    """Return the results of a file. Raises `CardError` naming the entry of another shape."""
    values = read_yaml(text)
    if values is None:
        return []
    if not isinstance(values, list):
        raise CardError("A result file is a list of results.")
    return [_entry(value, place + 1) for place, value in enumerate(values)]


def write_entries(entries: Sequence[ResultEntry]) -> str:
    """Return the text of a file with these results."""
    return dump_yaml([_entry_values(entry) for entry in entries])


def merge_entries(text: str, entries: Sequence[ResultEntry], overwrite: bool = False) -> str:
    """Return a file's text with these results; all other text stays. Raises `CardError`."""
    present = read_entries(text)
    values = read_yaml(text)
    if not present:
        return write_entries(entries) if not text.strip() else text.rstrip() + "\n" + write_entries(entries)
    places = {entry.identity: place for place, entry in reversed(list(enumerate(present)))}
    edits: list[TextEdit] = []
    for entry in entries:
        place = places.get(entry.identity)
        if place is None:
            edits.append(TextEdit((), _entry_values(entry), "append"))
        elif not same_values(present[place].value, entry.value):
            if not overwrite:
                raise CardError(
                    f"The file has {present[place].value!r} for {entry.dataset_id}, {entry.task_id}, not "
                    f"{entry.value!r}; overwrite it if the new value is right."
                )
            edits += [
                TextEdit((place, name), value)
                for name, value in _entry_values(entry).items()
                if name in ("value", "verifyToken", "date")
            ]
            if present[place].verify_token is not None and entry.verify_token is None:
                edits.append(TextEdit((place, "verifyToken"), None))  # a token of the earlier value
    return _edited_text(text, values, edits)


def _edited_text(text: str, values: Any, edits: list[TextEdit]) -> str:
    expected = edited_values(deepcopy(values), edits)
    match = re.search(r"\r\n|\r|\n", text)
    line_break = match[0] if match else "\n"
    try:
        changed = apply_edits(text, edits, line_break)
        if same_values(read_yaml(changed), expected):
            return changed
    except (EditError, CardError):
        pass
    return dump_yaml(expected, line_break)


def entry_of(result: CardResult, task_id: str, date: str | None = None) -> ResultEntry:
    """Return a card's result as an entry. The format has no place for the metric, so that `notes` names it."""
    return ResultEntry(
        dataset_id=result.dataset_type,
        task_id=task_id,
        value=result.metric_value,
        dataset_revision=result.dataset_revision,
        verify_token=result.verify_token,
        date=date,
        source_url=result.source_url,
        source_name=result.source_name if result.source_url else None,
        notes=result.metric_name or result.metric_type,
    )


def _entry(value: Any, number: int) -> ResultEntry:
    where = f"Result {number}"
    if not isinstance(value, Mapping):
        raise CardError(f"{where} is not a mapping.")
    dataset, source = value.get("dataset"), value.get("source") or {}
    if not isinstance(dataset, Mapping) or not all(isinstance(dataset.get(name), str) for name in ("id", "task_id")):
        raise CardError(f"{where} has no dataset with id and task_id.")
    if "value" not in value:
        raise CardError(f"{where} has no value.")
    if not isinstance(source, Mapping):
        raise CardError(f"{where} has a source that is not a mapping.")
    texts = {
        "dataset_revision": dataset.get("revision"),
        "verify_token": value.get("verifyToken"),
        "date": plain_values(value.get("date")),
        **{f"source_{name}": source.get(name) for name in ("url", "name", "user", "org")},
        "notes": value.get("notes"),
    }
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise CardError(f"{where} has a {name.replace('_', ' ')} that is not text; put it in quotes.")
    try:
        return ResultEntry(dataset["id"], dataset["task_id"], value["value"], **texts)
    except CardError as error:
        raise CardError(f"{where}: {error}") from None


def _entry_values(entry: ResultEntry) -> dict[str, Any]:
    source = {
        "url": entry.source_url,
        "name": entry.source_name,
        "user": entry.source_user,
        "org": entry.source_org,
    }
    dataset = {"id": entry.dataset_id, "task_id": entry.task_id, "revision": entry.dataset_revision}
    values = {
        "dataset": given_values(dataset),
        "value": entry.value,
        "verifyToken": entry.verify_token,
        "date": entry.date,
        "source": given_values(source),
        "notes": entry.notes,
    }
    return {name: value for name, value in values.items() if name == "value" or value not in (None, {})}
