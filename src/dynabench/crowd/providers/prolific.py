"""Prolific: studies, submissions and bonuses by its API (https://docs.prolific.com), and its signed webhooks.

The API confirms who a worker is, since the address's parameters are claims. Payment of a set-up bonus is not idempotent
there, so that it is asked for once alone, and looked up on the submissions afterwards (`crowd.bonuses`).
"""

import base64
import hmac
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

from pydantic import Field

from dynabench.crowd.provider import (
    Arrival,
    BonusTransfer,
    Completion,
    CrowdAccount,
    ExternalStudy,
    ProviderEvent,
    StudyFacts,
    StudyOutcome,
    WorkSubmission,
    WorkSubmissionState,
)
from dynabench.kit.errors import Conflict, Forbidden, Invalid, Unavailable
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.kit.security import keyed
from dynabench.pay.money import decimal_text

SECONDS = 20.0
PAGE = 100
_ID = re.compile(r"[a-f0-9]{24}")
FRESH = timedelta(minutes=5)
"""Age beyond which a webhook call is refused as a replay."""
SHORTEST_REJECTION = 100
"""Characters that Prolific asks of the reason of a rejection."""
COMPLETE_ADDRESS = "https://app.prolific.com/submissions/complete?cc={code}"
STATES: Mapping[str, WorkSubmissionState] = {
    "RESERVED": WorkSubmissionState.ACTIVE,
    "ACTIVE": WorkSubmissionState.ACTIVE,
    "AWAITING REVIEW": WorkSubmissionState.SUBMITTED,
    "APPROVED": WorkSubmissionState.APPROVED,
    "PARTIALLY APPROVED": WorkSubmissionState.APPROVED,
    "REJECTED": WorkSubmissionState.REJECTED,
    "RETURNED": WorkSubmissionState.RETURNED,
    "TIMED-OUT": WorkSubmissionState.TIMED_OUT,
    "SCREENED OUT": WorkSubmissionState.SCREENED_OUT,
}
CODE_TYPES: Mapping[StudyOutcome, tuple[str, str]] = {
    StudyOutcome.COMPLETED: ("COMPLETED", "MANUALLY_REVIEW"),
    StudyOutcome.NO_CONSENT: ("NO_CONSENT", "REQUEST_RETURN"),
    StudyOutcome.SCREENED_OUT: ("OTHER", "REQUEST_RETURN"),
    StudyOutcome.FAILED_QUIZ: ("FAILED_ATTENTION_CHECK", "REQUEST_RETURN"),
    StudyOutcome.MANUAL_REVIEW: ("OTHER", "MANUALLY_REVIEW"),
}
"""For each outcome with a code of its own, the code's type at Prolific and what happens to the submission."""
CATEGORIES = frozenset(
    "TOO_QUICKLY TOO_SLOWLY FAILED_INSTRUCTIONS INCOMP_LONGITUDINAL FAILED_CHECK LOW_EFFORT MALINGERING NO_CODE"
    " BAD_CODE NO_DATA UNSUPP_DEVICE OTHER".split()
)


class ProlificSettings(StrictModel):
    """The settings of a study on Prolific; `reward` is in the account's currency, in its minor units (pence, cents)."""

    reward: int = Field(
        150, ge=1, le=100_000, title=_("Reward in pence or cents"), description=_("Paid when you approve a submission.")
    )
    currency: str = Field(
        "GBP",
        pattern=r"^[A-Z]{3}$",
        title=_("Currency of the account"),
        description=_("GBP, USD or the currency that your Prolific account pays in."),
    )
    places: int = Field(20, ge=1, le=100_000, title=_("Places"), description=_("How many workers take part."))
    description: str = Field(
        "", max_length=5000, title=_("Description"), description=_("What workers read on Prolific before they begin.")
    )
    automatic: bool = Field(
        False,
        title=_("Approve automatically"),
        description=_("Workers who did all the work are approved by Prolific at once. Otherwise you decide on each."),
    )


class Prolific:
    """Studies on Prolific."""

    name: ClassVar[str] = "prolific"
    title: ClassVar[str] = "Prolific"
    settings_model: ClassVar[type[StrictModel]] = ProlificSettings
    credential_fields: ClassVar[Sequence[str]] = ("token", "webhook_secret")
    optional_credentials: ClassVar[Sequence[str]] = ("webhook_secret",)
    address: ClassVar[str] = "https://api.prolific.com"
    frame_ancestors: ClassVar[Sequence[str]] = ()
    repeats_bonuses: ClassVar[bool] = False
    advice: ClassVar[str] = ""

    def read_arrival(self, study: StudyFacts, parameters: Mapping[str, str]) -> Arrival:
        """Return the ids of the address: participant, study and submission, 24 hex digits each."""
        ids = {name: parameters.get(name, "").strip() for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")}
        wrong = {
            name: _("The address lacks an id. Open the study on Prolific.")
            for name in ids
            if not _ID.fullmatch(ids[name])
        }
        if wrong:
            raise Invalid(wrong)
        if study.external_id and ids["STUDY_ID"] != study.external_id:
            raise Invalid({"STUDY_ID": _("This address belongs to another study. Open this one on Prolific.")})
        return Arrival(ids["PROLIFIC_PID"], ids["SESSION_ID"], ids["STUDY_ID"])

    def confirm(self, account: CrowdAccount | None, study: StudyFacts, arrival: Arrival) -> None:
        """Ask Prolific whether the submission is this worker's and belongs to this study."""
        try:
            submission = self._call(account, "GET", f"/submissions/{arrival.session}/")
        except Conflict:
            raise Forbidden(_("Prolific does not know this submission. Open the study on Prolific again.")) from None
        participant = submission.get("participant") or submission.get("participant_id")
        if participant != arrival.worker or submission.get("study_id") != study.external_id:
            raise Forbidden(_("Prolific says that this submission is not yours. Open the study on Prolific again."))
        if STATES.get(str(submission.get("status"))) in (WorkSubmissionState.RETURNED, WorkSubmissionState.TIMED_OUT):
            raise Forbidden(_("You returned this study or its time ran out on Prolific. It cannot be entered again."))

    def check_account(self, account: CrowdAccount) -> str:
        """Return the mail address of the account that a token belongs to."""
        try:
            user = self._call(account, "GET", "/users/me/")
        except Conflict:
            raise Invalid({"token": _("Prolific does not accept this token.")}) from None
        return str(user.get("email") or user.get("id") or "")

    def create_study(self, account: CrowdAccount | None, study: StudyFacts, entry: str) -> ExternalStudy:
        """Create a draft at Prolific; one that an interrupted call made is found by its internal name."""
        for row in self._pages(account, "/studies/"):
            if row.get("internal_name") == study.internal_name:
                return self._external(row, study)
        settings = ProlificSettings.model_validate(study.settings)
        parameters = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
        body = {
            "name": study.name,
            "internal_name": study.internal_name,
            "description": settings.description or study.name,
            "external_study_url": f"{entry}?{parameters}",
            "prolific_id_option": "url_parameters",
            "completion_codes": self._codes(study, settings),
            "estimated_completion_time": int(study.details.get("minutes", 20)),
            "reward": settings.reward,
            "total_available_places": settings.places,
            "device_compatibility": ["desktop", "mobile", "tablet"],
            "peripheral_requirements": [],
            "filters": [],
        }
        return self._external(self._call(account, "POST", "/studies/", body), study)

    def _codes(self, study: StudyFacts, settings: ProlificSettings) -> list[dict[str, Any]]:
        codes = []
        for outcome, (code_type, action) in CODE_TYPES.items():
            chosen = "AUTOMATICALLY_APPROVE" if settings.automatic and outcome is StudyOutcome.COMPLETED else action
            entry: dict[str, Any] = {"action": chosen}
            if chosen == "REQUEST_RETURN":
                entry["return_reason"] = {
                    StudyOutcome.NO_CONSENT: "No consent",
                    StudyOutcome.SCREENED_OUT: "Did not meet the criteria",
                }.get(outcome, "Did not pass the quiz")
            codes.append(
                {"code": self._code(study, outcome), "code_type": code_type, "actions": [entry], "actor": "participant"}
            )
        return codes

    def _code(self, study: StudyFacts, outcome: StudyOutcome) -> str:
        mac = keyed(study.key, "completion", outcome.value)
        return "".join("ABCDEFGHJKLMNPQRSTUVWXYZ23456789"[byte % 32] for byte in mac[:8])

    def _external(self, row: Mapping[str, Any], study: StudyFacts) -> ExternalStudy:
        state = str(row.get("status", ""))
        return ExternalStudy(str(row["id"]), state, details=dict(study.details) | {"external_state": state})

    def publish(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """Publish a draft, or start a paused study again."""
        return self._transition(account, study, "PUBLISH", ("ACTIVE", "PUBLISHING", "SCHEDULED"))

    def pause(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """Pause the study at Prolific."""
        return self._transition(account, study, "PAUSE", ("PAUSED",))

    def stop(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """Stop the study at Prolific; it takes no further workers."""
        return self._transition(account, study, "STOP", ("AWAITING REVIEW", "COMPLETED"))

    def _transition(
        self, account: CrowdAccount | None, study: StudyFacts, action: str, done: Sequence[str]
    ) -> ExternalStudy:
        """Lead the study to another state, unless an earlier call has: Prolific refuses the second of two."""
        row = self._call(account, "GET", f"/studies/{study.external_id}/")
        if row.get("status") not in done:
            again = action == "PUBLISH" and row.get("status") == "PAUSED"
            body = {"action": "START" if again else action}
            row = self._call(account, "POST", f"/studies/{study.external_id}/transition/", body)
        return self._external({"id": study.external_id} | dict(row), study)

    def completion(self, study: StudyFacts, arrival: Arrival, outcome: StudyOutcome) -> Completion:
        """Return Prolific's address of completion with the code of the outcome."""
        code = self._code(study, outcome if outcome in CODE_TYPES else StudyOutcome.MANUAL_REVIEW)
        return Completion(COMPLETE_ADDRESS.format(code=code), code)

    def approve(self, account: CrowdAccount | None, study: StudyFacts, submission: WorkSubmission) -> None:
        """Approve a submission; Prolific ignores the second of two same transitions."""
        self._call(account, "POST", f"/submissions/{submission.session}/transition/", {"action": "APPROVE"})

    def reject(
        self, account: CrowdAccount | None, study: StudyFacts, submission: WorkSubmission, reason: str, category: str
    ) -> None:
        """Reject a submission with the reason that the worker reads, made as long as Prolific asks for."""
        message = reason
        if len(message) < SHORTEST_REJECTION:
            message = f"{reason} The researchers decided this. Write to them on Prolific if you do not agree with it."
        body = {
            "action": "REJECT",
            "message": message.ljust(SHORTEST_REJECTION, "."),
            "rejection_category": category.upper() if category.upper() in CATEGORIES else "OTHER",
        }
        self._call(account, "POST", f"/submissions/{submission.session}/transition/", body)

    def set_up_bonuses(self, account: CrowdAccount, study: StudyFacts, transfers: Sequence[BonusTransfer]) -> str:
        """Set up bonuses, which pays nothing yet; returns Prolific's id of the set."""
        lines = [f"{transfer.session},{decimal_text(transfer.amount, transfer.currency)}" for transfer in transfers]
        body = {"study_id": study.external_id, "csv_bonuses": "\n".join(lines)}
        return str(self._call(account, "POST", "/submissions/bonus-payments/", body)["id"])

    def pay_bonuses(
        self, account: CrowdAccount, study: StudyFacts, order: str, transfers: Sequence[BonusTransfer]
    ) -> Mapping[str, str]:
        """Pay a set of bonuses. Not idempotent: call it once for each set."""
        self._call(account, "POST", f"/bulk-bonus-payments/{order}/pay/", {})
        return {}

    def paid_bonuses(self, account: CrowdAccount, study: StudyFacts, session: str) -> Sequence[int]:
        """Return the bonuses that a submission has been paid so far, in minor units."""
        submission = self._call(account, "GET", f"/submissions/{session}/")
        return [int(amount) for amount in submission.get("bonus_payments") or []]

    def list_submissions(self, account: CrowdAccount, study: StudyFacts) -> Sequence[WorkSubmission]:
        """Return all submissions of the study."""
        return [
            WorkSubmission(
                session=str(row["id"]),
                worker=str(row.get("participant_id") or row.get("participant") or ""),
                state=STATES.get(str(row.get("status")), WorkSubmissionState.ACTIVE),
                code=str(row.get("study_code") or row.get("entered_code") or ""),
                study=study.external_id,
            )
            for row in self._pages(account, f"/studies/{study.external_id}/submissions/")
        ]

    def read_events(
        self, secret: str, headers: Mapping[str, str], body: bytes, at: datetime
    ) -> Sequence[ProviderEvent]:
        """Return the event of a webhook call whose signature and time are right."""
        stamp = headers.get("x-prolific-request-timestamp", "")
        signature = headers.get("x-prolific-request-signature", "")
        mac = base64.b64encode(hmac.digest(secret.encode(), stamp.encode() + body, "sha256"))
        if not secret or not hmac.compare_digest(mac, signature.encode()):
            raise Forbidden(_("The signature of this message is wrong."))
        if not stamp.isdigit() or abs(at - datetime.fromtimestamp(int(stamp[:12]), UTC)) > FRESH:
            raise Forbidden(_("This message is too old."))
        try:
            event = json.loads(body)
            kind, resource, status = str(event["event_type"]), str(event["resource_id"]), str(event.get("status", ""))
        except (ValueError, KeyError, TypeError):
            raise Invalid({"body": _("This is no event.")}) from None
        event_id = headers.get("x-event-id", "")[:100] or f"{stamp}-{resource}-{status}"[:100]
        of_submission = kind.startswith("submission.")
        return [
            ProviderEvent(
                id=event_id,
                kind=kind[:60],
                study="" if of_submission else resource,
                session=resource if of_submission else "",
                worker=str(event.get("participant_id", "")),
                state=STATES.get(status.upper()) if of_submission else None,
                at=datetime.fromtimestamp(int(stamp[:12]), UTC),
            )
        ]

    def _pages(self, account: CrowdAccount | None, path: str) -> Iterator[Mapping[str, Any]]:
        offset = 0
        while True:
            query = urlencode({"limit": PAGE, "offset": offset})
            rows = self._call(account, "GET", f"{path}?{query}").get("results") or []
            yield from rows
            offset += len(rows)
            if len(rows) < PAGE:
                return

    def _call(
        self, account: CrowdAccount | None, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Return the JSON answer; raise `Conflict` with Prolific's reason, and `Unavailable` for no answer."""
        if account is None:
            raise Conflict(_("Connect a Prolific account to this study first."))
        sent = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Token {account.credentials['token']}", "Accept": "application/json"}
        headers |= {"Content-Type": "application/json"} if sent is not None else {}
        address = f"{account.address}/api/v1{quote(path, safe='/?&=%')}"
        reply = account.client.call(method, address, sent, headers, SECONDS)
        if reply.status in (408, 429) or reply.status >= 500:
            raise Unavailable(_("Prolific does not answer now. It is tried again."), retry_after=30)
        try:
            answer = json.loads(reply.body or b"{}")
        except ValueError:
            answer = {}
        if reply.status >= 400:
            raise Conflict(_("Prolific refused this: %(reason)s", reason=_reason(answer, reply.status)))
        return answer if isinstance(answer, dict) else {}


def _reason(answer: Any, status: int) -> str:
    problem = answer.get("error") if isinstance(answer, dict) else None
    text = problem.get("detail") or problem.get("title") if isinstance(problem, dict) else problem
    return str(text or status)[:300]
