"""The pages in each of their languages: nothing is left in English, and what is bracketed shows what was forgotten."""

import json
import pickle
import re
from collections.abc import Mapping
from gettext import NullTranslations
from html.parser import HTMLParser

import pytest
from markupsafe import Markup

from dynabench.kit import language
from dynabench.kit.errors import Invalid, translate_validation
from dynabench.kit.language import _, ngettext
from dynabench.models import check_report
from dynabench.site.cards import library
from dynabench.tasks import TaskConfig, reading
from dynabench.web import filters
from dynabench.web.environment import environment
from scripts import languages
from tests.web.pages import PAGES
from tests.web.test_templates import draw

HOLLOW = {"script", "style", "code", "pre", "svg", "textarea", "option", "kbd", "bdi"}
"""Elements whose text is no word of the pages'."""
THEIRS = re.compile(r"user-text|card-text|avatar|models|mono|tag|wordmark|badge-name|marked|strip|instructions|prose")
"""Classes of what people and owners wrote, and of names."""

NAMES = re.compile(r"[\W\d]*(Dynabench|v?MER|n|CC[ -]BY[-\w. ]*|hace .*|[\d.]+% to [\d.]+%)[\W\d]*")
"""Names and abbreviations that every language has."""


class Bracketed(NullTranslations):
    """Puts every text into brackets."""

    def gettext(self, message):
        return f"⟦{message}⟧"

    def ngettext(self, msgid1, msgid2, n):
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


class Seen(HTMLParser):
    """The visible text of a page outside of what is not the pages' own."""

    VOID = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            values = dict(attrs)
            theirs = values.get("dir") == "auto" or ("lang" in values and tag != "html")
            self.open.append((tag, theirs or tag in HOLLOW or bool(THEIRS.search(values.get("class") or ""))))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if not any(hollow for _, hollow in self.open):
            self.text.append(data)


def fragments(html):
    """The visible stretches of a page outside of brackets that have a word in them."""
    seen = Seen()
    seen.feed(html)
    for text in seen.text:
        while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", "\n", text)) != text:
            text = shorter
        for line in text.split("\n"):
            if re.search(r"[A-Za-z]{2,}", line):
                yield " ".join(line.split())


def contents(value):
    """All texts within sample values: what people, owners and models wrote."""
    if isinstance(value, str):
        yield " ".join(value.split())
    elif isinstance(value, Mapping):
        yield from (text for pair in value.items() for item in pair for text in contents(item))
    elif isinstance(value, list | tuple | set):
        yield from (text for element in value for text in contents(element))
    elif hasattr(value, "__dict__"):
        yield from contents(vars(value))


def forgotten(name):
    """Return texts of a sample page that are neither bracketed nor a content of its values, a name or a unit."""
    _, values, viewer = PAGES[name]
    casefolds = {content.casefold() for content in contents([values, viewer])}
    whole = "\n".join(casefolds)
    for fragment in fragments(draw(name)):
        bare = fragment.removesuffix("· Dynabench").strip(" ·.,:;()%+−0123456789").casefold()
        if bare not in casefolds and not (" " in bare and bare in whole) and not NAMES.fullmatch(fragment):
            yield fragment


@pytest.fixture(scope="module")
def unread():
    """Templates that no other test has drawn in this language, and none will see again."""
    environment().cache.clear()
    yield
    environment().cache.clear()


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("name", PAGES)
def test_every_text_of_a_page_is_in_the_catalogues(name, monkeypatch):
    for place in ("dynabench.kit.language", "dynabench.web.environment"):
        monkeypatch.setattr(f"{place}.catalogue", lambda _: Bracketed())
    with language.speaking("es"):
        assert sorted(set(forgotten(name))) == []


@pytest.fixture(scope="module")
def sources():
    """Every text of the sources."""
    return languages.extracted()


@pytest.mark.parametrize("spoken", languages.TRANSLATED)
def test_catalogues_are_complete(spoken, sources):
    assert list(languages.wrong(spoken, sources)) == []


def test_a_phrase_is_english_for_programs_and_said_in_the_language_of_its_page():
    phrase = _("There is no task %(task_id)s.", task_id="nli")
    assert json.dumps(phrase) == '"There is no task nli."'
    assert phrase == pickle.loads(pickle.dumps(phrase)) == language.restored(language.phrase_document(phrase))
    with language.speaking("es"):
        assert f"{Markup('<p>{}').format(phrase)}" == "<p>No existe la tarea nli."
        assert language.translate(language.restored(language.phrase_document(phrase))) == "No existe la tarea nli."
        assert language.translate("a " + phrase) == "a No existe la tarea nli."


@pytest.mark.parametrize(
    ("cookie", "accepted", "spoken"),
    [(None, "", "en"), (None, "de, es-MX;q=0.8, ar;q=0.9", "ar"), ("es", "ar", "es"), ("tlh", "ar-EG", "ar"),
     (None, "es;q=0, en;q=0.1", "en"), (None, "es;q=x", "en")],
)  # fmt: skip
def test_the_language_is_the_one_asked_for(cookie, accepted, spoken):
    assert language.choose_language(cookie, accepted) == spoken


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "لا أمثلة"), (1, "مثال واحد"), (2, "مثالان"), (5, "5 أمثلة"), (11, "11 مثالًا"), (100, "100 مثال")],
)
def test_arabic_has_six_plurals(count, text):
    with language.speaking("ar"):
        assert language.translate(ngettext("%(num)s example", "%(num)s examples", count)) == text


def test_numbers_and_days_are_written_as_the_language_does():
    with language.speaking("es"):
        assert (filters.number(12345.6, 1), filters.day("2026-11-21")) == ("12.345,6", "21 nov")
        assert filters.percent(0.714) == "71\N{NO-BREAK SPACE}%"
    with language.speaking("ar"):
        assert filters.day("2026-11-21") == "21 نوفمبر"


WRONG_CONFIG = """
id: words
name: Words
input: {name: said, type: text, min_length: 5, max_length: 3}
answer: {name: label, type: choice, options: ["yes", "no"]}
validate: {votes: 0, mode: both, adjudicate_up_to: few}
"""


@pytest.mark.parametrize("spoken", languages.TRANSLATED)
def test_what_is_wrong_with_a_config_is_told_in_the_readers_language(spoken):
    with pytest.raises(Invalid) as refused:
        TaskConfig.parse(WRONG_CONFIG)
    for key, field in refused.value.fields.items():
        with language.speaking(spoken):
            assert language.translate(field) != field, key
    assert refused.value.fields["validate.votes"] == "Input should be greater than or equal to 1 (line 6)"
    with language.speaking("es"):
        assert language.translate(refused.value.fields["validate.votes"]) == "Debe ser mayor o igual que 1 (línea 6)"


def test_what_a_stored_check_said_is_told_in_the_readers_language():
    words = check_report.in_words("2 answers differ when asked again\nquestion 1")
    assert words == "2 answers differ when asked again\nquestion 1"
    with language.speaking("es"):
        assert language.translate(words) == "2 respuestas difieren al preguntar de nuevo\nquestion 1"
        assert language.translate(check_report.in_words(check_report.STEP_REMEDIES["batches"])).startswith(
            "Ninguna fila"
        )
    assert check_report.in_words("") == ""


def test_a_sentence_of_a_library_is_found_again_with_its_plural():
    result = translate_validation("String should have at most 1 character")
    with language.speaking("es"):
        assert language.translate(result) == "El texto debe tener como máximo 1 carácter"
    assert translate_validation("Something else") == "Something else"


def test_a_module_is_described_in_the_readers_language_and_in_english_by_the_library():
    entry = library.find_entry("metric", "recall")
    with language.speaking("es"):
        assert entry.line.startswith("De los ejemplos de una clase, la proporción")
        assert entry.line.endswith("sensibilidad)")
        assert entry.has(["proporción", "share"])
    assert type(entry.card.description) is str
    assert entry.line == entry.card.description.rstrip(".")


def test_what_becomes_of_an_older_config_is_told_in_the_readers_language():
    older_config = reading.read_older_config("input:\n- name: said\n  type: string\nstrange: 1\n", "words")
    with language.speaking("es"):
        answer = {note.key: language.translate(note.text) for note in older_config.notes}
    assert answer["input.0.type"] == "string pasa a ser text: 20.000 caracteres como máximo"
    assert answer["strange"].startswith("Aquí nadie conoce esta clave.")
