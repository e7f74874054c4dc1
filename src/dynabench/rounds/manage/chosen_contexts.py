"""The few contexts that all work on in a round: chosen from a list, drawn at random, or taken over from a round."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.people.accounts.tables import Person
from dynabench.rounds import context_list, planning, queries, service, views
from dynabench.rounds.context_list import Sought
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.access import Owning
from dynabench.rounds.schemas import Number

router = APIRouter()

SHOWN = 25
DRAWN = 10

After = Annotated[str, Query(max_length=18)]
Words = Annotated[str, Query(max_length=200)]
Tag = Annotated[str, Query(max_length=100)]


async def _page(
    request: Request, task: str, n: int, sought: Sought, after: str = "", status: int = 200, **more: Any
) -> Response:
    def look(session: Session) -> dict[str, Any]:
        of = service.round_of(session, task, n)
        ids = list(session.scalars(queries.chosen(of.id)))
        others = [each for each in session.scalars(queries.rounds(task)) if each.id != of.id]
        counts = {each.number: len(session.scalars(queries.chosen(each.id)).all()) for each in others}
        page = context_list.find(session, task, sought, after, SHOWN)
        return {
            "shown": views.round_out(session, of),
            "chosen": context_list.by_id(session, ids),
            "page": page,
            "sought": sought,
            "after": after,
            "takeable": {number: count for number, count in counts.items() if count},
            "fields": service.newest_config(session, task).context,
            "most": planning.MOST_CHOSEN,
            "drawn": DRAWN,
            "errors": {},
        }

    values = await request.app.state.db.aread(look)
    return await frame.page(request, task, "rounds/manage/chosen.html", "rounds", status=status, **(values | more))


@router.get("/tasks/{task}/manage/rounds/{n}/contexts", name="chosen_contexts")
async def show(
    request: Request, task: str, n: Number, owner: Owning, q: Words = "", tag: Tag = "", after: After = ""
) -> Response:
    """Show the contexts chosen for a round, and the task's contexts to choose more from."""
    return await _page(request, task, n, Sought(q, tag or None), after)


def _wanted(session: Session, owner: Person, task: str, n: int, form: FormData) -> None:
    """Do what was asked for: `then` is `add` or `remove` (with ids as `contexts`), `draw`, `take` or `clear`."""
    then, of = form.get("then"), service.round_of(session, task, n)
    ids = {int(str(each)) for each in form.getlist("contexts") if str(each).isdecimal() and len(str(each)) < 16}
    known = set(session.scalars(queries.chosen(of.id)))
    if then == "take":
        source = str(form.get("round", ""))
        planning.take_over(session, owner, task, n, int(source) if source.isdecimal() and len(source) < 10 else 0)
        return
    if then == "draw":
        ids = set(planning.drawn(session, task, DRAWN))
    wanted = {"add": known | ids, "draw": known | ids, "remove": known - ids, "clear": set()}.get(str(then), known)
    planning.choose(session, owner, task, n, sorted(wanted))


@router.post("/tasks/{task}/manage/rounds/{n}/contexts", name="choose_contexts")
async def choose(request: Request, task: str, n: Number, owner: Owning) -> Response:
    """Choose contexts, or let some go."""
    db: Database = request.app.state.db
    form = await request.form()
    try:
        await db.awrite(_wanted, owner, task, n, form)
    except errors.Invalid as problem:
        return await _page(request, task, n, Sought(), status=422, errors=problem.fields)
    address = str(request.app.url_path_for("chosen_contexts", task=task, n=n))
    return RedirectResponse(address, status_code=303)
