"""Drawing on the create page: the part that changes for scripts, the whole page again for plain forms."""

import uuid

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.collection import forms
from dynabench.collection.drawing import api, service, views
from dynabench.kit import errors
from dynabench.kit.security import throttle
from dynabench.people.accounts.auth import Member
from dynabench.rounds import service as rounds
from dynabench.tasks import TaskConfig
from dynabench.web import render
from dynabench.web.pages import wants_fragment

router = APIRouter(include_in_schema=False)


@router.post("/tasks/{task}/drawings", name="draw_pictures")
async def draw(request: Request, task: str, person: Member) -> Response:
    """Have pictures drawn of the form's words."""
    config = await request.app.state.db.aread(_config, task)
    form = await request.form()
    posted = forms.posted(config, form)
    throttle(request, "models", 600, 60)
    wrong: dict[str, str] = {}
    status = 200
    try:
        key = str(form.get("draw-key", ""))[:100] or uuid.uuid4().hex
        await api.drawn(request, person, task, posted.handout_id, posted.input, key)
    except (errors.Invalid, errors.Conflict, errors.Unavailable) as problem:
        if not wants_fragment(request):
            raise
        wrong = problem.fields if isinstance(problem, errors.Invalid) else {"": problem.detail}
        status = 200 if isinstance(problem, errors.Unavailable) else problem.status
    if not wants_fragment(request):
        return RedirectResponse(f"{request.app.url_path_for('create', task=task)}#drawing", status_code=303)
    field = service.drawn_in(config)
    return render(
        request,
        "collection/drawing.html",
        status=status,
        task=task,
        field=field,
        value=posted.input.get(field.name),
        error=" ".join(wrong.values()),
        sheets=await request.app.state.db.aread(views.view, person.id, posted.handout_id),
        live=True,
        fresh=not wrong,
        draw_key=uuid.uuid4().hex,
    )


def _config(session: Session, task: str) -> TaskConfig:
    return rounds.config_of(session, rounds.open_round_of(session, task).version_id)
