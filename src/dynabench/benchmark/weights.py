"""A reader's weights: a step from 0 to 5 for each metric and each dataset, read from an address or a body."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from dynabench.benchmark.standings import TaskBoard
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.stats.rates import FEW_ROWS

STEPS = 5
FORMS = ("guarded", "exact")
"""0 to 100 between values that are declared (the default), and the Dynascore as published."""
PREFIXES = {"m": "metrics", "d": "datasets"}


@dataclass(frozen=True)
class BoardWeights:
    """Steps of all metrics and datasets of a board, by name, and the form of the Dynascore."""

    metrics: Mapping[str, int]
    datasets: Mapping[str, int]
    form: str = "guarded"

    def document(self) -> dict[str, Any]:
        """Return them as they are stored and sent."""
        return {"metrics": dict(self.metrics), "datasets": dict(self.datasets), "form": self.form}

    def parameters(self) -> dict[str, str]:
        """Return them as parameters of an address."""
        return flat(self.metrics, self.datasets, self.form)

    def differing(self, usual: "BoardWeights") -> dict[str, str]:
        """Return the parameters that a link has to carry where `usual` is the default."""
        default = usual.parameters()
        return {name: value for name, value in self.parameters().items() if value != default[name]}


def defaults(board: TaskBoard) -> BoardWeights:
    """Return the task's own weights: the primary metric 4, each other one 1; datasets by `dataset_steps`."""
    metrics = {metric.name: 4 if metric == board.primary else 1 for metric in board.metrics}
    steps = dataset_steps([(dataset.weight, dataset.rows) for dataset in board.datasets])
    return BoardWeights(metrics, dict(zip((dataset.name for dataset in board.datasets), steps, strict=True)))


def dataset_steps(datasets: Sequence[tuple[int, int]]) -> list[int]:
    """Return the default step of each (owner's weight, rows): the owner's weight, and 0 below `FEW` rows.

    Where that leaves none, datasets of enough rows weigh alike, and without any such one all do.
    """
    enough = [int(rows >= FEW_ROWS) for _weight, rows in datasets]
    steps = [min(max(weight, 0), STEPS) * factor for (weight, _rows), factor in zip(datasets, enough, strict=True)]
    if any(steps):
        return steps
    return enough if any(enough) else [1] * len(datasets)


def read_weights(board: TaskBoard, params: Mapping[str, str], usual: BoardWeights | None = None) -> BoardWeights:
    """Return the weights in an address: `m.accuracy=4`, `d.first=0`, `form=guarded`; else those of `usual` (defaults).

    Raises `Invalid` by parameter for anything but whole steps from 0 to 5, and for names that the board does not have.
    """
    usual, wrong = usual or defaults(board), dict[str, str]()
    chosen = {"metrics": dict(usual.metrics), "datasets": dict(usual.datasets)}
    for name, text in params.items():
        prefix, dot, key = name.partition(".")
        if not dot or prefix not in PREFIXES:
            continue
        group = chosen[PREFIXES[prefix]]
        if key not in group:
            wrong[name] = _("This board has no %(value)s of this name.", value=PREFIXES[prefix][:-1])
        elif text not in map(str, range(STEPS + 1)):
            wrong[name] = _("Give a whole number from 0 to %(steps)s.", steps=STEPS)
        else:
            group[key] = int(text)
    form = params.get("form", usual.form)
    if form not in FORMS:
        wrong["form"] = _("Choose one of %(forms)s.", forms=", ".join(FORMS))
    for prefix, kind in PREFIXES.items():
        if chosen[kind] and not any(chosen[kind].values()):
            wrong[f"{prefix}.{next(iter(chosen[kind]))}"] = _(
                "Give at least one of the %(group)s a weight above 0.", group=kind
            )
    if wrong:
        raise errors.Invalid(dict(list(wrong.items())[:20]))
    return BoardWeights(chosen["metrics"], chosen["datasets"], form)


def flat(metrics: Mapping[str, int], datasets: Mapping[str, int], form: str) -> dict[str, str]:
    """Return weights as parameters of an address."""
    return {
        **{f"m.{name}": str(step) for name, step in metrics.items()},
        **{f"d.{name}": str(step) for name, step in datasets.items()},
        "form": form,
    }


def stored_weights(board: TaskBoard, stored: Mapping[str, Any]) -> BoardWeights:
    """Return weights that somebody kept, on the board as it is now: new names count 0, names that are gone nothing.

    Where nothing is left that they weigh, the task's own stand in.
    """
    usual = defaults(board)
    metrics, datasets = (
        {name: int((stored.get(group) or {}).get(name, 0)) for name in steps}
        for group, steps in (("metrics", usual.metrics), ("datasets", usual.datasets))
    )
    return BoardWeights(
        metrics if any(metrics.values()) else usual.metrics,
        datasets if any(datasets.values()) else usual.datasets,
        str(stored.get("form", "exact")),
    )


def query(parameters: Iterable[tuple[str, str]] | Mapping[str, str]) -> str:
    """Return `?a=b`, or nothing."""
    text = urlencode(dict(parameters))
    return f"?{text}" if text else ""
