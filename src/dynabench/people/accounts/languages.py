"""The language that a reader chose, as forms and cookies carry it."""

from starlette.requests import Request
from starlette.responses import Response

from dynabench.kit.errors import Invalid
from dynabench.kit.language import COOKIE, LANGUAGES, _

YEAR = 365 * 24 * 3600


def clean(language: str, empty: bool = False) -> str:
    """One of the languages that the pages come in, or nothing where that may be; else `Invalid`."""
    if language in LANGUAGES or (empty and not language):
        return language
    raise Invalid({"language": _("The pages do not come in this language.")})


def remember(request: Request, response: Response, language: str) -> None:
    """Have the browser ask for this language from now on; nothing forgets what was chosen."""
    secure = request.app.state.settings.secure_cookies
    if language:
        response.set_cookie(COOKIE, language, max_age=YEAR, secure=secure, httponly=True, samesite="lax")
    else:
        response.delete_cookie(COOKIE, secure=secure, httponly=True, samesite="lax")
