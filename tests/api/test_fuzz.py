"""Everything that the OpenAPI document allows, and much that it does not: sent to the running application.

No answer is a 5xx, every answer has the status, type and shape that the document declares, and what the document
forbids is refused.
"""

from contextlib import suppress
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    missing_required_header,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from dynabench.kit.settings import Settings
from dynabench.site.app import create_app
from tests.api.serving import Site, an_example, site

pytestmark = pytest.mark.release

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    missing_required_header,
    allow_header_conformance,
]
NAMES = {"visitor": "", "member": "mia", "owner": "olga", "admin": "root"}
VALUES = {
    "task": "nli",
    "n": 1,
    "number": 1,
    "id": 1,
    "kind": "metric",
    "name": "f1",
}  # names and numbers of things that exist, for addresses
LIMITS: dict[str, Any] = {
    "derandomize": True,
    "database": None,
    "deadline": None,
    "phases": [Phase.generate],
    "suppress_health_check": list(HealthCheck),
}


def last(operation: Any) -> int:
    """Fuzz routes that end rounds, examples and tokens after everything else."""
    path, method = operation.path, operation.method.upper()
    return 2 if method == "DELETE" else 1 if path.endswith(("/close", "/retract")) else 0


def known_example(site: Site, role: str) -> None:
    """Write the example of `KNOWN`; it is the caller's own."""
    with site.program(NAMES[role] or "ada") as author:
        assert an_example(author, "Nobody ever sleeps in the rain.")["id"] == VALUES["id"]


@pytest.fixture
def world(settings, tmp_path):
    with site(settings, tmp_path) as running:
        for name in ("mia", "ada", "root"):
            running.join(name).close()
        running.promote("root")
        yield running


def drawn(operation: Any, mode: GenerationMode, values: dict[str, Any], most: int) -> list[Any]:
    """Cases of the operation, with what is `known` in its address."""
    names = {parameter.name for parameter in operation.path_parameters}
    values = values | {"name": "nli-a"} if values and "/models/" in operation.path else values
    fixed = {name: value for name, value in values.items() if name in names}
    strategy = operation.as_strategy(generation_mode=mode, **({"path_parameters": fixed} if fixed else {}))
    cases: list[Any] = []

    @given(case=strategy)
    @settings(max_examples=most, **LIMITS)
    def keep(case: Any) -> None:
        cases.append(case)

    with suppress(Unsatisfiable):  # nothing in it can be wrong
        keep()
    return cases


@pytest.fixture(scope="module")
def script() -> list[Any]:
    """All that is sent, in order: the same for everybody and on both databases, since drawing it takes longest."""
    document = create_app(Settings(secret="a secret for tests of 32 bytes or more")).openapi()
    schema = schemathesis.openapi.from_dict(document)
    operations = sorted((result.ok() for result in schema.get_all_operations()), key=last)
    return [
        case
        for operation in operations
        for mode, known_values in (
            (GenerationMode.POSITIVE, VALUES),
            (GenerationMode.NEGATIVE, VALUES),
            (GenerationMode.NEGATIVE, {}),
        )
        for case in drawn(operation, mode, known_values, 2)
    ]


def problem(case: Any, site: Site, session: requests.Session) -> str:
    """Return what is wrong with the answer to this case; empty where nothing is."""
    response = case.call(base_url=site.address, session=session)
    # 413 is a refusal that the check does not know, and OpenAPI forbids no further words in an address.
    further = set(case.query or {}) - {parameter.name for parameter in case.operation.query}
    excluded = [negative_data_rejection] if response.status_code == 413 or further else []
    try:
        case.validate_response(response, checks=CHECKS, excluded_checks=excluded)
    except BaseExceptionGroup as result:
        return f"{case.operation.label}: {str(result)[:1500]}"
    return ""


def share(script: list[Any], role: str, database_kind: str) -> list[Any]:
    """Return the cases of `who`: owners, who come furthest, every second case, the other half on the other database;
    visitors and members, who are mostly refused, every fourth one, so that each operation is asked for by each."""
    if role == "admin":  # owners come as far as admins everywhere but at the list of tasks
        return [case for case in script if case.operation.path == "/api/v1/tasks"]
    first = int(database_kind == "postgres")
    return script[first::2] if role == "owner" else script[first + 2 * (role == "member") :: 4]


@pytest.mark.parametrize("role", NAMES)
def test_the_document_is_kept_and_nothing_breaks(world: Site, script: list[Any], role: str, database_kind: str):
    known_example(world, role)
    with requests.Session() as session:
        if NAMES[role]:
            session.headers["Authorization"] = f"Bearer {world.tokens[NAMES[role]]}"
        mine = share(script, role, database_kind)
        failures = [result for case in mine if (result := problem(case, world, session))]
    assert not failures, "\n\n".join(failures)
