"""A local server that speaks Mechanical Turk's requester API and shows its frames, with its books.

The signature, input and answer of each call are checked by botocore's signer and validators. `fail` makes the next call
of an operation fail: before the act (`refuse`, `busy`), or after it, with the answer lost (`lost`) or late (`hang`).
"""

import json
import re
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from xml.etree import ElementTree

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

ACCESS_KEY, SECRET_KEY = "AKIATESTTESTTESTTEST", "secret-of-the-test"
PREFIX = "MTurkRequesterServiceV20170117."
QUESTION = "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd}"
SERVICE = ServiceModel(Loader().load_service_model("mturk", "service-2"), "mturk")
FUNDS = ("This Requester has insufficient funds in their account.", "AWS.MechanicalTurk.InsufficientFunds")


class Refusal(Exception):
    """A `RequestError`: its message and the code that Mechanical Turk names."""


@dataclass
class Books:
    """Everything that the platform knows; `calls` counts acts by operation."""

    types: dict[str, dict[str, Any]] = field(default_factory=dict)
    hits: dict[str, dict[str, Any]] = field(default_factory=dict)
    assignments: dict[str, dict[str, Any]] = field(default_factory=dict)
    bonuses: list[dict[str, Any]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    blocks: dict[str, str] = field(default_factory=dict)
    qualified: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    calls: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    failures: list[tuple[str, str]] = field(default_factory=list)

    def paid(self, assignment: str) -> int:
        """The bonuses of an assignment in cents."""
        return sum(int(Decimal(row["BonusAmount"]) * 100) for row in self.bonuses if row["AssignmentId"] == assignment)


class MechanicalTurk:
    """The running server; workers see it at `address`, a host that no browser takes for the platform's own site."""

    def __init__(self) -> None:
        self.books, self.lock = Books(), threading.RLock()
        self.reached, self.released = threading.Event(), threading.Event()
        platform = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def send(self, status: int, content: bytes, kind: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def do_GET(self) -> None:
                self.send(*platform.show(self.path), "text/html; charset=utf-8")

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.path == "/mturk/externalSubmit":
                    self.send(*platform.submit(raw.decode()), "text/html; charset=utf-8")
                    return
                with platform.lock:
                    status, body = platform.answer(dict(self.headers.items()), raw)
                if status < 0:
                    platform.reached.set()
                    platform.released.wait(60)
                if status <= 0:  # the answer is lost
                    self.close_connection = True
                    self.connection.close()
                    return
                self.send(status, json.dumps(body).encode(), "application/x-amz-json-1.1")

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.address = f"http://localhost:{self.server.server_port}"

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def fail(self, operation: str, how: str) -> None:
        """Let the next call of an operation fail: `refuse`, `busy`, `lost` (done, answer lost) or `hang` (late)."""
        self.books.failures.append((operation, how))

    def answer(self, headers: dict[str, str], raw: bytes) -> tuple[int, Any]:
        """One call of the API; status 0 loses the answer."""
        headers = {name.lower(): value for name, value in headers.items()}
        target = headers.get("x-amz-target", "")
        assert target.startswith(PREFIX), target
        name = target.removeprefix(PREFIX)
        if not self.signed(headers, raw):
            return 400, {"__type": "InvalidSignatureException", "message": "The request signature does not match."}
        operation, parameters = SERVICE.operation_model(name), json.loads(raw or b"{}")
        self.validate(parameters, operation.input_shape)
        how = next((way for entry, way in self.books.failures if entry == name), "")
        if how:
            self.books.failures.remove((name, how))
        if how == "busy":
            return 500, {"__type": "ServiceFault", "Message": "Try again."}
        self.books.calls[name] += 1
        try:
            if how == "refuse":
                raise Refusal(*FUNDS)
            answer = getattr(self, name)(**parameters)
        except Refusal as problem:
            message, code = problem.args
            return 400, {"__type": "RequestError", "Message": f"{message} (1585151438622 s)", "TurkErrorCode": code}
        self.validate(answer, operation.output_shape)
        return {"lost": (0, None), "hang": (-1, None)}.get(how, (200, _plain(answer)))

    def validate(self, values: Any, shape: Any) -> None:
        report = ParamValidator().validate(values, shape)
        assert not report.has_errors(), report.generate_report()

    def signed(self, headers: dict[str, str], raw: bytes) -> bool:
        """Compute the signature again, over the headers that the caller signed."""
        match = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d{8}/us-east-1/mturk-requester/aws4_request, "
            r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
            headers.get("authorization", ""),
        )
        if match is None or match[1] != ACCESS_KEY:
            return False
        names = match[2].split(";")
        assert {"host", "x-amz-date", "x-amz-target"} <= set(names)
        request = AWSRequest("POST", f"http://{headers['host']}/", {name: headers[name] for name in names}, raw)
        request.context["timestamp"] = headers["x-amz-date"]
        signer = SigV4Auth(Credentials(ACCESS_KEY, SECRET_KEY), "mturk-requester", "us-east-1")
        text = signer.string_to_sign(request, signer.canonical_request(request))
        return bool(signer.signature(text, request) == match[3])

    # The operations, under the API's names.

    def GetAccountBalance(self) -> dict[str, Any]:
        return {"AvailableBalance": "10000.00"}

    def CreateHITType(self, **values: Any) -> dict[str, Any]:
        same = next((id for id, row in self.books.types.items() if row == values), None)
        id = same or _id()
        self.books.types[id] = values
        return {"HITTypeId": id}

    def CreateHITWithHITType(self, **values: Any) -> dict[str, Any]:
        if values["UniqueRequestToken"] in self.books.tokens:
            raise Refusal("The HIT already exists.", "AWS.MechanicalTurk.HitAlreadyExists")
        self.books.tokens.add(values.pop("UniqueRequestToken"))
        question = ElementTree.fromstring(values["Question"])
        assert question.tag == f"{QUESTION}ExternalQuestion"
        address = question.findtext(f"{QUESTION}ExternalURL")
        if not re.match(r"https://|http://127\.0\.0\.1[:/]", address or ""):
            raise Refusal("ExternalURL must use https.", "AWS.MechanicalTurk.XMLParseError")
        expires = datetime.now(UTC) + timedelta(seconds=values.pop("LifetimeInSeconds"))
        type_id = values["HITTypeId"]
        facts = {name: self.books.types[type_id][name] for name in ("Title", "Description", "Reward")}
        hit = values | facts | {"HITId": _id(), "HITStatus": "Assignable", "Expiration": expires}
        self.books.hits[hit["HITId"]] = hit
        return {"HIT": hit}

    def ListHITs(self, MaxResults: int = 10, NextToken: str = "0") -> dict[str, Any]:
        return self._page("HITs", list(self.books.hits.values()), MaxResults, NextToken)

    def UpdateExpirationForHIT(self, HITId: str, ExpireAt: float) -> dict[str, Any]:
        self.books.hits[HITId]["Expiration"] = datetime.fromtimestamp(ExpireAt, UTC)
        return {}

    def ListAssignmentsForHIT(self, HITId: str, MaxResults: int = 10, NextToken: str = "0") -> dict[str, Any]:
        rows = [row for row in self.books.assignments.values() if row["HITId"] == HITId and "AssignmentStatus" in row]
        return self._page("Assignments", rows, MaxResults, NextToken)

    def GetAssignment(self, AssignmentId: str) -> dict[str, Any]:
        row = self.books.assignments.get(AssignmentId, {})
        if "AssignmentStatus" not in row:
            text = "This operation can be called with a status of: Reviewable,Approved,Rejected"
            raise Refusal(text, "AWS.MechanicalTurk.InvalidAssignmentState")
        return {"Assignment": row, "HIT": self.books.hits[row["HITId"]]}

    def ApproveAssignment(self, AssignmentId: str, OverrideRejection: bool = False) -> dict[str, Any]:
        row = self.GetAssignment(AssignmentId)["Assignment"]
        if row["AssignmentStatus"] != ("Rejected" if OverrideRejection else "Submitted"):
            text = "This operation can be called with a status of: Submitted"
            raise Refusal(text, "AWS.MechanicalTurk.InvalidAssignmentState")
        row["AssignmentStatus"] = "Approved"
        return {}

    def RejectAssignment(self, AssignmentId: str, RequesterFeedback: str) -> dict[str, Any]:
        row = self.GetAssignment(AssignmentId)["Assignment"]
        if row["AssignmentStatus"] != "Submitted":
            text = "This operation can be called with a status of: Submitted"
            raise Refusal(text, "AWS.MechanicalTurk.InvalidAssignmentState")
        row |= {"AssignmentStatus": "Rejected", "RequesterFeedback": RequesterFeedback}
        return {}

    def SendBonus(self, UniqueRequestToken: str, **values: Any) -> dict[str, Any]:
        if self.books.assignments[values["AssignmentId"]]["WorkerId"] != values["WorkerId"]:
            raise Refusal("The worker has no such assignment.", "AWS.MechanicalTurk.WorkerNotEligible")
        if UniqueRequestToken in self.books.tokens:
            text = f'The idempotency token "{UniqueRequestToken}" has already been processed.'
            raise Refusal(text, "AWS.MechanicalTurk.DuplicateRequest")
        self.books.tokens.add(UniqueRequestToken)
        self.books.bonuses.append(values | {"GrantTime": datetime.now(UTC)})
        return {}

    def ListBonusPayments(self, AssignmentId: str, MaxResults: int = 10, NextToken: str = "0") -> dict[str, Any]:
        rows = [row for row in self.books.bonuses if row["AssignmentId"] == AssignmentId]
        return self._page("BonusPayments", rows, MaxResults, NextToken)

    def CreateWorkerBlock(self, WorkerId: str, Reason: str) -> dict[str, Any]:
        self.books.blocks[WorkerId] = Reason
        return {}

    def AssociateQualificationWithWorker(
        self, QualificationTypeId: str, WorkerId: str, IntegerValue: int, SendNotification: bool
    ) -> dict[str, Any]:
        self.books.qualified[QualificationTypeId].add(WorkerId)
        return {}

    def _page(self, member: str, rows: list[Any], most: int, token: str) -> dict[str, Any]:
        start = int(token)
        answer = {member: rows[start : start + most], "NumResults": len(rows[start : start + most])}
        return answer | ({"NextToken": str(start + most)} if start + most < len(rows) else {})

    # What workers do and see.

    def accept(self, hit: str, worker: str | None = None) -> dict[str, str]:
        """A worker accepts the HIT; the parameters that the platform adds to the address."""
        row = {"AssignmentId": _id(), "WorkerId": worker or f"A{_id()}", "HITId": hit}
        self.books.assignments[row["AssignmentId"]] = row
        ids = {"assignmentId": row["AssignmentId"], "hitId": hit, "workerId": row["WorkerId"]}
        return ids | {"turkSubmitTo": self.address}

    def frame_address(self, parameters: dict[str, str]) -> str:
        """The address that the platform shows in its frame."""
        question = ElementTree.fromstring(self.books.hits[parameters["hitId"]]["Question"])
        return f"{question.findtext(f'{QUESTION}ExternalURL')}?{urlencode(parameters)}"

    def preview(self, hit: str) -> dict[str, str]:
        """The parameters of a worker who looks at a HIT before accepting it."""
        return {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": hit}

    def show(self, target: str) -> tuple[int, bytes]:
        """A page of the worker's site, with the study in its frame."""
        parameters = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
        if "hitId" not in parameters:
            return 200, b"<!doctype html><title>Mechanical Turk</title><p>The HITs of today.</p>"
        if parameters["hitId"] not in self.books.hits:
            return 404, b"<!doctype html><title>Mechanical Turk</title><p>No such HIT.</p>"
        source = escape(self.frame_address(parameters))
        head = '<!doctype html><html lang="en"><title>Mechanical Turk</title><h1>HIT</h1>'
        return 200, f'{head}<iframe title="HIT" src="{source}" width="900" height="600"></iframe></html>'.encode()

    def submit(self, raw: str) -> tuple[int, bytes]:
        """The form that the frame posts: an assignment and at least one more field."""
        values = {name: entries[0] for name, entries in parse_qs(raw).items()}
        row = self.books.assignments.get(values.pop("assignmentId", ""))
        if row is None or not values or "AssignmentStatus" in row:
            return 400, b"<!doctype html><title>Error</title><p>There was a problem submitting your results.</p>"
        answers = "".join(
            f"<Answer><QuestionIdentifier>{escape(name)}</QuestionIdentifier><FreeText>{escape(value)}</FreeText></Answer>"
            for name, value in values.items()
        )
        row |= {"AssignmentStatus": "Submitted", "Answer": f"<QuestionFormAnswers>{answers}</QuestionFormAnswers>"}
        return 200, b"<!doctype html><title>Done</title><p>Your results have been submitted.</p>"


def _id() -> str:
    return f"3{token_hex(14).upper()}"


def _plain(value: Any) -> Any:
    """The JSON of an answer; times are seconds."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return value.timestamp() if isinstance(value, datetime) else value
