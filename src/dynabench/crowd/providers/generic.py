"""Panels that send workers by an address with an id and take a completion code or a redirect back.

CloudResearch Connect, SONA, Besample, Cint and most others work this way. The panel has no programming interface here:
the owner pays and decides on the panel's own pages, from the study's table of participants and its payment lists.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, ClassVar
from urllib.parse import quote, urlencode, urlsplit

from pydantic import AfterValidator, Field, model_validator

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
)
from dynabench.kit.errors import Conflict, Forbidden, Invalid
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.kit.security import keyed
from dynabench.pay.money import check_currency

CODE_CHARACTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Letters and digits that are not mistaken for each other when they are copied by hand."""
CODE_LENGTH = 10
LONGEST_ID = 200
_PLACEHOLDER = re.compile(r"\{([a-z_]*)\}")
PLACEHOLDERS = frozenset({"worker", "session", "code", "outcome"})


def _redirect(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in ("https", "http") or not parts.netloc:
        raise ValueError(_("Give a whole address that begins with https://."))
    if "{" in parts.netloc or "}" in parts.netloc:
        raise ValueError(_("The host of the address must not contain a placeholder."))
    unknown = [name for name in _PLACEHOLDER.findall(address) if name not in PLACEHOLDERS]
    if unknown:
        raise ValueError(_("{%(name)s} is not known. Use {worker}, {session}, {code} or {outcome}.", name=unknown[0]))
    return address


Parameter = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,60}$")]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,60}$")]
Redirect = Annotated[str, Field(max_length=1000), AfterValidator(_redirect)]
Currency = Annotated[str, AfterValidator(check_currency)]


class GenericPanelSettings(StrictModel):
    """The settings of a study with a panel.

    `worker_parameter` names the address's parameter with the worker's id; `session_parameter` that of the visit, if
    the panel sends one. `reward` is what the panel pays for an approved participation, in minor units of `currency`.
    With `signed` the address needs `sig`, see `GenericPanel.signature`. `codes` are fixed codes by outcome; an outcome
    without one gets a code of the worker's own. `redirects` are addresses by outcome, with placeholders; an outcome
    without one shows its code to copy.
    """

    worker_parameter: Parameter = Field(
        "participantId",
        title=_("Parameter with the participant's id"),
        description=_("The name that the panel uses in the address, such as participantId, PID or id."),
    )
    session_parameter: Parameter | None = Field(
        None,
        title=_("Parameter with the id of the visit"),
        description=_("Only if the panel sends one."),
    )
    reward: int | None = Field(
        None,
        ge=1,
        le=100_000,
        title=_("Reward in pence or cents"),
        description=_("What the panel itself pays for each approved participation. It is recorded when you approve."),
    )
    currency: Currency = Field("USD", title=_("Currency of the reward"), description=_("Such as USD, GBP or EUR."))
    signed: bool = Field(
        False,
        title=_("Require signed addresses"),
        description=_("For panels that can send an HMAC with each id, so that ids cannot be made up."),
    )
    codes: dict[StudyOutcome, Code] = Field(
        default_factory=dict,
        title=_("Fixed completion codes"),
        description=_("Leave a field empty to give each participant a code of their own."),
    )
    redirects: dict[StudyOutcome, Redirect] = Field(
        default_factory=dict,
        title=_("Addresses to return to"),
        description=_("They can contain {worker}, {session}, {code} and {outcome}. Without one the code is shown."),
    )

    @model_validator(mode="after")
    def _distinct(self) -> "GenericPanelSettings":
        if self.session_parameter == self.worker_parameter:
            raise ValueError(_("The worker and the visit need parameters of different names."))
        return self


class GenericPanel:
    """Any panel with an id parameter and a completion code or redirect."""

    name: ClassVar[str] = "generic"
    title: ClassVar[str] = "Panel with an id and a code"
    settings_model: ClassVar[type[StrictModel]] = GenericPanelSettings
    credential_fields: ClassVar[Sequence[str]] = ()
    optional_credentials: ClassVar[Sequence[str]] = ()
    address: ClassVar[str] = ""
    frame_ancestors: ClassVar[Sequence[str]] = ()
    repeats_bonuses: ClassVar[bool] = False
    advice: ClassVar[str] = ""

    def read_arrival(self, study: StudyFacts, parameters: Mapping[str, str]) -> Arrival:
        """Return the worker's id and visit, from the parameters that the owner named."""
        settings = GenericPanelSettings.model_validate(study.settings)
        worker = parameters.get(settings.worker_parameter, "").strip()
        if not worker or len(worker) > LONGEST_ID or not worker.isprintable() or _PLACEHOLDER.search(worker):
            raise Invalid({settings.worker_parameter: _("The address lacks your id at the panel.")})
        session = parameters.get(settings.session_parameter or "", "").strip()[:LONGEST_ID]
        return Arrival(worker, session or worker, details={"sig": parameters.get("sig", "")})

    def signature(self, study: StudyFacts, worker: str) -> str:
        """Return the `sig` of a signed address: the first 32 hex digits of an HMAC-SHA-256 of the worker's id.

        The key of the HMAC is `signing_key`, as text, so that a panel can compute it.
        """
        return hmac.digest(self.signing_key(study).encode(), worker.encode(), "sha256").hex()[:32]

    def signing_key(self, study: StudyFacts) -> str:
        """Return the key with which a panel signs ids; "" where the study needs no signature."""
        settings = GenericPanelSettings.model_validate(study.settings)
        return keyed(study.key, "entry", "").hex() if settings.signed else ""

    def entry_address(self, study: StudyFacts, entry: str, worker: str) -> str:
        """Return the whole address by which one worker enters, with its signature where the study needs one."""
        settings = GenericPanelSettings.model_validate(study.settings)
        parameters = {settings.worker_parameter: worker}
        if settings.signed:
            parameters["sig"] = self.signature(study, worker)
        return f"{entry}?{urlencode(parameters)}"

    def confirm(self, account: CrowdAccount | None, study: StudyFacts, arrival: Arrival) -> None:
        """Check the signature where the owner asks for one; an unsigned panel cannot confirm an id."""
        del account
        settings = GenericPanelSettings.model_validate(study.settings)
        sig = arrival.details.get("sig", "")
        if settings.signed and not hmac.compare_digest(self.signature(study, arrival.worker).encode(), sig.encode()):
            raise Forbidden(_("This address was changed. Open the study from the panel's own page."))

    def check_account(self, account: CrowdAccount) -> str:
        """Refuse: a panel has no account here."""
        raise Conflict(_("This panel needs no account."))

    def create_study(self, account: CrowdAccount | None, study: StudyFacts, entry: str) -> ExternalStudy:
        """Return the address that the owner enters at the panel."""
        del account
        settings = GenericPanelSettings.model_validate(study.settings)
        ids = [f"{settings.worker_parameter}=ID"]
        ids += [f"{settings.session_parameter}=SESSION"] if settings.session_parameter else []
        ids += ["sig=SIGNATURE"] if settings.signed else []
        return ExternalStudy(str(study.id), "", f"{entry}?{'&'.join(ids)}")

    def publish(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """Return the study unchanged: the panel is told by its owner."""
        del account
        return ExternalStudy(study.external_id, "")

    def pause(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """Return the study unchanged: the panel is told by its owner."""
        return self.publish(account, study)

    def stop(self, account: CrowdAccount | None, study: StudyFacts) -> ExternalStudy:
        """Return the study unchanged: the panel is told by its owner."""
        return self.publish(account, study)

    def completion(self, study: StudyFacts, arrival: Arrival, outcome: StudyOutcome) -> Completion:
        """Return the owner's redirect for this outcome, else the code to copy."""
        settings = GenericPanelSettings.model_validate(study.settings)
        code = settings.codes.get(outcome) or self._own_code(study, arrival.worker, outcome)
        redirect = settings.redirects.get(outcome)
        if redirect is None:
            return Completion(code=code)
        values = {"worker": arrival.worker, "session": arrival.session, "code": code, "outcome": outcome.value}
        address = _PLACEHOLDER.sub(lambda match: quote(values[match[1]], safe=""), redirect)
        return Completion(address=address, code=code)

    def _own_code(self, study: StudyFacts, worker: str, outcome: StudyOutcome) -> str:
        mac = keyed(study.key, "completion", f"{outcome.value}\0{worker}")
        return "".join(CODE_CHARACTERS[byte % len(CODE_CHARACTERS)] for byte in mac[:CODE_LENGTH])

    def approve(self, account: CrowdAccount | None, study: StudyFacts, submission: WorkSubmission) -> None:
        """Do nothing: the decision is recorded here, and the owner carries it out at the panel."""

    def reject(
        self, account: CrowdAccount | None, study: StudyFacts, submission: WorkSubmission, reason: str, category: str
    ) -> None:
        """Do nothing: the decision is recorded here, and the owner carries it out at the panel."""

    def set_up_bonuses(self, account: CrowdAccount, study: StudyFacts, transfers: Sequence[BonusTransfer]) -> str:
        """Refuse: a panel is paid by hand."""
        raise Conflict(_("This panel is paid by hand: pay there, then mark the payments as paid."))

    def pay_bonuses(
        self, account: CrowdAccount, study: StudyFacts, order: str, transfers: Sequence[BonusTransfer]
    ) -> Mapping[str, str]:
        """Refuse: a panel is paid by hand."""
        raise Conflict(_("This panel is paid by hand: pay there, then mark the payments as paid."))

    def paid_bonuses(self, account: CrowdAccount, study: StudyFacts, session: str) -> Sequence[int]:
        """Return nothing: a panel is paid by hand."""
        return []

    def list_submissions(self, account: CrowdAccount, study: StudyFacts) -> Sequence[WorkSubmission]:
        """Return nothing: the panel is not asked."""
        return []

    def read_events(
        self, secret: str, headers: Mapping[str, str], body: bytes, at: datetime
    ) -> Sequence[ProviderEvent]:
        """Refuse: a panel sends no webhooks."""
        raise Forbidden(_("This platform sends no webhooks."))
