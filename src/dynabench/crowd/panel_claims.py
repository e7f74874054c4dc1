"""A panel's own list of participants and codes, compared with the study's.

A panel without a programming interface shows its owner who says to have finished, with the code that each of them
typed. The owner pastes that list here. Each line gets a finding; participants of this study that the list lacks are
added. Nothing of it is stored.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import Session

from dynabench.crowd import entry, participation, queries, studies
from dynabench.crowd.provider import Arrival, StudyOutcome
from dynabench.crowd.tables import Participation, ParticipationState, Study
from dynabench.kit import errors
from dynabench.kit.language import _

MOST_LINES, LONGEST_LIST = 5_000, 500_000
"""Lines of a list, and its characters."""
CSV_COLUMNS = ("worker", "code", "finding", "state", "outcome", "expected")
WORKER_COLUMNS = (
    "worker",
    "workerid",
    "participantid",
    "connectid",
    "respondentid",
    "userid",
    "pid",
    "participant",
    "id",
)
CODE_COLUMNS = ("code", "completioncode", "confirmationcode", "surveycode", "responsecode")
_DELIMITERS = ",;\t"
_ENDED = (ParticipationState.FINISHED, ParticipationState.APPROVED)
DIGESTS_AT_ONCE = 500


class ClaimFinding(StrEnum):
    """The results of comparing one line of the panel's list with the study."""

    MATCHING = "matching"
    OTHER_OUTCOME = "other_outcome"
    WRONG_CODE = "wrong_code"
    NO_CODE = "no_code"
    UNFINISHED = "unfinished"
    UNKNOWN = "unknown"
    REPEATED = "repeated"
    UNLISTED = "unlisted"


@dataclass(frozen=True)
class PanelRow:
    """One line of the panel's list."""

    worker: str
    code: str


@dataclass(frozen=True)
class Claim:
    """A line of the panel's list with its finding; `id` is the participation, 0 where there is none.

    `expected` is the code that the worker was given here, `outcome` how the worker's part ended, `claimed` the outcome
    that the code of the list stands for where it is another one.
    """

    worker: str
    code: str
    finding: ClaimFinding
    id: int = 0
    state: ParticipationState | None = None
    outcome: str = ""
    expected: str = ""
    claimed: str = ""
    decidable: bool = False

    @property
    def approvable(self) -> bool:
        """True where the code is right, the work was completed, and the owner has not decided."""
        return self.decidable and self.finding is ClaimFinding.MATCHING and self.outcome == StudyOutcome.COMPLETED


def read_panel_list(text: str, parameter: str) -> list[PanelRow]:
    """Return the lines of a list: CSV with a header that is known, else an id and a code in each line.

    `parameter` is the study's own name for the id. Raises `Invalid` under `list`.
    """
    text = text.removeprefix("\ufeff").strip()
    if not text:
        raise errors.Invalid({"list": _("Paste the panel's list, or choose its file.")})
    if len(text) > LONGEST_LIST:
        raise errors.Invalid({"list": _("The list is too long: at most %(most)s characters.", most=LONGEST_LIST)})
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=lambda mark: (first.count(mark), mark == ","))
    try:
        table = [[cell.strip() for cell in cells] for cells in csv.reader(io.StringIO(text), delimiter=delimiter)]
    except csv.Error as problem:
        raise errors.Invalid({"list": _("The list cannot be read: %(problem)s.", problem=problem)}) from None
    if len(table) > MOST_LINES:
        raise errors.Invalid({"list": _("The list is too long: at most %(most)s lines.", most=MOST_LINES)})
    header = [_plain(name) for name in table[0]]
    worker = next((header.index(name) for name in (_plain(parameter), *WORKER_COLUMNS) if name in header), None)
    code = next((header.index(name) for name in CODE_COLUMNS if name in header), None)
    if worker is None:
        worker, code = 0, 1
    else:
        table = table[1:]
    rows = [PanelRow(_cell(cells, worker), _cell(cells, code)) for cells in table if _cell(cells, worker)]
    if not rows:
        raise errors.Invalid({"list": _("The list has no participants.")})
    return rows


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _cell(cells: Sequence[str], at: int | None) -> str:
    return cells[at] if at is not None and at < len(cells) else ""


def compare_list(session: Session, key: bytes, study: Study, rows: Sequence[PanelRow]) -> list[Claim]:
    """Return the finding of each line, then the participants who ended here and whom the list lacks."""
    digests = [entry.digest_worker(key, study, row.worker) for row in rows]
    parts: dict[str, Participation] = {}
    for start in range(0, len(digests), DIGESTS_AT_ONCE):
        some = queries.participations_by_digest(study.id, digests[start : start + DIGESTS_AT_ONCE])
        parts |= {part.worker_digest: part for part in session.scalars(some)}
    claims, seen = [], set()
    for row, digest in zip(rows, digests, strict=True):
        part = parts.get(digest)
        if digest in seen:
            claims.append(Claim(row.worker, row.code, ClaimFinding.REPEATED))
        elif part is None:
            claims.append(Claim(row.worker, row.code, ClaimFinding.UNKNOWN))
        else:
            claims.append(_find(key, study, part, row))
        seen.add(digest)
    ended = session.scalars(queries.undecided(study.id, [state.value for state in _ENDED]))
    lacking = [part for part in ended if part.worker_digest not in seen]
    return claims + [_claim(key, study, part, PanelRow("", ""), ClaimFinding.UNLISTED) for part in lacking]


def _find(key: bytes, study: Study, part: Participation, row: PanelRow) -> Claim:
    ended = participation.ended_part(key, study, part)
    if ended is None:
        return _claim(key, study, part, row, ClaimFinding.UNFINISHED)
    if not row.code:
        return _claim(key, study, part, row, ClaimFinding.NO_CODE)
    if _same(row.code, ended.completion.code):
        return _claim(key, study, part, row, ClaimFinding.MATCHING)
    provider, facts = studies.provider_of(study), studies.facts_of(study)
    arrival = Arrival(row.worker, part.external_session)
    codes = {outcome.value: provider.completion(facts, arrival, outcome).code for outcome in StudyOutcome}
    claimed = next((outcome for outcome, code in codes.items() if _same(row.code, code)), "")
    finding = ClaimFinding.OTHER_OUTCOME if claimed else ClaimFinding.WRONG_CODE
    return _claim(key, study, part, row, finding, claimed)


def _same(typed: str, code: str) -> bool:
    return bool(code) and typed.strip().casefold() == code.casefold()


def _claim(
    key: bytes, study: Study, part: Participation, row: PanelRow, finding: ClaimFinding, claimed: str = ""
) -> Claim:
    state, ended = ParticipationState(part.state), participation.ended_part(key, study, part)
    return Claim(
        worker=row.worker or entry.worker_id(key, part),
        code=row.code,
        finding=finding,
        id=part.id,
        state=state,
        outcome=ended.outcome.value if ended else "",
        expected=ended.completion.code if ended else "",
        claimed=claimed,
        decidable=state in participation.DECIDABLE,
    )


def csv_row(claim: Claim) -> list[object]:
    """Return one finding as a row of the CSV file."""
    state = claim.state.value if claim.state else ""
    return [claim.worker, claim.code, claim.finding.value, state, claim.outcome, claim.expected]
