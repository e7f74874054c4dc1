"""Releases name people and teams only as they chose."""

from dynabench.benchmark.releases.documents import _listing
from dynabench.communities.credits import service
from dynabench.communities.credits.tables import CreditMode
from dynabench.communities.teams import service as teams
from dynabench.communities.teams.schemas import TeamChangeIn, TeamIn
from dynabench.people.accounts.tables import Person
from tests.collection import conftest as world
from tests.conftest import Browser
from tests.validation.world import World

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob


def test_thanks_name_those_who_took_part_and_chose_it(database):
    played = World(database, votes=1, cap=1)
    writer, checker, silent, idle = (played.person() for _ in range(4))

    def choose(session):
        service.choose_credit(session, session.get_one(Person, writer.id), CreditMode.NAME, "  Ada *Lovelace* ")
        session.get_one(Person, checker.id).pseudonym = "the countess"
        for person in (checker, idle):
            service.choose_credit(session, session.get_one(Person, person.id), CreditMode.PSEUDONYM, "ignored")
        service.choose_credit(session, session.get_one(Person, silent.id), CreditMode.NONE, "")
        for person, name, thanked in ((writer, "Otters", True), (silent, "Newts", False), (idle, "Herons", True)):
            captain = session.get_one(Person, person.id)
            team = teams.create_team(session, captain, TeamIn(name=name))
            teams.change_team(session, captain, team.id, TeamChangeIn(thanked=thanked))

    database.write(choose)
    example = played.example(writer)
    played.example(silent)
    played.vote(checker, example, "correct")
    people, named_teams = database.read(service.thanks_for, played.round_id)
    assert people == ["Ada *Lovelace*", "the countess"]
    assert named_teams == ["Otters"]
    assert _listing([*people, "Eve"]) == "Ada \\*Lovelace\\*, the countess and Eve"
    database.write(service.forget_person, writer.id)
    assert database.read(service.thanks_for, played.round_id)[0] == ["the countess"]


def test_a_person_chooses_on_the_page_and_by_the_api(client, ada):
    assert ada.get("/api/v1/me/credit").json() == {"mode": "none", "name": ""}
    browser = Browser(client)
    browser.log_in("ada")
    page = "/settings/credit"
    assert browser.submit(page, page=page, mode="name", name=" ").status_code == 422
    assert browser.submit(page, page=page, mode="loud").status_code == 422
    assert browser.submit(page, page=page, mode="name", name="Ada Lovelace").status_code == 303
    assert ada.get("/api/v1/me/credit").json() == {"mode": "name", "name": "Ada Lovelace"}
    changed = ada.request("PUT", "/api/v1/me/credit", json={"mode": "pseudonym"})
    assert changed.json() == {"mode": "pseudonym", "name": ""}
