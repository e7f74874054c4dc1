"""The Jinja environment that all pages share."""

from functools import cache
from gettext import NullTranslations
from importlib.resources import files
from pathlib import Path

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    FunctionLoader,
    PrefixLoader,
    StrictUndefined,
)

from dynabench.stats.rates import FEW
from dynabench.web import filters
from dynabench.web.marks import marks
from dynabench.web.static import address

PACKAGE = Path(str(files("dynabench")))


@cache
def environment() -> Environment:
    """Escapes everything, refuses unknown variables, and finds each feature's templates under its name."""
    env = Environment(
        loader=loader(),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n", "jinja2.ext.do"],
    )
    translations = NullTranslations()
    env.install_gettext_callables(  # type: ignore[attr-defined]
        translations.gettext, translations.ngettext, newstyle=True, pgettext=translations.pgettext
    )
    env.globals.update(static=address, marks=marks, few=FEW)
    env.filters.update(
        number=filters.number,
        percent=filters.percent,
        points=filters.points,
        seconds=filters.seconds,
        size=filters.size,
        ago=filters.ago,
        day=filters.day,
        moment=filters.moment,
        markdown=filters.markdown,
        ticks=filters.ticks,
        initials=filters.initials,
        bucket=filters.bucket,
    )
    return env


def loader() -> BaseLoader:
    """`web/x` is here, `fields/x` belongs to the tasks' field types, `<feature>/x` to the feature of that name."""
    folders = {path.parent.name: path for path in PACKAGE.glob("*/templates")}
    named = {name: FileSystemLoader(path) for name, path in folders.items()}
    fields = PrefixLoader({"fields": FileSystemLoader(PACKAGE / "tasks/templates/fields")})
    return ChoiceLoader([PrefixLoader(named), fields, FunctionLoader(lambda _: None)])
