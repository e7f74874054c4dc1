"""Shares of a cluster that each application gets."""

import re
from dataclasses import dataclass
from typing import Any

from dynabench.kit.errors import Invalid

ONGOING = 16
"""Calls under way in a replica on average, beyond which autoscaling adds one: half a batch waits while one is run."""


@dataclass(frozen=True)
class Scale:
    """From `least` to `most` replicas of an application, each with so many `processors` and `gpus`."""

    least: int = 1
    most: int = 1
    processors: float = 1.0
    gpus: float = 0.0

    @classmethod
    def read(cls, replicas: str, processors: float = 1.0, gpus: float = 0.0) -> "Scale":
        """`replicas` is a number, or two with a dash between which the cluster decides; raises `Invalid`."""
        result = re.fullmatch(r"(\d+)(?:-(\d+))?", replicas.strip())
        least, most = (int(result[1]), int(result[2] or result[1])) if result else (0, 0)
        if not 1 <= least <= most <= 1000:
            raise Invalid({"ray_replicas": f"{replicas!r} is neither a number, such as 2, nor a range, such as 1-8."})
        return cls(least, most, processors, gpus)

    def options(self) -> dict[str, Any]:
        """Options of a Serve deployment."""
        resources = {"num_cpus": self.processors, "num_gpus": self.gpus}
        result: dict[str, Any] = {"ray_actor_options": resources, "max_ongoing_requests": 4 * ONGOING}
        if self.least == self.most:
            return result | {"num_replicas": self.least}
        bounds = {"min_replicas": self.least, "max_replicas": self.most, "target_ongoing_requests": ONGOING}
        return result | {"autoscaling_config": bounds}
