"""Advice for pages of links of mails that no longer work, and of log-ins of several steps that have ended."""

from dataclasses import dataclass

from starlette.requests import Request

from dynabench.kit.errors import Problem
from dynabench.kit.language import _
from dynabench.people.accounts.pending import EndedLogIn
from dynabench.people.link_tokens import DeadLink

NEW_PASSWORD = _("Links to a new password work once, for an hour. Request another one.")
ASK_ADMIN = _("Links to a new password work once. Ask an administrator of this site for another one.")
CONFIRMATION = _("Your address may be confirmed already. Your settings show it and can send another link.")
NOTICES = _("Your notification settings show the address in use. You can change it or turn emails off there.")


@dataclass(frozen=True)
class Advice:
    """A title, a sentence or "", and buttons that an error page shows in the place of its usual words.

    A button is an address and its words; the first one is the main one.
    """

    title: str
    sentence: str
    buttons: tuple[tuple[str, str], ...]


def advise(request: Request, problem: Problem) -> Advice | None:
    """Return what to do about a link or a log-in that has ended; None for any other problem."""
    if isinstance(problem, EndedLogIn):
        return Advice(_("This log-in has ended"), "", ((_address(request, "login"), _("Log in")),))
    if not isinstance(problem, DeadLink):
        return None
    title = _("This link does not work")
    log_in, home = (_address(request, "login"), _("Log in")), ("/", _("Go home"))
    path = request.url.path
    if path.startswith("/login/reset/"):
        if request.app.state.settings.mails:
            return Advice(
                title, NEW_PASSWORD, ((_address(request, "forgot_password"), _("Request a new link")), log_in)
            )
        return Advice(title, ASK_ADMIN, (log_in, home))
    if path.startswith("/mail/confirm/"):
        return Advice(title, CONFIRMATION, ((_address(request, "settings"), _("Open settings")), home))
    return Advice(title, NOTICES, ((_address(request, "notifications"), _("Choose notifications")), home))


def _address(request: Request, name: str) -> str:
    return str(request.app.url_path_for(name))
