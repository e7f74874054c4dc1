"""The Jinja environment that all pages share."""

import json
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    FunctionLoader,
    PrefixLoader,
    StrictUndefined,
    Template,
)
from jinja2.environment import TemplateModule
from jinja2.runtime import Context

from dynabench.kit.language import FOLDER, LANGUAGES, Phrase, catalogue, current, direction, language_name, translate
from dynabench.models.check_report import in_words, step_title
from dynabench.stats.rates import FEW_ROWS
from dynabench.tasks.fields import template_folders
from dynabench.web import filters
from dynabench.web.bundles import PARTS
from dynabench.web.filters import mark_text
from dynabench.web.static import static_address

STATES = (
    *("draft", "open", "closed", "released"),
    *("queued", "running", "reading", "writing", "checking", "waiting", "paused"),
    *("published", "stopped", "declined", "approved", "rejected", "undecided", "listed"),
    "proposed",
    *("done", "ready", "ok", "accepted", "chosen", "failed", "undone", "withdrawn"),
)
"""States that templates ask for by a test of the same name; Jinja refuses a template with any other."""
PACKAGE = Path(str(files("dynabench")))


class LocalizedTemplate(Template):
    """A template whose imported parts are rendered once in each language."""

    def _get_default_module(self, ctx: Context | None = None) -> TemplateModule:
        if ctx is not None and ctx.globals_keys - self.globals.keys():
            return super()._get_default_module(ctx)
        modules: dict[str, TemplateModule] = self.__dict__.setdefault("_by_language", {})
        if current.get() not in modules:
            modules[current.get()] = self.make_module()
        return modules[current.get()]


@cache
def environment() -> Environment:
    """Return the environment: it escapes everything, refuses unknown variables, and finds templates by feature."""
    env = Environment(
        loader=template_loader(),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n", "jinja2.ext.do"],
        cache_size=-1,  # all templates: there are more than the 400 that Jinja keeps
    )
    env.template_class = LocalizedTemplate
    env.install_gettext_callables(  # type: ignore[attr-defined]
        gettext, ngettext, newstyle=True, pgettext=pgettext
    )
    env.globals.update(static=static_address, script_parts=PARTS, marks=mark_text, few=FEW_ROWS)
    env.globals.update(page_language=current.get, page_languages=LANGUAGES, script_words=script_texts)
    env.globals.update(page_direction=lambda: direction(current.get()))
    env.filters.update(
        number=filters.number,
        percent=filters.percent,
        points=filters.points,
        signed=filters.signed,
        seconds=filters.seconds,
        size=filters.size,
        ago=filters.ago,
        day=filters.day,
        moment=filters.moment,
        markdown=filters.markdown,
        markdown_line=filters.markdown_line,
        summary=filters.summary,
        ticks=filters.ticks,
        initials=filters.initials,
        bucket=filters.bucket,
        highlight=filters.highlight,
        language_name=language_name,
        said=translate,
        of_check=in_words,
        step_title=step_title,
    )
    env.tests.update(translated=lambda text: isinstance(text, Phrase))
    tests: dict[str, Any] = env.tests
    tests.update({state: partial(_has_state, state) for state in STATES})
    return env


def _has_state(state: str, value: Any) -> bool:
    """Tell whether a state, or that of an object or mapping, is this one: the test behind `{% if round is open %}`."""
    if isinstance(value, str):
        return value == state
    return bool((value["state"] if isinstance(value, Mapping) else value.state) == state)


def template_loader() -> BaseLoader:
    """Return the loader: `web/x` is here, `fields/x` belongs to the tasks' field types, `<feature>/x` to a feature.

    Plug-ins bring `tasks/fields/<type>/x` for their field types.
    """
    folders = {path.parent.name: path for path in PACKAGE.rglob("templates")}
    named = {name: FileSystemLoader(path) for name, path in folders.items()}
    fields = PrefixLoader({"fields": FileSystemLoader(PACKAGE / "tasks/templates/fields")})
    return ChoiceLoader([PrefixLoader(named), fields, FunctionLoader(_of_plugins)])


def _of_plugins(name: str) -> tuple[str, str, None] | None:
    """A template of a plug-in's field type: source and file of `tasks/fields/<type>/<view>.html`."""
    folder, _, file = name.removeprefix("tasks/fields/").partition("/")
    place = template_folders().get(folder, PACKAGE) / file
    return (place.read_text("utf-8"), str(place), None) if "/" not in file and place.is_file() else None


def gettext(message: str) -> str:
    """A template's text in the current language."""
    return catalogue(current.get()).gettext(message)


def ngettext(message: str, plural: str, number: int) -> str:
    """A template's text about `number` things in the current language."""
    return catalogue(current.get()).ngettext(message, plural, number)


def pgettext(context: str, message: str) -> str:
    """A template's text that means different things in different places."""
    return catalogue(current.get()).pgettext(context, message)


def script_texts() -> dict[str, str]:
    """Return the texts of the pages' scripts, English to the current language; {} for English."""
    return {} if current.get() == "en" else _script_texts(current.get())


@cache
def _script_texts(language: str) -> dict[str, str]:
    words = catalogue(language)
    return {text: words.gettext(text) for text in _texts()}


@cache
def _texts() -> tuple[str, ...]:
    messages: Any = json.loads((FOLDER / "scripts.json").read_text("utf-8"))
    return tuple(messages)
