"""`model-index`: the results in the front matter of a model card (modelcard.md of github.com/huggingface/hub-docs).

Results read from a card are equal to those that `huggingface_hub.ModelCard` reads. Unlike that client, `merge_results`
changes no text of the card but the results that are new or differ.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from dynabench.evaluate.cards.card_text import CardText
from dynabench.evaluate.cards.yaml_edits import TextEdit
from dynabench.evaluate.cards.yaml_text import CardError, given_values, same_values

KEY = "model-index"
RESULTS_KEY = "evaluation_results"
"""Results of models in a dataset's card. The hub specifies none; Dynabench writes them as `model-index` has them."""


@dataclass(frozen=True)
class CardResult:
    """One metric's value on one dataset, under the names of `huggingface_hub.EvalResult`."""

    task_type: str
    dataset_type: str
    dataset_name: str
    metric_type: str
    metric_value: Any
    task_name: str | None = None
    dataset_config: str | None = None
    dataset_split: str | None = None
    dataset_revision: str | None = None
    dataset_args: Any = None
    metric_name: str | None = None
    metric_config: str | None = None
    metric_args: Any = None
    verified: bool | None = None
    verify_token: str | None = None
    source_name: str | None = None
    source_url: str | None = None

    @property
    def title(self) -> str:
        """The dataset and the metric, as messages name them."""
        return f"{self.metric_name or self.metric_type} on {self.dataset_name or self.dataset_type}"

    @property
    def identity(self) -> str:
        """Text that is the same for all values of one metric on one dataset from one source."""
        return repr([getattr(self, name) for name in _IDENTITY])


_IDENTITY = tuple(
    item.name
    for item in fields(CardResult)
    if item.name not in ("metric_value", "verify_token", "verified", "task_name", "dataset_name", "source_name")
)
_GROUP = ("task_type", "task_name", "dataset_type", "dataset_name", "dataset_config", "dataset_split",
          "dataset_revision", "dataset_args", "source_name", "source_url")  # fmt: skip


@dataclass
class CardModel:
    """The results of one model of a card; `name` is empty where the card gives none."""

    name: str
    results: list[CardResult] = field(default_factory=list)


@dataclass(frozen=True)
class _Location:
    """The place of a result in `model-index`."""

    model: int
    group: int
    metric: int
    result: CardResult


def read_model_index(value: Any, left_out: list[str] | None = None) -> list[CardModel]:
    """Return the models and results of a `model-index`. Raises `CardError` for the first result of another shape.

    With `left_out`, such results are named there instead of an error.
    """
    if not isinstance(value, list):
        raise CardError(f"{KEY} is not a list of models.")
    models: list[CardModel] = []
    for place, entry in enumerate(value):
        name = entry.get("name") if isinstance(entry, Mapping) else None
        models.append(CardModel(name if isinstance(name, str) else ""))
        for location in _locations(place, entry, left_out):
            models[-1].results.append(location.result)
    return models


def write_model_index(models: Iterable[CardModel]) -> list[dict[str, Any]]:
    """Return the `model-index` of models; metrics of one dataset and source stand in one result."""
    return [{"name": model.name, "results": _groups(model.results)} for model in models]


def merge_results(
    card: CardText, results: Sequence[CardResult], *, model_name: str = "", overwrite: bool = False, key: str = KEY
) -> CardText:
    """Return the card with these results. Raises `CardError`.

    A result that the card has with another value is refused unless `overwrite`. A model card is of one model: its
    results go to the model of that name, else to the first. The `RESULTS_KEY` of a dataset card gets another model.
    """
    metadata = card.metadata()
    present = metadata.get(key)
    if not results:
        return card
    if not present:
        name = model_name or str(metadata.get("model_name") or "model")
        return card.with_value(key, write_model_index([CardModel(name, _without_repeats(results))]))
    if not isinstance(present, list) or not all(isinstance(entry, Mapping) for entry in present):
        raise CardError(f"{key} is not a list of models.")
    place = next((at for at, entry in enumerate(present) if model_name and entry.get("name") == model_name), None)
    if place is None and key == RESULTS_KEY and model_name:
        model = CardModel(model_name, _without_repeats(results))
        return card.with_edits(key, [TextEdit((key,), entry, "append") for entry in write_model_index([model])])
    return card.with_edits(key, _plan_edits(key, present, place or 0, results, overwrite))


def _plan_edits(
    key: str, present: list[Any], place: int, results: Sequence[CardResult], overwrite: bool
) -> list[TextEdit]:
    """Return the edits that bring results into the model at `place`, those of groups that are there first."""
    if not isinstance(present[place].get("results"), list):
        return [TextEdit((key, place, "results"), _groups(_without_repeats(results)))]
    edits: list[TextEdit] = []
    new_results: list[CardResult] = []
    locations = list(reversed(list(_locations(place, present[place], []))))
    by_identity = {location.result.identity: location for location in locations}  # the first in the card counts
    by_group = {_group_key(location.result): location for location in locations}
    for result in _without_repeats(results):
        if same := by_identity.get(result.identity):
            edits += _update_edits(key, same, result, overwrite)
        elif group := by_group.get(_group_key(result)):
            metrics = (key, group.model, "results", group.group, "metrics")
            edits.append(TextEdit(metrics, _metric(result), "append"))
        else:
            new_results.append(result)
    path = (key, place, "results")
    return edits + [TextEdit(path, group, "append") for group in _groups(new_results)]


def _without_repeats(results: Iterable[CardResult]) -> list[CardResult]:
    """Return the results once each. Raises `CardError` where one has two values."""
    first_results: dict[str, CardResult] = {}
    for result in results:
        earlier = first_results.setdefault(result.identity, result)
        if not same_values(earlier.metric_value, result.metric_value):
            raise CardError(f"{result.title} has two values: {earlier.metric_value!r} and {result.metric_value!r}.")
    return list(first_results.values())


def _update_edits(key: str, location: _Location, result: CardResult, overwrite: bool) -> Iterator[TextEdit]:
    present = location.result
    path = (key, location.model, "results", location.group, "metrics", location.metric)
    changed = not same_values(present.metric_value, result.metric_value)
    if changed and not overwrite:
        raise CardError(
            f"The card has {present.metric_value!r} as {present.title}, not {result.metric_value!r}; "
            "overwrite it if the new value is right."
        )
    if changed:
        yield TextEdit((*path, "value"), result.metric_value)
    if result.verify_token is not None and result.verify_token != present.verify_token:
        yield TextEdit((*path, "verifyToken"), result.verify_token)
    elif changed and present.verify_token is not None:
        yield TextEdit((*path, "verifyToken"), None)  # a token of the earlier value


def _groups(results: Iterable[CardResult]) -> list[dict[str, Any]]:
    grouped: dict[str, list[CardResult]] = {}
    for result in results:
        grouped.setdefault(_group_key(result), []).append(result)
    return [_group(members) for members in grouped.values()]


def _group_key(result: CardResult) -> str:
    return repr([getattr(result, name) for name in _GROUP])


def _group(members: list[CardResult]) -> dict[str, Any]:
    first = members[0]
    dataset = {
        "name": first.dataset_name,
        "type": first.dataset_type,
        "config": first.dataset_config,
        "split": first.dataset_split,
        "revision": first.dataset_revision,
        "args": first.dataset_args,
    }
    group = {
        "task": given_values({"type": first.task_type, "name": first.task_name}),
        "dataset": given_values(dataset),
        "metrics": [_metric(result) for result in members],
    }
    source = given_values({"name": first.source_name, "url": first.source_url})
    return group | ({"source": source} if source else {})


def _metric(result: CardResult) -> dict[str, Any]:
    metric = {
        "type": result.metric_type,
        "value": result.metric_value,
        "name": result.metric_name,
        "config": result.metric_config,
        "args": result.metric_args,
        "verified": result.verified,
        "verifyToken": result.verify_token,
    }
    return given_values(metric)


def _locations(place: int, entry: Any, left_out: list[str] | None) -> Iterator[_Location]:
    """Yield the results of one model; those of another shape are named in `left_out`, or raise where it is None."""
    name = entry.get("name", place + 1) if isinstance(entry, Mapping) else place + 1
    groups = entry.get("results") if isinstance(entry, Mapping) else None
    if not isinstance(groups, list):
        _leave_out(f"Model {name} has no list of results.", left_out)
        return
    for at, group in enumerate(groups):
        where = f"Result {at + 1} of model {name}"
        try:
            common = _common(group, where)
            metrics = group["metrics"]
            if not isinstance(metrics, list):
                raise CardError(f"{where} has no list of metrics.")
        except (KeyError, CardError) as error:
            _leave_out(f"{where} has no metrics." if isinstance(error, KeyError) else str(error), left_out)
            continue
        for number, metric in enumerate(metrics):
            try:
                result = CardResult(**common, **_metric_fields(metric, f"{where}, metric {number + 1},"))
            except CardError as error:
                _leave_out(str(error), left_out)
                continue
            yield _Location(place, at, number, result)


def _common(group: Any, where: str) -> dict[str, Any]:
    if not isinstance(group, Mapping):
        raise CardError(f"{where} is not a mapping.")
    task, dataset, source = group.get("task"), group.get("dataset"), group.get("source") or {}
    if not isinstance(task, Mapping) or "type" not in task:
        raise CardError(f"{where} has no task with a type.")
    if not isinstance(dataset, Mapping) or "type" not in dataset or "name" not in dataset:
        raise CardError(f"{where} has no dataset with type and name.")
    if not isinstance(source, Mapping) or ("name" in source and source.get("url") is None):
        raise CardError(f"{where} has a source without a url.")
    names = ("type", "name", "config", "split", "revision", "args")
    return {
        "task_type": task["type"],
        "task_name": task.get("name"),
        **{f"dataset_{name}": dataset.get(name) for name in names},
        "source_name": source.get("name"),
        "source_url": source.get("url"),
    }


def _metric_fields(metric: Any, where: str) -> dict[str, Any]:
    if not isinstance(metric, Mapping) or "type" not in metric or "value" not in metric:
        raise CardError(f"{where} has no type or no value.")
    return {
        "metric_type": metric["type"],
        "metric_value": metric["value"],
        "metric_name": metric.get("name"),
        "metric_args": metric.get("args"),
        "metric_config": metric.get("config"),
        "verified": metric.get("verified"),
        "verify_token": metric.get("verifyToken"),
    }


def _leave_out(message: str, left_out: list[str] | None) -> None:
    if left_out is None:
        raise CardError(message)
    left_out.append(message)
