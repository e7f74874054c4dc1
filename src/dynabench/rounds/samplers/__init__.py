"""Ways to draw the next context, one file each: an index walk that takes as long for ten contexts as for a million."""

from collections.abc import Iterable, Mapping
from typing import Any

from dynabench.kit import plugins
from dynabench.rounds.samplers.asking import Ask, Sampler
from dynabench.rounds.samplers.failed_validation import FailedValidation
from dynabench.rounds.samplers.least_fooled import LeastFooled
from dynabench.rounds.samplers.least_used import LeastUsed
from dynabench.rounds.samplers.most_uncertain import MostUncertain
from dynabench.rounds.samplers.uniform import Uniform
from dynabench.rounds.samplers.unseen import Unseen
from dynabench.rounds.samplers.weighted import Weighted

__all__ = ["SHIPPED", "Ask", "Sampler", "samplers"]

SHIPPED: dict[str, Sampler] = {
    "least_used": LeastUsed(),
    "uniform": Uniform(),
    "least_fooled": LeastFooled(),
    "failed_validation": FailedValidation(),
    "unseen": Unseen(),
    "weighted": Weighted(),
    "most_uncertain": MostUncertain(),
}


def _named(given: Any) -> Iterable[tuple[str, Sampler]]:
    for name, sampler in dict(given).items():
        if not (callable(getattr(sampler, "pick", None)) and sampler.label and sampler.help):
            raise TypeError(f"the sampler {name!r} needs a label, a help and a method pick(ask)")
        yield name, sampler


def samplers() -> Mapping[str, Sampler]:
    """All samplers by the name that configs and round plans call them by, ours first, as pages list them."""
    return plugins.gather("dynabench_samplers", _named)
