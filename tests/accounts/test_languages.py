"""In which language people read: what their browser asks for, what they chose, and what programs get."""

from dynabench.kit.language import _, speaking, translate
from dynabench.people.accounts.service import recent_notices
from dynabench.people.accounts.tables import Person
from dynabench.people.notices import service as notices

ARABIC = {"Accept-Language": "ar-EG, en;q=0.5"}


def test_visitors_get_what_their_browser_asks_for_until_they_choose(browser):
    visitor = browser()
    page = visitor.get("/login", headers=ARABIC)
    assert '<html lang="ar" dir="rtl"' in page.text
    assert "تسجيل الدخول" in page.text
    assert page.headers["content-language"] == "ar"
    assert {"accept-language", "cookie"} <= {part.strip().lower() for part in page.headers["vary"].split(",")}
    chosen = visitor.submit("/language", page="/login", language="es")
    assert chosen.status_code == 303
    page = visitor.get("/login", headers=ARABIC)
    assert '<html lang="es" dir="ltr"' in page.text
    assert "Iniciar sesión" in page.text


def test_problems_are_told_in_the_readers_language_and_to_programs_in_english(browser, client):
    visitor = browser()
    page = visitor.get("/tasks/none-such", headers={"Accept-Language": "es"})
    assert "No existe la tarea" in page.text
    assert "No encontrado" in page.text
    answer = client.get("/api/v1/tasks/none-such", headers={"Accept-Language": "es"})
    assert answer.json()["title"] == "Not found"
    assert "There is no task" in answer.json()["detail"]


def test_a_choice_belongs_to_the_account(browser):
    ada = browser()
    ada.join("ada")
    ada.submit("/settings/language", page="/settings", language="ar")
    elsewhere = browser()
    elsewhere.log_in("ada")
    assert '<html lang="ar" dir="rtl"' in elsewhere.get("/settings").text


def test_a_language_that_there_is_not_is_refused(browser):
    assert browser().submit("/language", page="/login", language="tlh").status_code == 422


def test_notices_are_said_in_the_language_of_their_reader(person, database):
    ada = person("ada")
    text = _("You can write and check examples for %(name)s again.", name="NLI")
    database.write(lambda session: notices.notify_person(session, ada.id, "lifted", text))
    with speaking("es"):
        [answer] = database.read(
            lambda session: [
                translate(recent_notice.translated_text) for recent_notice in recent_notices(session, ada.id)
            ]
        )
    assert answer == "Puedes volver a escribir y revisar ejemplos de NLI."
    assert database.read(lambda session: session.get_one(Person, ada.id).language) == ""
