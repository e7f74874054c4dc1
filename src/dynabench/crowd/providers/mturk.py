"""Amazon Mechanical Turk and its sandbox, for requesters with an account: a study is a HIT with an ExternalQuestion.

Mechanical Turk shows the study's address in a frame and adds ids to it, which nothing signs and which it confirms by no
call before the worker submits. So each assignment has an account of its own, and what it claims is compared with
Mechanical Turk's books before anything is paid (`crowd.frames` has the frame's page).
"""

import hmac
import re
from base64 import b32encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import escape
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

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
from dynabench.crowd.providers.mturk_api import TurkRefusal, call_turk
from dynabench.kit.errors import Conflict, Forbidden, Invalid
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.kit.security import keyed
from dynabench.pay.money import decimal_text

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
CURRENCY = "USD"
PAGE = 100
MOST_PAGES = 200
"""Pages of a list that are read before it is given up."""
_ID = re.compile(r"[A-Z0-9]{1,64}")
_WORKER = re.compile(r"A[A-Z0-9]{1,63}")
APPROVAL_RATE, APPROVED_NUMBER = "000000000000000000L0", "00000000000000000040"
COUNTRY, ADULT = "00000000000000000071", "00000000000000000060"
"""Qualification types that Mechanical Turk keeps for each worker."""
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>{address}</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>'
)
STATES: Mapping[str, WorkSubmissionState] = {
    "Submitted": WorkSubmissionState.SUBMITTED,
    "Approved": WorkSubmissionState.APPROVED,
    "Rejected": WorkSubmissionState.REJECTED,
}
SUBMITTED_ON = frozenset({StudyOutcome.COMPLETED, StudyOutcome.MANUAL_REVIEW, StudyOutcome.TIMED_OUT})
"""Outcomes after which a worker submits; after the others the worker returns the HIT."""
ALREADY_DONE = re.compile(r"already (?:been )?(?:processed|exist|used)|idempotency token|duplicate", re.IGNORECASE)


def _countries(text: str) -> str:
    codes = [part.strip().upper() for part in text.split(",") if part.strip()]
    if any(not re.fullmatch(r"[A-Z]{2}", code) for code in codes):
        raise ValueError(_("Give codes of two letters with commas between them, such as US, GB."))
    return ", ".join(codes)


Countries = Annotated[str, Field(max_length=200), AfterValidator(_countries)]
QualificationId = Annotated[str, Field(pattern=r"^[A-Z0-9]{0,64}$")]


class MechanicalTurkSettings(StrictModel):
    """The settings of a study on Mechanical Turk; `reward` is in US cents, which is the one currency there."""

    reward: int = Field(
        150, ge=1, le=100_000, title=_("Reward in US cents"), description=_("Paid for each assignment.")
    )
    places: int = Field(
        9,
        ge=1,
        le=10_000,
        title=_("Places"),
        description=_("How many workers take part. From ten on the fee is higher."),
    )
    description: str = Field(
        "", max_length=2000, title=_("Description"), description=_("What workers read in the list of HITs.")
    )
    keywords: str = Field("", max_length=1000, title=_("Keywords"), description=_("With commas between them."))
    minutes_allowed: int = Field(
        120,
        ge=1,
        le=43_200,
        title=_("Minutes allowed"),
        description=_("After them the assignment goes to another worker."),
    )
    days_open: int = Field(7, ge=1, le=365, title=_("Days open"), description=_("After them nobody new can accept."))
    approval_days: int = Field(
        7,
        ge=0,
        le=30,
        title=_("Days until approval"),
        description=_("Work that you do not decide on is approved then."),
    )
    least_approval: int = Field(
        0, ge=0, le=100, title=_("Least approval rate in percent"), description=_("0 asks for none.")
    )
    least_approved: int = Field(
        0, ge=0, le=1_000_000, title=_("Least number of approved HITs"), description=_("0 asks for none.")
    )
    countries: Countries = Field(
        "", title=_("Countries"), description=_("Codes such as US, GB. Without any, workers of all countries.")
    )
    adults: bool = Field(False, title=_("Adults only"), description=_("For content that Mechanical Turk calls adult."))
    needed: QualificationId = Field(
        "", title=_("Qualification that workers need"), description=_("The id of a qualification type of your account.")
    )
    took_part: QualificationId = Field(
        "",
        title=_("Qualification of those who took part"),
        description=_("Workers who have it cannot accept; workers get it when you approve them."),
    )


class MechanicalTurk:
    """Studies on Mechanical Turk."""

    name: ClassVar[str] = "mturk"
    title: ClassVar[str] = "Mechanical Turk"
    settings_model: ClassVar[type[StrictModel]] = MechanicalTurkSettings
    credential_fields: ClassVar[Sequence[str]] = ("access_key", "secret_key")
    optional_credentials: ClassVar[Sequence[str]] = ()
    address: ClassVar[str] = "https://mturk-requester.us-east-1.amazonaws.com"
    frame_ancestors: ClassVar[Sequence[str]] = ("https://www.mturk.com", "https://worker.mturk.com")
    repeats_bonuses: ClassVar[bool] = True
    advice: ClassVar[str] = _(
        "Mechanical Turk has taken no new requesters since 30 July 2026. You need an account from before that day."
    )

    def read_arrival(self, study: StudyFacts, parameters: Mapping[str, str]) -> Arrival:
        """Return the ids that Mechanical Turk adds to the address; without an assignment it is a preview."""
        ids = {name: parameters.get(name, "").strip() for name in ("assignmentId", "hitId", "workerId")}
        if ids["assignmentId"] == PREVIEW:
            return Arrival("", "", ids["hitId"], preview=True)
        lacking = _("The address lacks an id. Open the HIT on Mechanical Turk.")
        wrong = {
            name: lacking
            for name, pattern in (("assignmentId", _ID), ("hitId", _ID), ("workerId", _WORKER))
            if not pattern.fullmatch(ids[name])
        }
        if wrong:
            raise Invalid(wrong)
        hit = study.details.get("hit", "")
        if hit and not hmac.compare_digest(ids["hitId"], str(hit)):
            raise Invalid({"hitId": _("This address belongs to another HIT. Open this one on Mechanical Turk.")})
        identity = f"{ids['workerId']}/{ids['assignmentId']}"
        submit = {"submit": parameters.get("turkSubmitTo", "").strip()}
        return Arrival(ids["workerId"], ids["assignmentId"], ids["hitId"], details=submit, identity=identity)

    def confirm(self, account: CrowdAccount | None, study: StudyFacts, arrival: Arrival) -> None:
        """Do nothing: Mechanical Turk tells of an assignment once it is submitted; `approve` compares it then."""

    def check_account(self, account: CrowdAccount) -> str:
        """Return the id of an access key that opens a requester's account."""
        try:
            call_turk(account, "GetAccountBalance")
        except Conflict as problem:
            raise Invalid({"access_key": problem.detail}) from None
        return account.credentials["access_key"]

    def create_study(self, account: CrowdAccount | None, study: StudyFacts, entry: str) -> ExternalStudy:
        """Make the type of the HIT, the same one each time; `publish` makes the HIT, which is open at once."""
        settings = MechanicalTurkSettings.model_validate(study.settings)
        answer = call_turk(
            account,
            "CreateHITType",
            Title=study.name,
            Description=settings.description or study.name,
            Keywords=settings.keywords,
            Reward=decimal_text(settings.reward, CURRENCY),
            AssignmentDurationInSeconds=60 * settings.minutes_allowed,
            AutoApprovalDelayInSeconds=86_400 * settings.approval_days,
            QualificationRequirements=list(_requirements(settings)),
        )
        details = dict(study.details) | {"entry": entry, "hit_type": answer["HITTypeId"]}
        return ExternalStudy(str(answer["HITTypeId"]), "", details=details)

    def publish(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """Make the HIT, or open it again; a HIT that an interrupted call made is known by its annotation."""
        settings = MechanicalTurkSettings.model_validate(study.settings)
        hit = str(study.details.get("hit", "")) or self._find_hit(account, study)
        until = datetime.now(UTC) + timedelta(days=settings.days_open)
        if hit:
            self._expire(account, hit, until)
            return self._external(study, hit, "assignable")
        answer = call_turk(
            account,
            "CreateHITWithHITType",
            HITTypeId=study.details["hit_type"],
            MaxAssignments=settings.places,
            LifetimeInSeconds=86_400 * settings.days_open,
            Question=QUESTION.format(address=escape(str(study.details["entry"]))),
            RequesterAnnotation=study.internal_name,
            UniqueRequestToken=study.internal_name,
        )
        return self._external(study, str(answer["HIT"]["HITId"]), "assignable")

    def pause(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """Let the HIT expire: nobody new can accept it, and who has accepted it can submit."""
        hit = str(study.details.get("hit", "")) or self._find_hit(account, study)
        if hit:
            self._expire(account, hit, datetime.now(UTC) - timedelta(minutes=1))
        return self._external(study, hit, "expired")

    def stop(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """Let the HIT expire for good."""
        return self.pause(account, study)

    def completion(self, study: StudyFacts, arrival: Arrival, outcome: StudyOutcome) -> Completion:
        """Return the form that the frame posts to Mechanical Turk; nothing where the worker returns the HIT."""
        if outcome not in SUBMITTED_ON:
            return Completion()
        mac = keyed(study.key, "completion", f"{arrival.session}\0{outcome.value}")
        code = b32encode(mac[:10]).decode()
        address = f"{arrival.details.get('submit', '')}/mturk/externalSubmit"
        return Completion(address, code, {"assignmentId": arrival.session, "code": code, "outcome": outcome.value})

    def approve(self, account: CrowdAccount | None, study: StudyFacts, submission: WorkSubmission) -> None:
        """Approve an assignment of the worker who entered, also one that was rejected before."""
        state = self._state(account, submission)
        if state is not WorkSubmissionState.APPROVED:
            override = {"OverrideRejection": True} if state is WorkSubmissionState.REJECTED else {}
            call_turk(account, "ApproveAssignment", AssignmentId=submission.session, **override)
        took_part = MechanicalTurkSettings.model_validate(study.settings).took_part
        if took_part:
            call_turk(
                account,
                "AssociateQualificationWithWorker",
                QualificationTypeId=took_part,
                WorkerId=submission.worker,
                IntegerValue=1,
                SendNotification=False,
            )

    def reject(
        self, account: CrowdAccount | None, study: StudyFacts, submission: WorkSubmission, reason: str, category: str
    ) -> None:
        """Reject an assignment with the reason that the worker reads."""
        if self._state(account, submission) is not WorkSubmissionState.REJECTED:
            call_turk(
                account, "RejectAssignment", AssignmentId=submission.session, RequesterFeedback=reason[:1000] or "–"
            )

    def block_worker(self, account: CrowdAccount, worker: str, reason: str) -> None:
        """Let a worker accept no more work of this account; the worker does not read the reason."""
        call_turk(account, "CreateWorkerBlock", WorkerId=worker, Reason=reason)

    def set_up_bonuses(self, account: CrowdAccount, study: StudyFacts, transfers: Sequence[BonusTransfer]) -> str:
        """Check that the bonuses are in US dollars; there is nothing to announce."""
        if any(transfer.currency != CURRENCY for transfer in transfers):
            raise Conflict(_("Mechanical Turk pays in US dollars alone. Set the round's payments to USD."))
        return study.external_id

    def pay_bonuses(
        self, account: CrowdAccount, study: StudyFacts, order: str, transfers: Sequence[BonusTransfer]
    ) -> Mapping[str, str]:
        """Pay each bonus under a token of its own, by which Mechanical Turk pays it once; return those it refused."""
        refused = {}
        for transfer in transfers:
            try:
                call_turk(
                    account,
                    "SendBonus",
                    WorkerId=transfer.worker,
                    AssignmentId=transfer.session,
                    BonusAmount=decimal_text(transfer.amount, transfer.currency),
                    Reason=transfer.reason[:500] or study.name,
                    UniqueRequestToken=keyed(study.key, "bonus", transfer.key).hex()[:48],
                )
            except Conflict as problem:  # one that is refused keeps no other from being paid
                if not ALREADY_DONE.search(problem.detail):
                    refused[transfer.key] = problem.detail
        return refused

    def paid_bonuses(self, account: CrowdAccount, study: StudyFacts, session: str) -> Sequence[int]:
        """Return the bonuses that an assignment has been paid so far, in cents."""
        rows = self._pages(account, "ListBonusPayments", "BonusPayments", AssignmentId=session)
        return [int(Decimal(row["BonusAmount"]) * 100) for row in rows]

    def list_submissions(self, account: CrowdAccount, study: StudyFacts) -> Sequence[WorkSubmission]:
        """Return the assignments that were submitted; the API tells nothing of those under way or returned."""
        hit = str(study.details.get("hit", ""))
        if not hit:
            return []
        return [
            WorkSubmission(
                session=str(row["AssignmentId"]),
                worker=str(row["WorkerId"]),
                state=STATES.get(str(row.get("AssignmentStatus")), WorkSubmissionState.SUBMITTED),
                study=hit,
            )
            for row in self._pages(account, "ListAssignmentsForHIT", "Assignments", HITId=hit)
        ]

    def read_events(
        self, secret: str, headers: Mapping[str, str], body: bytes, at: datetime
    ) -> Sequence[ProviderEvent]:
        """Refuse: Mechanical Turk sends its notifications to Amazon's own services alone."""
        raise Forbidden(_("This platform sends no webhooks."))

    def _state(self, account: CrowdAccount | None, submission: WorkSubmission) -> WorkSubmissionState:
        """Return the state of an assignment; raises `Conflict` unless it was submitted by the worker who entered."""
        try:
            assignment = call_turk(account, "GetAssignment", AssignmentId=submission.session)["Assignment"]
        except TurkRefusal:
            raise Conflict(_("The worker has not submitted this assignment on Mechanical Turk.")) from None
        if assignment["WorkerId"] != submission.worker:
            raise Conflict(_("Mechanical Turk says that this assignment is of another worker. It is not decided."))
        return STATES.get(str(assignment.get("AssignmentStatus")), WorkSubmissionState.SUBMITTED)

    def _find_hit(self, account: CrowdAccount | None, study: StudyFacts) -> str:
        for row in self._pages(account, "ListHITs", "HITs"):
            if row.get("RequesterAnnotation") == study.internal_name:
                return str(row["HITId"])
        return ""

    def _expire(self, account: CrowdAccount | None, hit: str, at: datetime) -> None:
        try:
            call_turk(account, "UpdateExpirationForHIT", HITId=hit, ExpireAt=at)
        except TurkRefusal as problem:
            if not ALREADY_DONE.search(problem.detail):
                raise

    def _external(self, study: StudyFacts, hit: str, state: str) -> ExternalStudy:
        details = dict(study.details) | {"external_state": state} | ({"hit": hit} if hit else {})
        return ExternalStudy(hit or study.external_id, state, details=details)

    def _pages(self, account: CrowdAccount | None, operation: str, member: str, **parameters: Any) -> Iterator[Any]:
        token: dict[str, str] = {}
        for _page in range(MOST_PAGES):
            answer = call_turk(account, operation, MaxResults=PAGE, **parameters, **token)
            yield from answer.get(member) or []
            if not answer.get("NextToken"):
                return
            token = {"NextToken": answer["NextToken"]}


class MechanicalTurkSandbox(MechanicalTurk):
    """The sandbox of Mechanical Turk, where nothing costs and nobody is paid."""

    name: ClassVar[str] = "mturk-sandbox"
    title: ClassVar[str] = "Mechanical Turk sandbox"
    address: ClassVar[str] = "https://mturk-requester-sandbox.us-east-1.amazonaws.com"
    frame_ancestors: ClassVar[Sequence[str]] = ("https://workersandbox.mturk.com",)
    advice: ClassVar[str] = _("The sandbox costs nothing and pays nobody. Try your study there first.")


def _requirements(settings: MechanicalTurkSettings) -> Iterator[dict[str, Any]]:
    """Yield what a worker needs to see and accept the HIT."""

    def requirement(type_id: str, comparator: str, **values: Any) -> dict[str, Any]:
        guarded = "DiscoverPreviewAndAccept"
        return {"QualificationTypeId": type_id, "Comparator": comparator, "ActionsGuarded": guarded} | values

    if settings.least_approval:
        yield requirement(APPROVAL_RATE, "GreaterThanOrEqualTo", IntegerValues=[settings.least_approval])
    if settings.least_approved:
        yield requirement(APPROVED_NUMBER, "GreaterThanOrEqualTo", IntegerValues=[settings.least_approved])
    if settings.countries:
        yield requirement(COUNTRY, "In", LocaleValues=[{"Country": code} for code in settings.countries.split(", ")])
    if settings.adults:
        yield requirement(ADULT, "EqualTo", IntegerValues=[1])
    if settings.needed:
        yield requirement(settings.needed, "Exists")
    if settings.took_part:
        yield requirement(settings.took_part, "DoesNotExist")
