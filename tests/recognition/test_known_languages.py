"""Languages that people know: only contexts and checks in these, or without a language, come to them."""

import jsonschema
import pytest
import yaml

from dynabench.kit.errors import Invalid
from dynabench.tasks import TaskConfig, shipped_tasks
from dynabench.tasks.schema import config_schema
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob


def set_language(owner, code, **where):
    listed = owner.get("/api/v1/tasks/nli/contexts", params={"limit": 100, **where}).json()["items"]
    body = {"contexts": [context["id"] for context in listed], "language": code}
    assert owner.patch("/api/v1/tasks/nli/contexts", json=body).status_code == 200
    return {context["id"] for context in listed}


@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"], indirect=True)
def test_contexts_and_checks_come_in_known_languages_or_without_one(owner, ada, bob, browser):
    set_language(owner, "en")
    spanish = {"contexts": [{"values": {"premise": "Llueve."}, "language": "ES"}]}
    assert owner.post("/api/v1/tasks/nli/contexts", json=spanish).json()["created"] == 1
    assert ada.patch("/api/v1/me", json={"known_languages": ["es", "es", "eu"]}).json()["known_languages"] == [
        "es",
        "eu",
    ]
    context = draw(ada)
    assert context["values"] == {"premise": "Llueve."}
    example = send(ada, written(context, "No llueve not.")).json()
    assert draw(ada)["id"] == context["id"], "the only one"
    assert draw(bob)["values"], "nothing set: all"
    bob.patch("/api/v1/me", json={"known_languages": ["en"]})
    foreign = bob.post("/api/v1/tasks/nli/validations/next")
    assert foreign.status_code == 204 or foreign.json() is None, foreign.text
    page = browser()
    page.log_in("bob")
    assert "English" in page.get("/tasks/nli/validate").text
    bob.patch("/api/v1/me", json={"known_languages": []})
    if example["fooled"]:
        assert bob.post("/api/v1/tasks/nli/validations/next").json()["example_id"] == example["id"]


def test_a_task_without_a_context_in_a_known_language_says_so(owner, ada, browser):
    set_language(owner, "en")
    page = browser()
    page.log_in("ada")
    page.submit("/settings/known-languages", page="/settings", language="fr", others="xyz")
    refused = ada.post("/api/v1/tasks/nli/contexts/next")
    assert refused.status_code == 409
    assert "in a language that you know (fr, xyz)" in refused.json()["detail"]
    assert "/settings#known-title" in page.get("/tasks/nli/create").text
    assert page.submit("/settings/known-languages", page="/settings", others="english").status_code == 422
    for codes in (["english"], ["e1"], [""] * 51, [1]):
        assert ada.patch("/api/v1/me", json={"known_languages": codes}).status_code == 422, codes


def test_a_context_whose_language_is_no_code_is_refused_by_row(owner):
    rows = {"contexts": [{"values": {"premise": "Es regnet."}, "language": "Deutsch"}, {"values": {"premise": "Ja."}}]}
    answer = owner.post("/api/v1/tasks/nli/contexts", json=rows).json()
    assert answer["created"] == 1
    assert "ISO 639" in str(answer["errors"])


INSTRUCTIONS = """
instructions:
  en: {create: Write a **lie**., tips: [Negate.]}
  es: {create: Escribe una mentira., validate: Decide.}
"""


def nli_source():
    source = next(entry.source for entry in shipped_tasks() if entry.config.id == "nli")
    start, end = source.index("\ninstructions:"), source.index("\ncontext:")
    return source[:start] + INSTRUCTIONS + source[end:]


def test_instructions_are_shown_in_the_language_of_the_reader(owner, browser):
    saved = owner.post("/api/v1/tasks", json={"config": nli_source().replace("id: nli", "id: two-languages", 1)})
    assert saved.status_code in (200, 201), saved.text
    page = browser()
    english, spanish = (
        page.get("/tasks/two-languages", headers={"Accept-Language": code}).text for code in ("en", "es")
    )
    assert english.index("Write a <strong>lie") < english.index("Escribe una mentira.")
    assert spanish.index("Escribe una mentira.") < spanish.index("Write a <strong>lie")
    assert 'lang="es">' in english
    assert "Decide." in english, "what stands in one language alone is shown to all"


@pytest.mark.slow
def test_instructions_by_language_are_read_checked_and_kept():
    config = TaskConfig.parse(nli_source())
    assert (config.instructions.create, config.instructions.tips) == ("Write a **lie**.", ("Negate.",))
    assert [code for code, _texts in config.instructions.in_order("es")] == ["es", "en"]
    assert [code for code, _texts in config.instructions.in_order("fr")] == ["en", "es"]
    jsonschema.validate(yaml.safe_load(nli_source()), config_schema())
    plain = TaskConfig.parse(nli_source().replace(INSTRUCTIONS, "\ninstructions: {create: Write.}\n"))
    assert [code for code, _texts in plain.instructions.in_order("es")] == [""]
    for wrong, place in (("{en: {creat: x}}", "instructions.en.creat"), ("{en: {}, create: x}", "instructions.en")):
        with pytest.raises(Invalid) as refused:
            TaskConfig.parse(nli_source().replace(INSTRUCTIONS, f"\ninstructions: {wrong}\n"))
        assert place in refused.value.fields, refused.value.fields
