"""Models on a Ray cluster, as a plug-in of the platform: served by Ray Serve, and evaluated by Ray Core."""

from collections.abc import Mapping

from dynabench.kit.hooks import hookimpl


@hookimpl
def dynabench_clusters() -> Mapping[str, str]:
    """Return Ray."""
    return {"ray": "dynabench_ray.cluster:RayCluster"}
