import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dynabench.models import starting
from dynabench.models.catalog import BUILTIN
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from tests.models.conftest import served
from tests.models.waiting import until_ready

from .table import TASKS, Maker, needs


@contextmanager
def another_host(place: Path) -> Iterator[Path]:
    """A model of a host of ours, called as anybody's server is."""
    needs("oip")
    shutil.copytree(BUILTIN / "nli-ngram", place / "elsewhere" / "nli-ngram")
    with served(create_app(Repository([place / "elsewhere"])), "http://127.0.0.1:0") as url:
        until_ready(url)
        yield starting.start("far-away", TASKS["nli"], "oip", place, url=url, model="nli-ngram")


MAKERS = [Maker("oip", "nli", another_host)]
