"""Suggestions on the create page: the part that changes for scripts, the whole page again for plain forms."""

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from dynabench.collection import create_page, forms
from dynabench.collection.assisting import api
from dynabench.collection.assisting.service import Help
from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member
from dynabench.rounds import service as rounds
from dynabench.web import render
from dynabench.web.pages import wants_fragment

router = APIRouter(include_in_schema=False)


@router.post("/tasks/{task}/suggestions", name="suggest")
async def suggest(request: Request, db: Db, task: str, person: Member) -> Response:
    """Ask for suggestions for the form; or, with `use`, put one into its field (0 takes that back)."""
    config = await db.aread(rounds.task_config, task)
    form = await request.form()
    posted = forms.posted(config, form)
    use, problems, fresh, status = str(form.get("use", "")), list[str](), False, 200
    if not use:
        try:
            offered = await api.suggested(request, person, posted.handout_id, posted.input, task)
            problems, fresh = list(offered.problems), True
        except (errors.Conflict, errors.TooMany, errors.Unavailable) as problem:
            problems, status = [problem.detail], problem.status
    values = await create_page.prepare_page(request, person, task, False, posted)
    help: Help | None = values.get("help")
    if help is None:
        raise errors.Conflict(_("This task offers no writing assistant."))
    help = replace(help, problems=problems, fresh=fresh, before=str(form.get("before", ""))[: help.field.max_length])
    if use:
        help = _used(help, use, values["values"])
    values["help"] = help
    status = 200 if wants_fragment(request) else status
    return render(request, "collection/create.html", fragment="collection/_assistant.html", status=status, **values)


def _used(help: Help, use: str, values: dict[str, Any]) -> Help:
    name = help.field.name
    chosen = next((suggestion for suggestion in help.suggestions if str(suggestion.id) == use), None)
    written = str(values["input"].get(name) or "")
    if chosen is None:
        values["input"] = {**values["input"], name: help.before if help.used else written}
        return replace(help, used=0, before="")
    values["input"] = {**values["input"], name: chosen.text}
    return replace(help, used=chosen.id, before=help.before if help.used else written)
