from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dynabench.models import starting
from dynabench.models.catalog import BUILTIN
from tests.models.conftest import served
from tests.models.waiting import until_ready

from .table import BRIEFLY, TASKS, Maker, needs


@contextmanager
def replicas(place: Path, ray: Any) -> Iterator[Path]:
    """A model in two replicas of Ray Serve, behind the host's own front; Ray ends here, for nobody asks it later."""
    needs("oip")
    ray.start()
    from dynabench_ray.engine import ClusterEngine
    from dynabench_ray.repository import Applications
    from dynabench_ray.scale import Scale

    from dynabench.models.host.app import create_app

    (place / "elsewhere").mkdir()
    (place / "elsewhere" / "nli-ngram").symlink_to(BUILTIN / "nli-ngram")
    front = create_app(Applications([place / "elsewhere"], Scale(2, 2, processors=0.1)), ClusterEngine)
    try:
        with served(front, "http://127.0.0.1:0") as url:
            until_ready(url)
            yield starting.start("on-ray", TASKS["nli"], "oip", place, url=url, model="nli-ngram")
    finally:
        ray.stop()


MAKERS = [Maker("ray", "nli", replicas, fixture="ray_here", tests=BRIEFLY)]
