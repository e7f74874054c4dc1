"""Ways to draw the next context, one file each: an index walk that takes as long for ten contexts as for a million."""

from dynabench.rounds.samplers.asking import Ask, Sampler
from dynabench.rounds.samplers.failed_validation import FailedValidation
from dynabench.rounds.samplers.least_fooled import LeastFooled
from dynabench.rounds.samplers.least_used import LeastUsed
from dynabench.rounds.samplers.most_uncertain import MostUncertain
from dynabench.rounds.samplers.uniform import Uniform
from dynabench.rounds.samplers.unseen import Unseen
from dynabench.rounds.samplers.weighted import Weighted

__all__ = ["Ask", "Sampler", "samplers"]


def samplers() -> dict[str, Sampler]:
    """All samplers by the name that configs and round plans call them by, in the order in which pages list them."""
    return {
        "least_used": LeastUsed(),
        "uniform": Uniform(),
        "least_fooled": LeastFooled(),
        "failed_validation": FailedValidation(),
        "unseen": Unseen(),
        "weighted": Weighted(),
        "most_uncertain": MostUncertain(),
    }
