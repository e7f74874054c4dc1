"""The language of the pages: which one a reader wants, and texts that wait with their translation until they are shown.

Catalogues are gettext's, `locale/<language>/dynabench.po` beside this file; see `docs/how-to/languages.md`. Texts that
people read are written in English, `_("There is no task “%(name)s”.", name=name)`, and stay that for programs, logs
and the database; a page says them in its reader's language.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Any

LANGUAGES: Mapping[str, str] = {"en": "English", "es": "Español", "ar": "العربية"}
"""What the pages can be read in, each under its own name; English is in the code and needs no catalogue."""
FROM_RIGHT = frozenset({"ar"})
COOKIE = "dynabench_language"
FOLDER = Path(__file__).parent.parent / "locale"

current: ContextVar[str] = ContextVar("language", default="en")
"""The language of the page that is being made; always English for the JSON API."""


class Phrase(str):
    """An English text that knows its translation: `translate` gives it, and so does a template that shows it."""

    __slots__ = ("message", "number", "plural", "values")
    message: str
    plural: str
    number: int | None
    values: Mapping[str, Any]

    def __new__(cls, message: str, plural: str, number: int | None, values: Mapping[str, Any]) -> "Phrase":
        """`message` with `values` for its placeholders, or `plural` unless `number` is 1."""
        english = plural if number is not None and number != 1 else message
        phrase = super().__new__(cls, english % values if values else english)
        phrase.message, phrase.plural, phrase.number, phrase.values = message, plural, number, values
        return phrase

    def __reduce__(self) -> tuple[Any, ...]:
        """Phrases travel between processes with their translation."""
        return Phrase, (self.message, self.plural, self.number, self.values)

    def __str__(self) -> str:
        """Itself: what is made of an error stays translatable."""
        return self

    def __add__(self, other: str) -> str:
        return joined("", (self, other))

    def __radd__(self, other: str) -> str:
        return joined("", (other, self))

    def __html__(self) -> str:
        """Return the text that a template shows, escaped."""
        from markupsafe import escape

        return escape(translate(self))


class Amount(Phrase):
    """A number in a text: in English as the format `spec` writes it (`,.1f`, `.0%`), said as the language does."""

    __slots__ = ("spec", "value")
    spec: str
    value: float

    def __new__(cls, value: float, spec: str = ",") -> "Amount":
        """A finite `value`; `spec` is that of `format`, with a number of places, `%` for shares."""
        amount = str.__new__(cls, format(value, spec))
        amount.message, amount.plural, amount.number, amount.values = str.__str__(amount), "", None, {}
        amount.value, amount.spec = value, spec
        return amount

    def __reduce__(self) -> tuple[Any, ...]:
        """Amounts travel as Phrases do."""
        return Amount, (self.value, self.spec)

    @property
    def localised(self) -> str:
        """The number as the current language writes it."""
        if current.get() == "en":
            return self.message
        return decimal(self.value, int(self.spec.partition(".")[2].rstrip("f%") or 0), self.spec.endswith("%"))


class LanguageName(Phrase):
    """The name of a language: in English for programs, said as the reader's language has it."""

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str) -> "LanguageName":
        """The language of a `code` such as `pt` or `pt-BR`; the code itself where it has no name."""
        name = str.__new__(cls, language_name(code, "en"))
        name.message, name.plural, name.number, name.values, name.code = str.__str__(name), "", None, {}, code
        return name

    def __reduce__(self) -> tuple[Any, ...]:
        """Names travel as Phrases do."""
        return LanguageName, (self.code,)

    @property
    def localised(self) -> str:
        """The name in the current language."""
        return language_name(self.code)


def language_name(code: str, reader: str = "") -> str:
    """Return the name of a language in the language of the page, or of a `reader`; the code where it has none."""
    from babel import Locale, UnknownLocaleError

    try:
        return str(Locale.parse(code.replace("-", "_")).get_display_name(reader or current.get()) or code)
    except (UnknownLocaleError, ValueError):
        return code


def decimal(value: float, digits: int = 0, share: bool = False) -> str:
    """A number as the current language writes it, a `share` in percent; English ones are written by their formats."""
    from babel import Locale, numbers

    language, places = current.get(), "." + "0" * digits if digits else ""
    if not share:
        return numbers.format_decimal(value, "#,##0" + places, language)
    pattern = Locale.parse(language).percent_formats[None].pattern
    return numbers.format_percent(value, pattern.replace("0", "0" + places) if digits else pattern, language)


def _(message: str, /, **values: Any) -> str:
    """A text that people read, a `Phrase`; extracted into the catalogues. `values` fill placeholders as `%(name)s`."""
    return Phrase(message, "", None, values)


def N_(message: str) -> str:
    """The same plain text, marked for extraction: for constants, which pages say with `_` of a name."""
    return message


def ngettext(message: str, plural: str, number: int, /, **values: Any) -> str:
    """A `Phrase`: a text about `number` things, which is also the placeholder `%(num)s`."""
    return Phrase(message, plural, number, {"num": number, **values})


def joined(separator: str, parts: Iterable[str]) -> str:
    """Several texts as one, each of which is still said in the reader's language."""
    named = {f"part{at}": part for at, part in enumerate(parts)}
    return Phrase(separator.join(f"%({name})s" for name in named), "", None, named) if named else ""


def join_messages(messages: Iterable[str]) -> str:
    """Several messages as one: sentences follow each other, other messages are separated by semicolons."""
    parts = list(messages)
    return joined(" " if all(part.endswith((".", "!", "?")) for part in parts) else "; ", parts)


def translate(text: str) -> str:
    """A text in the current language, where it knows its translation."""
    if not isinstance(text, Phrase):
        return text
    if isinstance(text, Amount | LanguageName):
        return text.localised
    words = catalogue(current.get())
    message = text.message
    template = words.gettext(message) if text.number is None else words.ngettext(message, text.plural, text.number)
    if not text.values:
        return template
    return template % {
        name: translate(value) if isinstance(value, str) else value for name, value in text.values.items()
    }


def phrase_document(text: str) -> dict[str, Any] | None:
    """A phrase as JSON, for `restored` to make it again; None for a text that has no translation."""
    if not isinstance(text, Phrase):
        return None
    if isinstance(text, Amount):
        return {"amount": text.value, "spec": text.spec}
    if isinstance(text, LanguageName):
        return {"language": text.code}
    values = {
        name: phrase_document(value) or str(value) if isinstance(value, str) else value
        for name, value in text.values.items()
    }
    return {"message": text.message, "plural": text.plural, "number": text.number, "values": values}


RECORDS = ({"message", "plural", "number", "values"}, {"amount", "spec"}, {"language"})
"""The keys of what `phrase_document` writes."""


def is_phrase_record(value: Mapping[str, Any]) -> bool:
    """Return whether a mapping within a stored document is what `phrase_document` wrote."""
    return value.keys() in RECORDS


def restored(record: Mapping[str, Any] | None) -> str:
    """The phrase that `phrase_document` wrote down, or nothing."""
    if not record:
        return ""
    if "amount" in record:
        return Amount(record["amount"], record["spec"])
    if "language" in record:
        return LanguageName(record["language"])
    values = {name: restored(value) if isinstance(value, dict) else value for name, value in record["values"].items()}
    return Phrase(record["message"], record["plural"], record["number"], values)


def recognised(text: str, sentences: tuple[str, ...]) -> str:
    """The phrase that an English text was made from, if it was from one of `sentences`; others as they are.

    For what comes from where phrases do not reach: libraries, other processes, rows that were written before. Values
    are looked for among the sentences as well.
    """
    for pattern, phrase in _patterns(sentences):
        if match := pattern.fullmatch(text):
            values: dict[str, Any] = {name: recognised(value, sentences) for name, value in match.groupdict().items()}
            return Phrase(phrase.message, phrase.plural, int(values["num"]) if "num" in values else None, values)
    return text


@cache
def _patterns(sentences: tuple[str, ...]) -> tuple[tuple[re.Pattern[str], Phrase], ...]:
    """Return a pattern for each form of the sentences, with groups in place of the values."""
    patterns = []
    for phrase in sentences:
        assert isinstance(phrase, Phrase)
        for form in filter(None, (phrase.message, phrase.plural)):
            parts = re.split(r"%\((\w+)\)s", form)
            held = [
                rf"(?P<{part}>{'[0-9]+' if part == 'num' else '.+'})" if at % 2 else re.escape(part.replace("%%", "%"))
                for at, part in enumerate(parts)
            ]
            patterns.append((re.compile("".join(held), re.DOTALL), phrase))
    return tuple(patterns)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Makes what is written inside in this language, such as a mail to a person."""
    before = current.set(language if language in LANGUAGES else "en")
    try:
        yield
    finally:
        current.reset(before)


@cache
def catalogue(language: str) -> NullTranslations:
    """The translations into a language; for English, and what is not known, the texts as they are written."""
    path = FOLDER / language / "dynabench.po"
    if language not in LANGUAGES or language == "en" or not path.is_file():
        return NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)


def direction(language: str) -> str:
    """Return the direction in which a language is written: `ltr` or `rtl`."""
    return "rtl" if language.partition("-")[0] in FROM_RIGHT else "ltr"


def choose_language(cookie: str | None, accepted: str) -> str:
    """The language for a visitor with this cookie and `Accept-Language` header; English where nothing fits."""
    if cookie and cookie in LANGUAGES:
        return cookie
    weighed = []
    for at, part in enumerate(accepted.split(",")[:50]):
        tag, _, weight = part.partition(";")
        try:
            share = float(weight.partition("=")[2]) if weight.strip() else 1.0
        except ValueError:
            share = 0.0
        language = tag.strip().lower().partition("-")[0]
        if share > 0 and language in LANGUAGES:
            weighed.append((-share, at, language))
    return min(weighed)[2] if weighed else "en"
