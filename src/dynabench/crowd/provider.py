"""The interface between a study and the crowd platform that its workers come from.

A provider is one file in `crowd/providers/` or a plug-in (`dynabench_crowd_providers`). It speaks the platform's
protocol and knows no database: what it is given and returns are the plain values below. All methods may block; they run
in jobs or in threads. Failures of the platform are `Unavailable` (try again later), refusals of the platform are
`Conflict` with its reason, and bad input is `Invalid`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Protocol, runtime_checkable

from dynabench.kit import plugins
from dynabench.kit.outgoing.client import OutgoingClient
from dynabench.kit.schemas import StrictModel
from dynabench.kit.security import keyed


class StudyOutcome(StrEnum):
    """The ways in which a worker's part in a study ends; a platform may pay and decide differently on each."""

    COMPLETED = "completed"
    NO_CONSENT = "no_consent"
    SCREENED_OUT = "screened_out"
    FAILED_QUIZ = "failed_quiz"
    MANUAL_REVIEW = "manual_review"
    TIMED_OUT = "timed_out"


class WorkSubmissionState(StrEnum):
    """The states of a submission at a platform, in the words of this package."""

    ACTIVE = "active"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    REJECTED = "rejected"
    RETURNED = "returned"
    TIMED_OUT = "timed_out"
    SCREENED_OUT = "screened_out"

    @property
    def final(self) -> bool:
        """True where the platform has decided on the submission."""
        return self not in (WorkSubmissionState.ACTIVE, WorkSubmissionState.SUBMITTED)


@dataclass(frozen=True)
class CrowdAccount:
    """An owner's account at a platform: its secrets by name, the platform's address, and the client that calls it."""

    credentials: Mapping[str, str]
    address: str
    client: OutgoingClient


@dataclass(frozen=True)
class StudyFacts:
    """The facts that a provider knows of a study.

    `settings` are those of its settings model, `key` is the study's own secret, `external_id` the platform's id, empty
    before it was created there.
    """

    id: int
    name: str
    settings: Mapping[str, Any]
    key: bytes
    external_id: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def internal_name(self) -> str:
        """The name by which a study that an interrupted call made is found at a platform."""
        return f"dynabench-{keyed(self.key, 'internal name', '').hex()[:16]}"


@dataclass(frozen=True)
class Arrival:
    """The claims of the address by which a worker came; nothing proves them. In a `preview` no work is accepted.

    The account of a worker is found again by `identity`: the worker's id where the platform confirms it, else
    something that only this worker knows, so that nobody enters another worker's account with a made-up address.
    """

    worker: str
    session: str
    study: str = ""
    preview: bool = False
    details: Mapping[str, str] = field(default_factory=dict)
    identity: str = ""


@dataclass(frozen=True)
class ExternalStudy:
    """A study as the platform has it; `details` are kept with the study (addresses, codes)."""

    id: str
    state: str
    address: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class WorkSubmission:
    """A worker's submission to a study at the platform."""

    session: str
    worker: str
    state: WorkSubmissionState
    code: str = ""
    study: str = ""


@dataclass(frozen=True)
class Completion:
    """The way back to the platform for a worker: an address to follow, a code to copy, or a form to post there.

    `form` has the fields of a form that the browser posts to `address`; None where the address is only followed.
    """

    address: str = ""
    code: str = ""
    form: Mapping[str, str] | None = None


@dataclass(frozen=True)
class BonusTransfer:
    """A bonus to one worker; `key` is the same for each try. `amount` is in minor units of `currency` (cents)."""

    key: str
    worker: str
    session: str
    amount: int
    currency: str
    reason: str


@dataclass(frozen=True)
class ProviderEvent:
    """A verified message of the platform; `id` is the same each time that the platform repeats it."""

    id: str
    kind: str
    study: str = ""
    session: str = ""
    worker: str = ""
    state: WorkSubmissionState | None = None
    at: datetime | None = None


class CrowdProvider(Protocol):
    """A crowd platform.

    `name` is stored with studies, `title` is the platform's own name, `settings_model` what an owner sets on a study.
    `credential_fields` are the names of the secrets that an account needs (those in `optional_credentials` may be
    empty); without any there is no account and no call. `address` is where the platform's API is. `frame_ancestors` are
    the origins that show the study's page in a frame, if any, and to which that page may post its form. A platform with
    `repeats_bonuses` knows a bonus by its key, so that `pay_bonuses` may be called again for a set. `advice` is what an
    owner should know before the first study, if anything.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    settings_model: ClassVar[type[StrictModel]]
    credential_fields: ClassVar[Sequence[str]]
    optional_credentials: ClassVar[Sequence[str]]
    address: ClassVar[str]
    frame_ancestors: ClassVar[Sequence[str]]
    repeats_bonuses: ClassVar[bool]
    advice: ClassVar[str]

    def read_arrival(self, study: StudyFacts, parameters: Mapping[str, str]) -> Arrival:
        """Return what an address says of the worker; raise `Invalid` where an id is missing or malformed."""

    def confirm(self, account: CrowdAccount | None, study: StudyFacts, arrival: Arrival) -> None:
        """Raise `Forbidden` unless the platform (or a signature) confirms the claims of an arrival."""

    def check_account(self, account: CrowdAccount) -> str:
        """Return the name that the platform knows an account by; raise `Invalid` where its secrets do not work."""

    def create_study(self, account: CrowdAccount | None, study: StudyFacts, entry: str) -> ExternalStudy:
        """Create a study at the platform whose workers are sent to `entry`; a repeated call returns the same study."""

    def publish(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """Let workers see the study, for the first time or after a pause."""

    def pause(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """Let no further workers in."""

    def stop(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """End the study for good; running workers may finish."""

    def completion(self, study: StudyFacts, arrival: Arrival, outcome: StudyOutcome) -> Completion:
        """Return how a worker goes back to the platform."""

    def approve(self, account: CrowdAccount | None, study: StudyFacts, submission: WorkSubmission) -> None:
        """Approve a submission, which pays its reward; a repeated call changes nothing."""

    def reject(
        self, account: CrowdAccount | None, study: StudyFacts, submission: WorkSubmission, reason: str, category: str
    ) -> None:
        """Reject a submission for a reason that the worker reads; a repeated call changes nothing."""

    def set_up_bonuses(self, account: CrowdAccount, study: StudyFacts, transfers: Sequence[BonusTransfer]) -> str:
        """Announce bonuses to the platform, which pays nothing yet; return its id of the set. May be repeated."""

    def pay_bonuses(
        self, account: CrowdAccount, study: StudyFacts, order: str, transfers: Sequence[BonusTransfer]
    ) -> Mapping[str, str]:
        """Pay a set of bonuses, once for each set unless the platform `repeats_bonuses`.

        Returns the reasons of those that were refused by key. `Unavailable` leaves open what was paid.
        """

    def paid_bonuses(self, account: CrowdAccount, study: StudyFacts, session: str) -> Sequence[int]:
        """Return the bonuses that the platform has paid to a submission so far, in minor units."""

    def list_submissions(self, account: CrowdAccount, study: StudyFacts) -> Sequence[WorkSubmission]:
        """Return all submissions to a study as the platform has them."""

    def read_events(
        self, secret: str, headers: Mapping[str, str], body: bytes, at: datetime
    ) -> Sequence[ProviderEvent]:
        """Return the events of a webhook call (names of headers in lower case).

        Raise `Forbidden` for a forged, changed or old one; `secret` is the account's `webhook_secret`.
        """


@runtime_checkable
class WorkerBlocking(Protocol):
    """A platform by which an owner can shut a worker out of all work of the account."""

    def block_worker(self, account: CrowdAccount, worker: str, reason: str) -> None:
        """Shut a worker out; a repeated call changes nothing."""


@runtime_checkable
class SignedEntries(Protocol):
    """A platform whose addresses the owner makes, with a signature where the study needs one."""

    def signing_key(self, study: StudyFacts) -> str:
        """Return the key with which the platform signs ids; "" where the study needs no signature."""

    def entry_address(self, study: StudyFacts, entry: str, worker: str) -> str:
        """Return the whole address by which one worker enters."""


def _named(contributed: Any) -> Iterable[tuple[str, CrowdProvider]]:
    for provider in contributed:
        if not (provider.name and provider.title and callable(getattr(provider, "read_arrival", None))):
            raise TypeError("a crowd provider needs a name, a title and the methods of CrowdProvider")
        yield provider.name, provider


def all_providers() -> Mapping[str, CrowdProvider]:
    """Return the crowd platforms by name, ours first."""
    return plugins.gather("dynabench_crowd_providers", _named)
