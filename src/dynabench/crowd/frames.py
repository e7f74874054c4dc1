"""A study's page in a platform's frame: what is to do, the way to the study's own window, and the form that submits.

Only this page may be framed, and only by its platform. It needs no cookie, as browsers keep them from frames of other
sites: the work is done in a window of its own, which a ticket in the address opens. The ticket is an HMAC that is bound
to the assignment.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from anyio import to_thread
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import Response

from dynabench.crowd import entry, lifecycle, participation, studies
from dynabench.crowd.participation import FinishedPart
from dynabench.crowd.provider import Arrival, CrowdProvider, all_providers
from dynabench.crowd.tables import Participation, ParticipationState, Study
from dynabench.crowd.work import WorkProgress, read_progress, work_of
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.security import POLICY, keyed
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.web import render
from dynabench.web.pages import wants_fragment

OWN_PARAMETERS = frozenset({"entered", "done", "ticket", "to"})
"""Parameters of a study's address that this site sets; all others come from the platform."""
FRAMED = re.compile(r"/studies/[^/]+(?P<later>/frame)?")
NOBODY = "'none'"
SUBMITTABLE = frozenset({ParticipationState.FINISHED, ParticipationState.TIMED_OUT, ParticipationState.WITHDRAWN})
"""States in which the frame offers the form that submits; what is decided was submitted before."""


@dataclass(frozen=True)
class FrameView:
    """The content of the frame of an accepted assignment."""

    ticket: str
    submit: str
    state: ParticipationState
    progress: WorkProgress | None
    ended: FinishedPart | None


def frame_sources(settings: Settings, provider: CrowdProvider) -> tuple[str, ...]:
    """Return the origins that may show a provider's frames: its own, and that of an address of its API that was set."""
    address = settings.crowd_urls.get(provider.name, "")
    return (*provider.frame_ancestors, *([_origin(address)] if address else []))


def is_framed(request: Request) -> bool:
    """Tell whether a request may come from a platform's frame, also where its study is not known (yet)."""
    match = FRAMED.fullmatch(request.url.path)
    if match is None or request.method != "GET" or getattr(request.state, "unframed", False):
        return False
    return bool(match["later"] or set(request.query_params) - OWN_PARAMETERS)


def allow_frames(request: Request, response: Response, policy: str = POLICY) -> None:
    """Let every platform with frames show a response that holds nothing of anybody."""
    installed, settings = all_providers().values(), request.app.state.settings
    sources = [source for provider in installed for source in frame_sources(settings, provider)]
    _let_frame(response, policy.replace("form-action 'self'", f"form-action {NOBODY}"), sources)


def show_problem(request: Request, problem: errors.Problem, headers: Mapping[str, str]) -> Response:
    """Answer a frame's request that failed before its study was known, with a page that the frame shows."""
    request.state.viewer = None
    title = _("Study")
    page = render(
        request,
        "crowd/frame.html",
        fragment="crowd/_frame.html",
        status=problem.status,
        study=None,
        title=title,
        task_name="",
        problem=problem,
    )
    request.state.new_visitor = None
    page.headers.update(headers)
    allow_frames(request, page)
    _try_again(request, page, problem)
    return page


def _try_again(request: Request, response: Response, problem: errors.Problem) -> None:
    """Let a frame that shows a passing problem ask again by itself, as its text says."""
    if "retry_after" in problem.extra and not wants_fragment(request):
        response.headers["Refresh"] = str(problem.extra["retry_after"])


def _let_frame(response: Response, policy: str, sources: Sequence[str]) -> None:
    ancestors = f"frame-ancestors {' '.join(sources) or NOBODY}"
    response.headers["Content-Security-Policy"] = policy.replace("frame-ancestors 'none'", ancestors)
    response.headers["X-Frame-Options"] = ""
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["Referrer-Policy"] = "no-referrer"  # the address is a key to the assignment


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}".lower()


def submit_site(sources: Sequence[str], claimed: str) -> str:
    """Return the origin that an address names for submitting; raises `Invalid` unless it is one of `sources`."""
    origin = _origin(claimed)
    if origin not in sources:
        raise errors.Invalid(
            {"turkSubmitTo": _("This address names a site that is not the platform's. Open the HIT there again.")}
        )
    return origin


def ticket_of(study: Study, part: Participation) -> str:
    """Return the ticket of an assignment's frame and window."""
    return f"{part.id}.{_mac(study, part)}"


def _mac(study: Study, part: Participation) -> str:
    return keyed(bytes.fromhex(study.key), "frame ticket", f"{part.id}\0{part.external_session}").hex()[:48]


def read_ticket(session: Session, study: Study, ticket: str) -> Participation:
    """Return the participation whose ticket this is; raises `Forbidden` for any other text."""
    number, _dot, mac = ticket.partition(".")
    is_number = number.isascii() and number.isdigit() and len(number) < 18
    part = session.get(Participation, int(number)) if is_number else None
    if (
        part is None
        or part.study_id != study.id
        or not hmac.compare_digest(_mac(study, part).encode(), mac.encode(errors="replace"))
    ):
        raise errors.Forbidden(_("This address has expired. Open the study again on the platform."))
    return part


def open_window(session: Session, slug: str, ticket: str, user_agent: str, replaces: str | None) -> str:
    """Log a worker in, in a window outside the frame; returns the session's cookie."""
    part = read_ticket(session, entry.find_study(session, slug), ticket)
    return entry.log_in(session, part.person_id, user_agent, replaces)


def _view(session: Session, key: bytes, study: Study, part: Participation, submit: str) -> FrameView:
    state = ParticipationState(part.state)
    person = session.get_one(Person, part.person_id)
    progress = read_progress(session, study, person) if state is ParticipationState.WORKING else None
    ended = participation.ended_part(key, study, part, submit) if state in SUBMITTABLE else None
    return FrameView(ticket_of(study, part), submit, state, progress, ended)


def _admit(session: Session, key: bytes, study_id: int, arrival: Arrival, submit: str) -> FrameView:
    study = session.get_one(Study, study_id)
    return _view(session, key, study, entry.admit_worker(session, key, study, arrival), submit)


def _return(session: Session, key: bytes, study_id: int, ticket: str, submit: str) -> FrameView:
    study = session.get_one(Study, study_id)
    return _view(session, key, study, read_ticket(session, study, ticket), submit)


async def show_first_page(
    request: Request, db: Database, study: Study, task_name: str, parameters: dict[str, str]
) -> Response:
    """Answer the address that the platform frames: a preview, or the assignment that a worker has accepted."""
    settings, provider = request.app.state.settings, studies.provider_of(study)
    sources = frame_sources(settings, provider)
    try:
        arrival = provider.read_arrival(studies.facts_of(study), parameters)
        if arrival.preview:
            return _page(request, study, task_name, sources)
        submit = submit_site(sources, arrival.details.get("submit", ""))
        await to_thread.run_sync(lifecycle.confirm_arrival, db, settings, study.id, arrival)
        view = await db.awrite(_admit, settings.key, study.id, arrival, submit)
    except errors.Problem as problem:  # an error page of its own, which the frame shows, too
        return _page(request, study, task_name, sources, problem=problem)
    return _page(request, study, task_name, sources, view)


async def show_later_page(
    request: Request, db: Database, study: Study, task_name: str, ticket: str, to: str
) -> Response:
    """Answer the frame's own address, by which it shows how far the worker has come."""
    sources = frame_sources(request.app.state.settings, studies.provider_of(study))
    try:
        submit = submit_site(sources, to)
        view = await db.aread(_return, request.app.state.settings.key, study.id, ticket, submit)
    except errors.Problem as problem:
        return _page(request, study, task_name, sources, problem=problem)
    return _page(request, study, task_name, sources, view)


def _page(
    request: Request,
    study: Study,
    task_name: str,
    sources: Sequence[str],
    view: FrameView | None = None,
    problem: errors.Problem | None = None,
) -> Response:
    request.state.viewer = None  # no account that is logged in here counts: the frame is the assignment's
    response = render(
        request,
        "crowd/frame.html",
        fragment="crowd/_frame.html",
        status=problem.status if problem else 200,
        study=study,
        title=study.name,
        task_name=task_name,
        work=work_of(study),
        platform=studies.provider_of(study).title,
        view=view,
        problem=problem,
    )
    request.state.new_visitor = None  # no cookie for a page in a platform's frame
    posts_to = f"form-action {view.submit}" if view else f"form-action {NOBODY}"
    _let_frame(response, POLICY.replace("form-action 'self'", posts_to), sources)
    if problem:
        _try_again(request, response, problem)
    return response
