"""Random task configs: valid ones can be played to the end, broken ones are refused with line and reason.

A few are played with the other tests, `make fuzz` plays a thousand of each. Each stands for itself: `-k "[317]"` plays
one again.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import yaml

from dynabench.kit.errors import Invalid
from dynabench.tasks import TaskConfig
from tests.furnished import in_memory
from tests.fuzz import breaking, configs
from tests.fuzz.stage import Stage, stage


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "number" in metafunc.fixturenames:
        metafunc.parametrize("number", range(metafunc.config.getoption("--configs")))


@pytest.fixture(scope="module")
def place(sqlite_template: Path) -> Iterator[Stage]:
    with stage(sqlite_template, in_memory()) as created:
        yield created


def written(raw: object) -> str:
    """As YAML, keys in their order."""
    return yaml.safe_dump(raw, allow_unicode=True, sort_keys=False, width=110)


@pytest.mark.slow
def test_a_random_config_is_played_to_the_end(place: Stage, number: int):
    rng = Random(number)
    source = written(configs.drawn("valid", number))
    config = TaskConfig.parse(source)
    place.prepare(source, config, rng)
    example, body = place.write(config, rng)
    place.draw(config, source, example, every=number % 5 == 0)
    place.check(config, rng, example, body)
    place.pack(config)


def test_a_broken_config_is_refused_with_line_and_reason(number: int):
    source, answer = breaking.broken(Random(number), configs.drawn("broken", number), written)
    with pytest.raises(Invalid) as caught:
        TaskConfig.parse(source)
    problems = caught.value.fields
    assert all(path and len(message) > 8 for path, message in problems.items()), problems
    assert any(answer.fits(path, message) for path, message in problems.items()), (answer, problems, source)
