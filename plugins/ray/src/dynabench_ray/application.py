"""The whole model host as one Ray Serve application, for clusters that are told what to run, such as KubeRay's.

`serve run dynabench_ray.application:build` or, in a RayService, `import_path:
dynabench_ray.application:build` with `args: {replicas: "1-8"}`. It speaks the Open Inference Protocol v2
like any other host: point `DYNABENCH_HOST_URL` at it.
"""

from pathlib import Path
from typing import Any

from ray import serve
from ray.serve import Application

from dynabench.models.host.app import create_app
from dynabench_ray.engine import ClusterEngine
from dynabench_ray.repository import Applications
from dynabench_ray.scale import Scale


def build(args: dict[str, str] | None = None) -> Application:
    """The front, which deploys the models.

    `args` are `replicas` (`2`, `1-8`), `processors` and `gpus` of each, and `models`: folders, separated by colons,
    that hold the models to serve instead of those that are found.
    """
    values = args or {}
    places = [Path(part).expanduser() for part in str(values.get("models", "")).split(":") if part]
    scale = Scale.read(
        str(values.get("replicas", "1")), float(values.get("processors", 1)), float(values.get("gpus", 0))
    )

    def front() -> Any:
        return create_app(Applications(places or None, scale), ClusterEngine)

    deployment = serve.deployment(serve.ingress(front)())
    return deployment.options(name="front", ray_actor_options={"num_cpus": 0.1}).bind()
