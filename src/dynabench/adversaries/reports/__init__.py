"""What other programs found, read from the files that they write: garak, promptfoo and TextAttack."""

from collections.abc import Callable, Mapping
from pathlib import Path

from dynabench.adversaries.reports import garak, promptfoo, textattack
from dynabench.adversaries.reports.base import Found, LeftOut, Report
from dynabench.errors import Invalid, NotFound

FORMS: Mapping[str, Callable[[Path], Report]] = {
    "garak": garak.read,
    "promptfoo": promptfoo.read,
    "textattack": textattack.read,
}

__all__ = ["FORMS", "Found", "LeftOut", "Report", "read"]


def read(form: str, path: Path) -> Report:
    """The report of the program `form` at `path`. Raises `NotFound` for another program, `Invalid` for another file."""
    if form not in FORMS:
        raise NotFound(f"There is no form {form!r}; there are {', '.join(FORMS)}.")
    try:
        return FORMS[form](path)
    except UnicodeDecodeError:
        raise Invalid({"file": f"{path.name} is no text in UTF-8."}) from None
