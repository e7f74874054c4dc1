"""Bad input to datasets, submissions, evaluations and boards: refused, never a fault, and nothing is written."""

import re
from typing import Any

import pytest

from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
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
    with new_stage(settings) as stage:
        return stage.scene


def read(stage: Stage, address: str, **how: Any) -> int:
    """The status that an admin gets, by the API and by pages; a server's fault fails the test."""
    caller = stage.callers["admin"] if address.startswith("/api/") else stage.browsers["admin"].client
    answer = caller.get(address, **how)
    assert answer.status_code < 500, (address, how, answer.text[:500])
    return int(answer.status_code)


def read_by(paths: dict[str, Any], address: str) -> set[str]:
    """Name the parameters of the query that a route of the API reads; a board reads what its columns are called."""
    path = address.partition("?")[0]
    if "/leaderboard" in path:
        return set(QUERIES)
    for template, methods in paths.items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path) and "get" in methods:
            return {parameter["name"] for parameter in methods["get"].get("parameters", ())}
    raise AssertionError(f"no route reads {address}")


@pytest.mark.parametrize(("part", "values"), [("{n}", NUMBERS), ("{name}", NAMES)])
def test_numbers_and_names_of_nothing_are_not_found(stage: Stage, part: str, values: tuple[str, ...]):
    replaces = [item.replace(part, value) for item in ADDRESSES if part in item for value in values]
    wrong = [address for address in replaces if read(stage, address) not in (303, 400, 404, 405, 422)]
    assert not wrong


@pytest.mark.parametrize("part", range(2))
def test_rubbish_in_the_query_is_refused_or_passed_over(stage: Stage, part: int):
    """Unknown parameters are passed over, all at once; known ones are tried value by value."""
    paths = stage.client.get("/api/openapi.json").json()["paths"]
    addresses = [item for item in ADDRESSES if "{" not in item and item.startswith("/api/")]
    for address in addresses[part::2]:
        content = read_by(paths, address)
        joined = address + ("&" if "?" in address else "?")
        rest = "&".join(
            f"{name}={value}" for name, values in QUERIES.items() if name not in content for value in values
        )
        tried = [f"{name}={value}" for name, values in QUERIES.items() if name in content for value in values]
        for query in (*tried, rest):
            assert read(stage, f"{joined}{query}") in (200, 303, 400, 403, 404, 422)


@pytest.mark.parametrize("part", range(2))
def test_bodies_of_wrong_types_are_refused_and_nothing_is_written(stage: Stage, database: Database, part: int):
    caller = stage.callers["admin"]
    before = ledger(database)
    for method, address in list(BODIES)[part::2]:
        for raw in (*RAW, *BODIES[method, address]):
            answer = caller.request(method, address, content=raw, headers=JSON)
            assert 400 <= answer.status_code < 500, (address, raw[:100], answer.status_code, answer.text[:500])
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["detail"]
    assert ledger(database) == before
