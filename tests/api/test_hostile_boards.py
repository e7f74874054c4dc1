"""Bad input to datasets, submissions, evaluations and boards: refused, never a fault, and nothing is written."""

from typing import Any

import pytest

from dynabench.db import Database
from dynabench.settings import Settings
from tests.api.hostile import ADDRESSES, BODIES, JSON, NAMES, NUMBERS, QUERIES, RAW, ledger
from tests.api.stage import Scene, Stage, new_stage
from tests.collection import conftest as world
from tests.furnished import Furnish

host, rules = world.host, world.rules


@pytest.fixture
def furnish() -> Furnish:
    return a_board


def a_board(settings: Settings) -> Scene:
    """Somebody of each role before a board."""
    with new_stage(settings) as made:
        return made.scene


def read(stage: Stage, address: str, **how: Any) -> int:
    """The status that an admin gets, by the API and by pages; a server's fault fails the test."""
    caller = stage.callers["admin"] if address.startswith("/api/") else stage.browsers["admin"].client
    answer = caller.get(address, **how)
    assert answer.status_code < 500, (address, how, answer.text[:500])
    return int(answer.status_code)


@pytest.mark.parametrize("address", [each for each in ADDRESSES if "{n}" in each])
def test_numbers_of_nothing_are_not_found(stage: Stage, address: str):
    wrong = [each for each in NUMBERS if read(stage, address.replace("{n}", each)) not in (303, 400, 404, 405, 422)]
    assert not wrong


@pytest.mark.parametrize("address", [each for each in ADDRESSES if "{name}" in each])
def test_names_of_nothing_are_not_found(stage: Stage, address: str):
    wrong = [each for each in NAMES if read(stage, address.replace("{name}", each)) not in (303, 400, 404, 405, 422)]
    assert not wrong


@pytest.mark.parametrize("address", [each for each in ADDRESSES if "{" not in each and each.startswith("/api/")])
def test_rubbish_in_the_query_is_refused_or_passed_over(stage: Stage, address: str):
    for name, values in QUERIES.items():
        for value in values:
            joined = address + ("&" if "?" in address else "?")
            assert read(stage, f"{joined}{name}={value}") in (200, 303, 400, 403, 404, 422)


@pytest.mark.parametrize(("method", "address"), BODIES)
def test_bodies_of_wrong_types_are_refused_and_nothing_is_written(
    stage: Stage, database: Database, method: str, address: str
):
    caller = stage.callers["admin"]
    before = ledger(database)
    for raw in (*RAW, *BODIES[method, address]):
        answer = caller.request(method, address, content=raw, headers=JSON)
        assert 400 <= answer.status_code < 500, (raw[:100], answer.status_code, answer.text[:500])
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]
    assert ledger(database) == before
