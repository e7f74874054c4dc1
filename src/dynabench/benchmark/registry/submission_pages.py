"""Submissions as pages: the form, the list, what may become of one. The page of a single one is scoring's."""

import uuid
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench.benchmark.registry import (
    endpoint_mapping,
    endpoint_trial,
    future_targets,
    queries,
    submission_sources,
    submissions,
)
from dynabench.benchmark.registry.api import Name, find_model
from dynabench.benchmark.registry.submission_api import LAST, Id
from dynabench.benchmark.registry.submission_sources import PIPELINES, PRICES
from dynabench.benchmark.registry.submissions import SubmissionDraft
from dynabench.collection import overview
from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.language import _
from dynabench.models.endpoint_protocols import protocols
from dynabench.people.accounts.auth import Member, limited
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.rounds.uploaded_files import PIECE, read_pieces
from dynabench.web import render

router = APIRouter(include_in_schema=False)
PAGE_ROWS = 25
LIMITS = {"readme": submissions.README, "prompt": 8000, "mapped": 1000}
SOURCE = ("hub", "revision", "protocol", "url", "model", "prompt", "pipeline", *PRICES)
MAPPING = ("output", "holds", "columns", "mapped", "token_tested", "round", "key")
FORM_FIELDS = ("name", "visibility", "readme", *submission_sources.CARD_FIELDS, *SOURCE, *MAPPING)


async def _page(request: Request, task: str, person: Person, kind: str, status: int = 200, **values: Any) -> Response:
    def read(session: Session) -> dict[str, Any]:
        config = submissions.may_submit(session, person, task)
        datasets = [(dataset, version) for dataset, version in session.execute(queries.evaluated_datasets(task))]
        names = [f"files.{dataset.name}" for dataset, _ in datasets]
        kinds = submissions.offered_kinds(config)
        chosen = kind if kind in kinds else kinds[0] if len(kinds) == 1 else ""
        pool = submission_sources.visible_pool(session, config)
        head = overview.page_head(session, task) | {"config": config}
        if chosen == "endpoint":
            labels = endpoint_mapping.label_names(config)
            head |= {"drafts": future_targets.draft_numbers(session, person, task), "label_names": labels}
            head |= {"trial_row": endpoint_trial.trial_row(session, person, task)[1]}
            names += [f"labels.{name}" for name in labels]
            names += [f"inputs.{name}" for name in endpoint_mapping.input_names(config)]
        return head | {"datasets": datasets, "names": names, "kinds": kinds, "kind": chosen, "pool": pool}

    context: dict[str, Any] = {"given": {}, "wrong": {}, "kept": {}, "notice": "", "trial": None}
    context |= {"hub": request.app.state.settings.hub_url, "contents": endpoint_mapping.CONTENTS}
    context |= {"options_of": endpoint_mapping.options_of, "new_key": uuid.uuid4().hex}
    titles = [(protocol.kind, protocol.title) for protocol in protocols().values()]
    context |= {"pipelines": PIPELINES, "protocols": titles, **await request.app.state.db.aread(read)}
    context |= values
    fragment = "registry/_endpoint.html" if context["kind"] == "endpoint" else None
    return render(request, "registry/submit.html", status=status, fragment=fragment, task=task, **context)


@router.get("/tasks/{task}/submit", name="submit", dependencies=[Depends(people.load_actions)])
async def form(
    request: Request,
    task: str,
    person: Member,
    kind: Annotated[str, Query(max_length=20)] = "",
    target_of: Annotated[str, Query(alias="round", max_length=10)] = "",
) -> Response:
    """First the kind, then what that kind needs; `round` preselects the round that the model becomes a target of."""
    return await _page(request, task, person, kind, given={"round": target_of})


def _form_values(form: FormData) -> dict[str, Any]:
    """The values of the fields, cut to lengths that are still refused where they are too long; no files, no token."""
    values: dict[str, Any] = {name: str(form.get(name, ""))[: LIMITS.get(name, 600) + 1] for name in FORM_FIELDS}
    for group in ("inputs", "labels"):
        names = [name for name in form if name.startswith(f"{group}.")][:100]
        values[group] = {name.partition(".")[2]: str(form[name])[:300] for name in names}
    return values


@router.post(
    "/tasks/{task}/submit/test",
    name="test_endpoint",
    dependencies=[Depends(people.load_actions), Depends(limited("endpoint-test", 60, 3600))],
)
async def send_test(request: Request, db: Db, task: str, person: Member) -> Response:
    """Ask the model at an address once; the form again, with the answer and what was recognised. Nothing is kept."""
    config, row = await db.aread(endpoint_trial.trial_row, person, task)
    async with request.form(max_files=0, max_fields=300, max_part_size=PIECE) as form:
        values, secret = _form_values(form), str(form.get("token", ""))[:600]
    settings = request.app.state.settings
    sent = values | {"token": secret}
    try:
        trial = await to_thread.run_sync(endpoint_trial.try_endpoint, settings, config, row, sent)
    except (errors.Invalid, errors.TooMany) as problem:
        wrong = problem.fields if isinstance(problem, errors.Invalid) else {"quota": problem.detail}
        return await _page(request, task, person, "endpoint", problem.status, wrong=wrong, given=values)
    shown_values = {name: value for name, value in trial.fields.items() if name != "token"}
    shown_values |= {"token_tested": "yes" if trial.has_token else ""}
    return await _page(request, task, person, "endpoint", given=shown_values, trial=trial)


async def _store_files(request: Request, person: Person, form: FormData, wrong: dict[str, str]) -> dict[str, str]:
    """Ids of the files that were sent, now or with a form that came back, by the name of their field."""
    names = {name: str(value)[:40] for name, value in form.items() if name.startswith("kept.")}
    file_ids = {name.removeprefix("kept."): id for name, id in names.items() if id}
    for name, file in form.items():
        if isinstance(file, UploadFile) and file.filename:
            try:
                id = await submission_sources.store_upload(
                    request.app.state.settings, person.id, file.filename[-200:], read_pieces(file)
                )
                file_ids[name] = id
            except errors.Invalid as problem:
                wrong[name] = problem.fields["file"]
    return file_ids


@router.post(
    "/tasks/{task}/submit",
    name="send_submission",
    dependencies=[Depends(people.load_actions), Depends(limited("submit", 120, 3600))],
)
async def send(request: Request, db: Db, task: str, person: Member) -> Response:
    """Enter what the form says; where something is wrong, the form again, with what was written and sent."""
    settings = request.app.state.settings
    await db.aread(submissions.may_submit, person, task)
    async with request.form(max_files=210, max_fields=300, max_part_size=PIECE) as form:
        kind = str(form.get("kind", ""))[:20]
        values = _form_values(form)
        wrong: dict[str, str] = {}
        file_ids = await _store_files(request, person, form, wrong)
        secret = str(form.get("token", ""))[:600]
    files = {name.removeprefix("files."): id for name, id in file_ids.items() if name.startswith("files.")}
    sent = values | {"token": secret, "file": file_ids.get("file", ""), "files": files}

    def write(session: Session) -> int:
        card = submission_sources.card_from_form(values)
        draft = SubmissionDraft(kind, values["name"].strip(), values["visibility"] or "public", values["readme"], card)
        return submissions.submit_model(session, settings, person, task, draft, sent).id

    form_context = {"given": values, "kept": file_ids}
    if wrong:
        return await _page(request, task, person, kind, 422, wrong=wrong, **form_context)
    try:
        id = await db.awrite(write)
    except errors.Invalid as problem:
        return await _page(request, task, person, kind, 422, wrong=problem.fields, **form_context)
    except errors.TooMany as problem:
        answer = await _page(request, task, person, kind, 429, wrong={"quota": problem.detail}, **form_context)
        answer.headers["Retry-After"] = str(problem.extra["retry_after"])
        return answer
    return RedirectResponse(str(request.app.url_path_for("submission", id=id)), status_code=303)


@router.get("/tasks/{task}/submissions", name="submissions", dependencies=[Depends(people.load_actions)])
async def listing(
    request: Request, db: Db, task: str, person: Member, after: Annotated[int, Query(ge=0, le=LAST)] = 0
) -> Response:
    """Yours; owners see the others' that are not private, admins all."""

    def read(session: Session) -> dict[str, Any]:
        submission_views = submissions.list_submissions(session, person, task, after or LAST, PAGE_ROWS + 1)
        return {
            **overview.page_head(session, task),
            "found": submission_views[:PAGE_ROWS],
            "more": submission_views[PAGE_ROWS - 1].submission.id if len(submission_views) > PAGE_ROWS else 0,
        }

    values = await db.aread(read)
    going = any(view.submission.state in queries.GOING for view in values["found"])
    here = request.url.path + (f"?after={after}" if after else "")
    return render(
        request,
        "registry/submissions.html",
        fragment="registry/_submissions.html",
        task=task,
        going=going,
        here=here,
        after=after,
        **values,
    )


@router.post("/submissions/{id}/{act}", name="change_submission")
async def change(request: Request, db: Db, id: Id, act: str, person: Member) -> Response:
    """Cancel, retry or withdraw it, set who may see it, or make it a baseline."""
    if act == "cancel":
        await db.awrite(submissions.cancel_check, person, id)
    elif act == "retry":
        await db.awrite(submissions.retry_check, request.app.state.settings, person, id)
    elif act == "withdraw":
        await db.awrite(submissions.withdraw_submission, request.app.state.settings, person, id)
    elif act == "visibility":
        form = await request.form()
        await db.awrite(submissions.change_visibility, person, id, str(form.get("visibility", ""))[:20])
    elif act == "baseline":
        form = await request.form()
        await db.awrite(submissions.change_baseline, person, id, "baseline" in form)
    else:
        raise errors.NotFound(_("There is no such action."))
    return RedirectResponse(str(request.app.url_path_for("submission", id=id)) + f"?done={act}", status_code=303)


@router.post("/models/{name}/enter", name="enter_model")
async def enter(
    request: Request, db: Db, name: Name, person: Member, task: Annotated[str, Form(max_length=64)] = ""
) -> Response:
    """Enter a model that the deployment serves for a task, by default its card's (the task's owners)."""
    model = await find_model(request, person, name)
    if model.card is None:
        raise errors.Conflict(_("%(name)s is broken, so it cannot be submitted.", name=name))
    card = model.card
    id = await db.awrite(lambda session: submissions.submit_installed(session, person, task or card.task, card).id)
    return RedirectResponse(str(request.app.url_path_for("submission", id=id)), status_code=303)
