"""Everything that the OpenAPI document allows, and much that it does not: sent to the running application.

No answer is a 5xx, every answer has the status, type and shape that the document declares, and what the document
forbids is refused.
"""

from contextlib import suppress
from typing import Any

import httpx2
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

from tests.api.serving import Site, an_example, site

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
WHO = {"visitor": "", "member": "mia", "owner": "olga", "admin": "root"}
LIMITS: dict[str, Any] = {
    "derandomize": True,
    "database": None,
    "deadline": None,
    "phases": [Phase.generate],
    "suppress_health_check": list(HealthCheck),
}


def last(operation: Any) -> int:
    """What ends rounds, examples and tokens is fuzzed after everything else."""
    path, method = operation.path, operation.method.upper()
    return 2 if method == "DELETE" else 1 if path.endswith(("/close", "/retract")) else 0


def real(site: Site, who: str) -> dict[str, Any]:
    """Numbers and names of things that exist, for addresses; the example is the caller's own."""
    with site.program(WHO[who] or "ada") as author:
        example = an_example(author, "Nobody ever sleeps in the rain.")["id"]
    return {"task": "nli", "n": 1, "number": 1, "id": example, "kind": "metric", "name": "f1"}


@pytest.fixture
def world(settings, tmp_path):
    with site(settings, tmp_path) as running:
        for name in ("mia", "ada", "root"):
            running.join(name).close()
        running.promote("root")
        yield running


def fuzz(operation: Any, site: Site, session: requests.Session, mode: GenerationMode, known: dict, most: int) -> None:
    names = {parameter.name for parameter in operation.path_parameters}
    fixed = {name: value for name, value in known.items() if name in names}
    strategy = operation.as_strategy(generation_mode=mode, **({"path_parameters": fixed} if fixed else {}))

    @given(case=strategy)
    @settings(max_examples=most, **LIMITS)
    def check(case: Any) -> None:
        response = case.call(base_url=site.address, session=session)
        # 413 is a refusal that the check does not know, and OpenAPI forbids no further words in an address.
        further = set(case.query or {}) - {parameter.name for parameter in operation.query}
        excluded = [negative_data_rejection] if response.status_code == 413 or further else []
        case.validate_response(response, checks=CHECKS, excluded_checks=excluded)

    with suppress(Unsatisfiable):  # nothing in it can be wrong
        check()


@pytest.mark.parametrize("who", WHO)
def test_the_document_is_kept_and_nothing_breaks(world: Site, who: str):
    document = httpx2.get(f"{world.address}/api/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    operations = sorted((found.ok() for found in schema.get_all_operations()), key=last)
    if who == "admin":  # owners come as far everywhere else
        operations = [operation for operation in operations if operation.path == "/api/v1/tasks"]
    failures, known = [], real(world, who)
    with requests.Session() as session:
        if WHO[who]:
            session.headers["Authorization"] = f"Bearer {world.tokens[WHO[who]]}"
        for operation in operations:
            for mode, fixed in (
                (GenerationMode.POSITIVE, known),
                (GenerationMode.NEGATIVE, known),
                (GenerationMode.NEGATIVE, {}),
            ):
                try:
                    fuzz(operation, world, session, mode, fixed, 6)
                except BaseExceptionGroup as found:
                    failures.append(f"{operation.label}, {mode.value}: {str(found)[:1500]}")
    assert not failures, "\n\n".join(failures)
