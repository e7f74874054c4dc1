"""What a reader holds dear: a step from 0 to 5 for each metric and each dataset, read from an address or a body."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from dynabench import errors
from dynabench.language import _
from dynabench.leaderboards.board import Board
from dynabench.stats.rates import FEW_ROWS

STEPS = 5
FORMS = ("guarded", "exact")
"""0 to 100 between values that are declared (the default), and the Dynascore as published."""
PREFIXES = {"m": "metrics", "d": "datasets"}


@dataclass(frozen=True)
class Weights:
    """Steps of all metrics and datasets of a board, by name, and the form of the Dynascore."""

    metrics: Mapping[str, int]
    datasets: Mapping[str, int]
    form: str = "guarded"

    def document(self) -> dict[str, Any]:
        """As it is stored and sent."""
        return {"metrics": dict(self.metrics), "datasets": dict(self.datasets), "form": self.form}


def defaults(board: Board) -> Weights:
    """The primary metric 4, each other one 1; datasets by `dataset_steps`."""
    metrics = {each.name: 4 if each.name == board.primary else 1 for each in board.metrics}
    steps = dataset_steps([(each.weight, each.rows) for each in board.datasets])
    return Weights(metrics, dict(zip((each.name for each in board.datasets), steps, strict=True)))


def dataset_steps(datasets: Sequence[tuple[int, int]]) -> list[int]:
    """The default step of each dataset, given as (its owner's weight, its rows): the owner's, and 0 below `FEW` rows.

    Where that leaves none, datasets of enough rows weigh alike, and without any such one all do.
    """
    enough = [int(rows >= FEW_ROWS) for _weight, rows in datasets]
    steps = [min(max(weight, 0), STEPS) * each for (weight, _rows), each in zip(datasets, enough, strict=True)]
    if any(steps):
        return steps
    return enough if any(enough) else [1] * len(datasets)


def given(board: Board, params: Mapping[str, str], usual: Weights | None = None) -> Weights:
    """The weights that an address says: `m.accuracy=4`, `d.first=0`, `form=guarded`; else those of `usual` (defaults).

    Raises `Invalid` by parameter for anything but whole steps from 0 to 5, and for names that the board does not have.
    """
    usual, wrong = usual or defaults(board), dict[str, str]()
    chosen = {"metrics": dict(usual.metrics), "datasets": dict(usual.datasets)}
    for name, text in params.items():
        prefix, dot, what = name.partition(".")
        if not dot or prefix not in PREFIXES:
            continue
        group = chosen[PREFIXES[prefix]]
        if what not in group:
            wrong[name] = _("This board has no %(value)s of this name.", value=PREFIXES[prefix][:-1])
        elif text not in map(str, range(STEPS + 1)):
            wrong[name] = _("Give a whole number from 0 to %(steps)s.", steps=STEPS)
        else:
            group[what] = int(text)
    form = params.get("form", usual.form)
    if form not in FORMS:
        wrong["form"] = _("Choose one of %(forms)s.", forms=", ".join(FORMS))
    _refuse(wrong, chosen)
    return Weights(chosen["metrics"], chosen["datasets"], form)


def _refuse(wrong: dict[str, str], chosen: Mapping[str, Mapping[str, int]]) -> None:
    for prefix, group in PREFIXES.items():
        if chosen[group] and not any(chosen[group].values()):
            wrong[f"{prefix}.{next(iter(chosen[group]))}"] = _(
                "Give at least one of the %(group)s a weight above 0.", group=group
            )
    if wrong:
        raise errors.Invalid(dict(list(wrong.items())[:20]))


def flat(metrics: Mapping[str, int], datasets: Mapping[str, int], form: str) -> dict[str, str]:
    """The same as parameters of an address."""
    return {
        **{f"m.{name}": str(step) for name, step in metrics.items()},
        **{f"d.{name}": str(step) for name, step in datasets.items()},
        "form": form,
    }


def kept(board: Board, stored: Mapping[str, Any]) -> Weights:
    """Weights that somebody kept, on the board as it is now: what came since counts 0, what went is left out.

    Where nothing is left that they weigh, the task's own stand in.
    """
    usual = defaults(board)
    metrics, datasets = (
        {name: int((stored.get(group) or {}).get(name, 0)) for name in of}
        for group, of in (("metrics", usual.metrics), ("datasets", usual.datasets))
    )
    return Weights(
        metrics if any(metrics.values()) else usual.metrics,
        datasets if any(datasets.values()) else usual.datasets,
        str(stored.get("form", "exact")),
    )


def differing(weights: Weights, usual: Weights) -> dict[str, str]:
    """The parameters that say `weights` where `usual` is the default: what a link has to carry."""
    return {
        **{f"m.{name}": str(step) for name, step in weights.metrics.items() if step != usual.metrics[name]},
        **{f"d.{name}": str(step) for name, step in weights.datasets.items() if step != usual.datasets[name]},
        **({"form": weights.form} if weights.form != usual.form else {}),
    }


def query(parameters: Iterable[tuple[str, str]] | Mapping[str, str]) -> str:
    """`?a=b`, or nothing."""
    text = urlencode(dict(parameters))
    return f"?{text}" if text else ""
