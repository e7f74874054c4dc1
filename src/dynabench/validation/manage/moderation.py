"""Flagged examples and what to do about them and their authors."""

from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.collection import hidden_examples, notes
from dynabench.kit import errors
from dynabench.kit.security import RowId
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.access import Moderating
from dynabench.validation import moderation
from dynabench.validation.manage import examples

router = APIRouter()

SHOWN = 10
Which = Literal["waiting", "hidden", "dismissed", "noted"]


@router.get("/tasks/{task}/manage/moderation", name="manage_moderation")
async def queue(
    request: Request,
    task: str,
    person: Moderating,
    which: Which = "waiting",
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    done: examples.Done = None,
    of: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> Response:
    """Examples that wait for a moderator; those that are hidden, whose flags were dismissed, or that have notes."""

    def read(session: Session) -> dict[str, Any]:
        cases, more = moderation.queue(session, person, task, which, after or None, SHOWN)
        said, labels = notes.of(session, [each.seen.example.id for each in cases])
        return {"cases": cases, "next": more, "notes": said, "labels": labels}

    values = await request.app.state.db.aread(read)
    shown = examples.words(which=which, after=after, done=done, of=of)
    return await frame.page(request, task, "validation/manage/moderation.html", "moderation", **shown, **values)


@router.post("/tasks/{task}/manage/examples/{id}/{act}", name="moderate_example")
async def act(request: Request, task: str, id: RowId, act: examples.Act, person: Moderating) -> Response:
    """Do something about an example or its author; then the page that it was asked from, or the form with its error."""
    form = await request.form()
    reason = str(form.get("reason", ""))
    try:
        await request.app.state.db.awrite(do, person, task, id, act, reason)
    except (errors.Invalid, errors.Forbidden, errors.Conflict) as problem:
        known = await request.app.state.db.aread(examples.everything, person, task, id)
        wrong = problem.fields if isinstance(problem, errors.Invalid) else {"act": problem.detail}
        shown = examples.words(values={"act": act, "reason": reason}, errors=wrong)
        return await frame.page(
            request, task, "validation/manage/example.html", "examples", status=problem.status, **shown, **known
        )
    came_from = str(form.get("back", ""))
    if came_from in get_args(Which):
        here = f"{request.app.url_path_for('manage_moderation', task=task)}?which={came_from}&of={id}&done={act}"
    else:
        here = f"{request.app.url_path_for('manage_example', task=task, id=id)}?done={act}"
    return RedirectResponse(here, status_code=303)


def do(session: Session, person: Person, task: str, id: int, act: str, reason: str) -> None:
    """Do what a moderator's button says, for a reason; refuse where the example is not the task's."""
    found = moderation.case(session, person, task, id)
    author = found.seen.author.id
    said = people.clean_reason(reason) if act not in ("restore", "reopen", "lift") else reason
    if act == "hide":
        hidden_examples.hide(session, person, id, said)
    elif act == "restore":
        hidden_examples.restore(session, person, id, said)
    elif act == "dismiss":
        moderation.dismiss(session, person, id, said)
    elif act == "reopen":
        moderation.reopen(session, person, id, said)
    elif act == "warn":
        people.warn(session, person, task, author, said)
    elif act == "ban":
        people.ban(session, person, task, author, said)
    else:
        people.lift(session, person, task, author)
