"""The few contexts that all work on in a round: chosen from a list, drawn at random, or taken over from a round."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.people.accounts.tables import Person
from dynabench.rounds import owner_lists, planning, queries, service, views
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.rounds.owner_lists import ContextFilter
from dynabench.rounds.schemas import Number

router = APIRouter()

PAGE_ROWS = 25
DRAWN_CONTEXTS = 10

After = Annotated[str, Query(max_length=18)]
Words = Annotated[str, Query(max_length=200)]
Tag = Annotated[str, Query(max_length=100)]


async def _page(
    request: Request, task: str, n: int, sought: ContextFilter, after: str = "", status: int = 200, **more: Any
) -> Response:
    def look(session: Session) -> dict[str, Any]:
        round_ = service.round_of(session, task, n)
        ids = list(session.scalars(queries.chosen_contexts(round_.id)))
        others = [other for other in session.scalars(queries.rounds(task)) if other.id != round_.id]
        counts = {other.number: len(session.scalars(queries.chosen_contexts(other.id)).all()) for other in others}
        page = owner_lists.find_contexts(session, task, sought, after, PAGE_ROWS)
        return {
            "shown": views.round_out(session, round_),
            "chosen": owner_lists.contexts_by_id(session, ids),
            "page": page,
            "sought": sought,
            "after": after,
            "takeable": {number: count for number, count in counts.items() if count},
            "fields": service.newest_config(session, task).context,
            "most": planning.MOST_CHOSEN,
            "drawn": DRAWN_CONTEXTS,
            "errors": {},
        }

    values = await request.app.state.db.aread(look)
    return await frame.console_page(
        request, task, "rounds/manage/chosen.html", "rounds", status=status, **(values | more)
    )


@router.get("/tasks/{task}/manage/rounds/{n}/contexts", name="chosen_contexts")
async def show(
    request: Request, task: str, n: Number, owner: TaskOwner, q: Words = "", tag: Tag = "", after: After = ""
) -> Response:
    """Show the contexts chosen for a round, and the task's contexts to choose more from."""
    return await _page(request, task, n, ContextFilter(q, tag or None), after)


def _change_choice(session: Session, owner: Person, task: str, n: int, form: FormData) -> None:
    """Do what was asked for: `then` is `add` or `remove` (with ids as `contexts`), `draw`, `take` or `clear`."""
    then, round_ = form.get("then"), service.round_of(session, task, n)
    ids = {int(str(text)) for text in form.getlist("contexts") if str(text).isdecimal() and len(str(text)) < 16}
    chosen = set(session.scalars(queries.chosen_contexts(round_.id)))
    if then == "take":
        source = str(form.get("round", ""))
        planning.copy_chosen_contexts(
            session, owner, task, n, int(source) if source.isdecimal() and len(source) < 10 else 0
        )
        return
    if then == "draw":
        ids = set(planning.draw_contexts(session, task, DRAWN_CONTEXTS))
    choice = {"add": chosen | ids, "draw": chosen | ids, "remove": chosen - ids, "clear": set()}.get(str(then), chosen)
    planning.choose_contexts(session, owner, task, n, sorted(choice))


@router.post("/tasks/{task}/manage/rounds/{n}/contexts", name="choose_contexts")
async def choose(request: Request, task: str, n: Number, owner: TaskOwner) -> Response:
    """Choose contexts, or let some go."""
    db: Database = request.app.state.db
    form = await request.form()
    try:
        await db.awrite(_change_choice, owner, task, n, form)
    except errors.Invalid as problem:
        return await _page(request, task, n, ContextFilter(), status=422, errors=problem.fields)
    address = str(request.app.url_path_for("chosen_contexts", task=task, n=n))
    return RedirectResponse(address, status_code=303)
