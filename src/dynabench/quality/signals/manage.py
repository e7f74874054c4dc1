"""The console's page of signals: a list with filters, the check of each signal, and the measured error rates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection.overview import started
from dynabench.collection.tables import Example
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.forms import Text, redirect
from dynabench.kit.security import RowId
from dynabench.people.accounts.tables import Person
from dynabench.quality.signals import computing, service
from dynabench.quality.signals.error_rates import DATA, read_error_rates
from dynabench.quality.signals.service import ShownSignal, SignalFilters
from dynabench.quality.signals.tables import SignalKind, SignalState
from dynabench.rounds import service as rounds
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskModerator

router = APIRouter()

PAGE_SIZE, MOST_ROWS = 25, 10_000
COLUMNS = (
    *("id", "kind", "example", "round", "author", "value", "threshold", "other"),
    *("at", "state", "reason", "checked_at"),
)
Kind = Annotated[Literal["", "speed", "copy", "near_duplicate", "paste", "model_text", "device"], Query()]
State = Annotated[Literal["open", "fine", "acted", "all"], Query()]
RoundNumber = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)]
Before = Annotated[int | None, Query(ge=1, le=2**63 - 1)]


@dataclass(frozen=True)
class SignalChoice:
    """The choices of a moderator in the address: a kind, a state, a round, one person's signals, the page."""

    kind: Kind = ""
    state: State = "open"
    number: RoundNumber = None
    person: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None
    before: Before = None

    def filters(self) -> SignalFilters:
        """Return the filters of the list."""
        kind = SignalKind(self.kind) if self.kind else None
        return SignalFilters(kind, None if self.state == "all" else SignalState(self.state), self.number, self.person)

    def query(self) -> dict[str, Any]:
        """Return the choices for an address, without the page."""
        return {"state": self.state, "kind": self.kind or None, "round": self.number, "person": self.person}


Choice = Annotated[SignalChoice, Depends()]


async def _page(
    request: Request,
    person: Person,
    task: str,
    choice: SignalChoice,
    status: int = 200,
    **values: Any,
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        listed = _people if choice.person is None else _signals
        return {
            **listed(session, person, task, choice),
            "totals": service.count_signals(session, person, task),
            "running": service.is_running(session, task),
            "numbers": [round_.number for round_ in started(session, task)],
        }

    defaults: dict[str, Any] = {"problem": "", "errors": {}, "wrong_id": 0, "error_rates": read_error_rates()}
    chosen = {"choice": choice, "data": DATA}
    page_values = defaults | chosen | await request.app.state.db.aread(read) | values
    return await frame.console_page(
        request, task, "signals/manage/signals.html", "signals", status=status, **page_values
    )


def _people(session: Session, person: Person, task: str, choice: SignalChoice) -> dict[str, Any]:
    people = service.list_people(session, person, task, choice.filters(), choice.before, PAGE_SIZE + 1)
    following = people[PAGE_SIZE - 1].newest if len(people) > PAGE_SIZE else None
    return {"people": people[:PAGE_SIZE], "following": following}


def _signals(session: Session, person: Person, task: str, choice: SignalChoice) -> dict[str, Any]:
    rows = service.list_signals(session, person, task, choice.filters(), choice.before, PAGE_SIZE + 1)
    return {
        "rows": rows[:PAGE_SIZE],
        "texts": {row.signal.id: _text(session, row.example) for row in rows[:PAGE_SIZE]},
        "other_texts": _other_texts(session, rows[:PAGE_SIZE]),
        "following": rows[PAGE_SIZE - 1].signal.id if len(rows) > PAGE_SIZE else None,
    }


def _text(session: Session, example: Example) -> str:
    return computing.written_text(example, rounds.config_of(session, example.version_id))


def _other_texts(session: Session, rows: Sequence[ShownSignal]) -> dict[int, str]:
    """Return the texts that copies and near-duplicates resemble, by signal: a probe of the primary key each."""
    resembled = [(row.signal.id, row.signal.other_id) for row in rows if row.signal.other_id is not None]
    return {id: _text(session, session.get_one(Example, other_id)) for id, other_id in resembled}


@router.get("/tasks/{task}/manage/signals", name="manage_signals")
async def show(request: Request, task: str, person: TaskModerator, choice: Choice) -> Response:
    """List the people with signals that meet the filters, or the signals of one of them."""
    return await _page(request, person, task, choice)


@router.post("/tasks/{task}/manage/signals", name="compute_signals_form")
async def compute(request: Request, db: Db, task: str, person: TaskModerator) -> Response:
    """Have the worker compute the signals of earlier examples too; while it does, asking again changes nothing."""
    await db.awrite(service.request_signals, person, task)
    return redirect(request, "manage_signals", task=task)


@router.post("/tasks/{task}/manage/signals/{signal}", name="check_signal_form")
async def check(
    request: Request,
    db: Db,
    task: str,
    signal: RowId,
    person: TaskModerator,
    choice: Choice,
    outcome: Text = "",
    reason: Text = "",
) -> Response:
    """Record the check of a signal, or take it back."""
    if outcome not in list(SignalState):
        raise errors.Invalid({"outcome": "?"})
    try:
        await db.awrite(service.check_signal, person, task, signal, SignalState(outcome), reason)
    except errors.Invalid as problem:
        wrong: dict[str, Any] = {"errors": problem.fields, "wrong_id": signal, "written": reason}
        shown_signal = await db.aread(service.read_signal, person, task, signal)
        choice = replace(choice, person=shown_signal.signal.person_id)
        return await _page(request, person, task, choice, status=422, **wrong)
    except errors.Conflict as problem:
        return await _page(request, person, task, choice, status=409, problem=problem.detail)
    return redirect(request, "manage_signals", task=task, query=choice.query())


@router.get("/tasks/{task}/manage/signals.csv", name="download_signals")
async def download(db: Db, task: str, person: TaskModerator, choice: Choice, state: State = "all") -> Response:
    """The signals that meet the filters as a file."""
    filters = replace(choice, state=state).filters()
    rows = await db.aread(service.list_signals, person, task, filters, None, MOST_ROWS)
    return csv_response(f"{task}-signals.csv", COLUMNS, map(signal_cells, rows))


def signal_cells(row: ShownSignal) -> list[object]:
    """Return a signal as a row of a file."""
    signal = row.signal
    checked_at = signal.checked_at.isoformat() if signal.checked_at else ""
    return [
        *(signal.id, signal.kind, signal.example_id, row.round, row.author, signal.value, signal.threshold),
        *(signal.other_id or "", signal.at.isoformat(), signal.state, signal.reason, checked_at),
    ]
