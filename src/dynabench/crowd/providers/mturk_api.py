"""Calls of Mechanical Turk's requester API: checked, signed and read by botocore, and sent by our own client.

Only the parts of botocore without network are used, so that addresses, time-outs and sizes have the limits that all
calls of this site have, and nothing is read from the operator's AWS files.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from dynabench.crowd.provider import CrowdAccount
from dynabench.kit.distributions import PLATFORM, install_command
from dynabench.kit.errors import Conflict, Unavailable
from dynabench.kit.language import _

REGION = "us-east-1"
"""The one region that Mechanical Turk has."""
SIGNED_AS = "mturk-requester"
SECONDS = 20.0
RETRY_AFTER = 30
BUSY = frozenset({"ServiceFault", "ThrottlingException", "Throttling", "RequestLimitExceeded", "InternalFailure"})


class TurkRefusal(Conflict):
    """Mechanical Turk refused a call; `kind` is the name of its reason, such as `AWS.MechanicalTurk.InvalidState`."""

    def __init__(self, detail: str, kind: str) -> None:
        super().__init__(detail)
        self.kind = kind


@cache
def service_model() -> Any:
    """Return botocore's description of the API; raises `Conflict` where botocore is not installed."""
    try:
        from botocore.loaders import Loader
        from botocore.model import ServiceModel
    except ImportError:
        raise Conflict(
            _(
                "Mechanical Turk needs botocore on this site. Its operator installs it: %(command)s",
                command=install_command(PLATFORM, "mturk"),
            )
        ) from None
    return ServiceModel(Loader().load_service_model("mturk", "service-2"), "mturk")


def call_turk(account: CrowdAccount | None, operation: str, **parameters: Any) -> dict[str, Any]:
    """Call an operation and return its answer.

    Raises `TurkRefusal` with the platform's reason, `Conflict` for values that the API does not take, and `Unavailable`
    where the answer is missing.
    """
    if account is None:
        raise Conflict(_("Connect a Mechanical Turk account to this study first."))
    model = service_model().operation_model(operation)
    headers, body = _signed(account, model, parameters)
    reply = account.client.call("POST", account.address.rstrip("/") + "/", body, headers, SECONDS)
    answer = _parsed(model, reply.status, reply.headers, reply.body)
    problem = answer.get("Error")
    if problem is None and reply.status < 300:
        answer.pop("ResponseMetadata", None)
        return answer
    code, message = str((problem or {}).get("Code", "")), str((problem or {}).get("Message", ""))
    if reply.status >= 500 or reply.status in (408, 429) or code in BUSY:
        raise _no_answer()
    reason = (message or code or str(reply.status))[:300]
    raise TurkRefusal(_("Mechanical Turk refused this: %(reason)s", reason=reason), _kind(reply.body) or code)


def _signed(account: CrowdAccount, model: Any, parameters: Mapping[str, Any]) -> tuple[dict[str, str], bytes]:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
    from botocore.exceptions import ParamValidationError
    from botocore.serialize import create_serializer

    try:
        serialized = create_serializer("json").serialize_to_request(parameters, model)
    except ParamValidationError as problem:
        raise Conflict(_("Mechanical Turk does not take these values: %(problem)s", problem=problem)) from problem
    url = account.address.rstrip("/") + "/"
    request = AWSRequest(method="POST", url=url, headers=serialized["headers"], data=serialized["body"])
    credentials = Credentials(account.credentials["access_key"], account.credentials["secret_key"])
    SigV4Auth(credentials, SIGNED_AS, REGION).add_auth(request)
    return {name: str(value) for name, value in request.headers.items()}, bytes(serialized["body"])


def _parsed(model: Any, status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    from botocore.parsers import ResponseParserError, create_parser

    response = {"status_code": status, "headers": dict(headers), "body": body}
    try:
        parsed: dict[str, Any] = create_parser("json").parse(response, model.output_shape)
    except ResponseParserError:
        raise _no_answer() from None
    return parsed


def _no_answer() -> Unavailable:
    return Unavailable(_("Mechanical Turk does not answer now. It is tried again."), retry_after=RETRY_AFTER)


def _kind(body: bytes) -> str:
    try:
        answer = json.loads(body or b"{}")
    except ValueError:
        return ""
    return str(answer.get("TurkErrorCode", "")) if isinstance(answer, dict) else ""
