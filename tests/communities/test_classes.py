"""A class is made, joined with a code and no mail address, worked in, graded, reset."""

import csv
import io
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from dynabench import communities
from dynabench.collection.tables import Example, Retraction
from dynabench.communities.classes import joining, service
from dynabench.communities.classes.schemas import ClassIn
from dynabench.communities.classes.service import clean_code
from dynabench.communities.classes.tables import ClassStudent, SchoolClass
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.jobs import Job
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Role
from dynabench.rounds.tables import RoundPerson
from dynabench.site.app import named
from dynabench.site.community import student_removal
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written
from tests.conftest import Browser, Caller

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob


def make_class(teacher, **body):
    group = teacher.post("/api/v1/classes", json={"name": "Semantics 2", "task": "nli"} | body)
    assert group.status_code == 201, group.text
    return group.json()


def join(client, code, name, key=""):
    headers = {"Idempotency-Key": key} if key else {}
    return client.post("/api/v1/classes/join", json={"code": code, "name": name, "agree": True}, headers=headers)


def student(client, code, name):
    joined = join(client, code, name)
    assert joined.status_code == 201, joined.text
    facts = joined.json()
    person_id = client.get("/api/v1/me", headers={"Authorization": f"Bearer {facts['token']}"}).json()["id"]
    return Caller(client, facts["username"], person_id, facts["token"]), facts


def remove_those_who_leave(database):
    """Do what the worker's job does, step by step, twice: as after a crash between two steps."""
    for job in database.read(lambda session: list(session.scalars(select(Job).where(Job.kind == service.REMOVE_KIND)))):
        for _again in range(2):
            for person_id in job.payload["people"]:
                database.write(
                    student_removal._remove_student, job.payload["class"], person_id, job.payload["withdraw"]
                )


def write_and_check(students):
    """The examples that fool a model, one of each student; afterwards each student has checked one."""
    examples = []
    for caller in students:
        handout = draw(caller)
        label = handout["goal"]["label"]
        text = f"{caller.name} sees that it is {'so' if label == 'contradiction' else 'not so'}."
        sent = send(caller, written(handout, text))
        assert sent.status_code == 201, sent.text
        examples.append(sent.json()["id"])
    for caller in students:
        item = caller.post("/api/v1/tasks/nli/validations/next").json()
        voted = caller.post(f"/api/v1/examples/{item['example_id']}/validations", json={"vote": "correct"})
        assert voted.status_code == 201, voted.text
    return examples


@pytest.mark.slow
def test_a_class_of_thirty_writes_checks_is_graded_and_reset(client, ada, database):
    group = make_class(ada, goals={"examples": 1, "votes": 1}, places=30, assignment="Fool **it**.")
    code = group["join_code"]
    students = [student(client, code.upper().replace("-", " "), f"Student {number}")[0] for number in range(30)]
    assert join(client, code, "One more").status_code == 409, "no more places"
    examples = write_and_check(students)
    rows = ada.get(f"/api/v1/classes/{group['id']}/students").json()["items"]
    assert [row["examples"] for row in rows] == [1] * 30
    assert sum(row["fooled"] for row in rows) == 30
    assert [row["votes"] for row in rows] == [1] * 30
    assert {row["grade"] for row in rows} == {100.0}
    own = students[0].get(f"/api/v1/classes/{group['id']}/students").json()["items"]
    assert [row["username"] for row in own] == [students[0].name], "a student reads nobody else's line"
    assert students[0].get(f"/api/v1/classes/{group['id']}").json()["join_code"] is None

    browser = Browser(client)
    browser.log_in("ada")
    sheet = browser.get(f"/classes/{group['id']}/grades.csv").text.lstrip("\ufeff")
    table = list(csv.DictReader(io.StringIO(sheet)))
    assert len(table) == 30
    assert {row["examples_goal"] for row in table} == {"1"}
    page = browser.get(f"/classes/{group['id']}").text
    assert "Student 29" in page
    assert "<strong>it</strong>" in page
    assert code in page

    wrong = ada.post(f"/api/v1/classes/{group['id']}/reset", json={"confirm": "semantics", "withdraw_examples": True})
    assert wrong.status_code == 422
    reset = ada.post(f"/api/v1/classes/{group['id']}/reset", json={"confirm": "Semantics 2", "withdraw_examples": True})
    assert reset.status_code == 204
    assert students[0].get("/api/v1/me").status_code == 401, "logged out at once"
    assert join(client, code, "Late").status_code == 422, "the old code lets nobody in"
    remove_those_who_leave(database)
    assert ada.get(f"/api/v1/classes/{group['id']}/students").json()["items"] == []

    def leftovers(session):
        ids = [caller.id for caller in students]
        people = session.scalars(select(Person).where(Person.id.in_(ids))).all()
        return people, session.scalars(select(Retraction.example_id)).all(), session.scalars(select(ClassStudent)).all()

    people, withdrawn, rows = database.read(leftovers)
    assert all(person.deleted_at and person.username.startswith("deleted-") for person in people)
    assert sorted(withdrawn) == sorted(examples)
    assert rows == []
    assert ada.delete(f"/api/v1/classes/{group['id']}").status_code == 204


def test_a_reset_without_withdrawal_keeps_examples_under_pseudonyms(client, ada, database):
    group = make_class(ada)
    caller, _facts = student(client, group["join_code"], "Zoë")
    handout = draw(caller)
    example = send(caller, written(handout, "They might be anywhere.")).json()["id"]
    ada.delete(f"/api/v1/classes/{group['id']}/students/{caller.id}")
    remove_those_who_leave(database)

    def read_rows(session):
        return session.get(Example, example), session.get(Retraction, example), session.get(Person, caller.id)

    row, retraction, person = database.read(read_rows)
    assert row is not None
    assert retraction is None
    assert person.deleted_at is not None


def test_a_student_comes_back_with_the_personal_code_and_the_teacher_gives_another(client, ada):
    group = make_class(ada)
    caller, facts = student(client, group["join_code"], "Kim")
    again = client.post("/api/v1/classes/return", json={"code": facts["code"].upper().replace("-", "")})
    assert again.status_code == 201
    assert again.json()["username"] == caller.name
    code = ada.post(f"/api/v1/classes/{group['id']}/students/{caller.id}/code").json()["code"]
    assert client.post("/api/v1/classes/return", json={"code": facts["code"]}).status_code == 422
    assert caller.get("/api/v1/me").status_code == 401, "tokens of the earlier code end"
    assert client.post("/api/v1/classes/return", json={"code": code}).status_code == 201
    assert client.post("/api/v1/classes/return", json={"code": group["join_code"]}).status_code == 422


def test_the_same_form_twice_is_one_student_and_a_name_is_taken_once(client, ada):
    group = make_class(ada)
    first, second = (join(client, group["join_code"], "Kim", "form-1").json() for _ in range(2))
    assert first["username"] == second["username"]
    assert client.post("/api/v1/classes/return", json={"code": second["code"]}).status_code == 201
    assert join(client, group["join_code"], " kim ").status_code == 422
    assert len(ada.get(f"/api/v1/classes/{group['id']}/students").json()["items"]) == 1


def test_places_hold_when_many_join_at_once(client, ada, database):
    group = make_class(ada, places=5)

    def enter(number):
        try:
            return database.write(joining.join_class, None, group["join_code"], f"S{number}", True).person.id
        except errors.Conflict:
            return None

    with ThreadPoolExecutor(8) as threads:
        entered = list(threads.map(enter, range(12)))
    assert len([id for id in entered if id]) == 5
    assert database.read(service.count_students, group["id"]) == 5


def test_people_with_accounts_join_and_keep_them(client, ada, bob, database):
    group = make_class(ada)
    joined = bob.post("/api/v1/classes/join", json={"code": group["join_code"], "name": "Bob B."})
    assert (joined.status_code, joined.json()["code"], joined.json()["token"]) == (201, None, None)
    assert ada.post(f"/api/v1/classes/{group['id']}/students/{bob.id}/code").status_code == 409
    assert bob.get("/api/v1/classes").json()["items"][0]["name"] == "Semantics 2"
    ada.post(f"/api/v1/classes/{group['id']}/reset", json={"confirm": "Semantics 2"})
    assert bob.get("/api/v1/me").status_code == 200
    assert bob.get(f"/api/v1/classes/{group['id']}").status_code == 404
    assert ada.post("/api/v1/classes/join", json={"code": group["join_code"], "name": "Me"}).status_code == 422


def test_who_may_make_a_class(client, ada, owner):
    group = make_class(ada)
    caller, _facts = student(client, group["join_code"], "Kim")
    token = owner.post  # the site's admin may in any case
    refused = service.require_class_maker
    with pytest.raises(errors.Forbidden):
        client.app.state.db.read(lambda session: refused(session, session.get_one(Person, caller.id), "members"))
    client.app.state.settings.new_classes = "admins"
    assert ada.post("/api/v1/classes", json={"name": "Another", "task": "nli"}).status_code == 403
    assert token("/api/v1/classes", json={"name": "Another", "task": "nli"}).status_code == 201


def test_a_private_round_lets_the_class_in_and_nobody_else(client, owner, ada):
    planned = owner.client.request(
        "PUT",
        "/api/v1/tasks/nli/rounds/1/plan",
        json={"audience": {"kind": "invited"}},
        headers=owner.headers,
    )
    assert planned.status_code == 200, planned.text
    assert ada.post("/api/v1/classes", json={"name": "Mine", "task": "nli"}).status_code == 422
    assert owner.post("/api/v1/classes", json={"name": "Mine", "task": "nli"}).status_code == 422, "name the round"
    group = make_class(owner, round=1)
    caller, _facts = student(client, group["join_code"], "Kim")
    assert caller.post("/api/v1/tasks/nli/contexts/next").status_code == 200
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 403


def test_a_task_for_invited_people_gives_students_a_role(database):
    from tests.validation.world import CONFIG, World

    played = World(database)
    source = CONFIG % {"mode": "judge", "votes": 2, "cap": 5, "also": "false"}

    def close_task(session):
        from dynabench.rounds.tables import TaskVersion

        session.get_one(TaskVersion, played.version_id).source = source.replace(
            "name: Checks", "name: Checks\nannotators: invited"
        )

    database.write(close_task)

    def play(session):
        body = ClassIn(name="Closed", task="checks")
        group = service.create_class(session, session.get_one(Person, played.owner.id), "members", body)
        joined = joining.join_class(session, None, group.join_code, "Kim", True)
        return session.get(Role, ("checks", joined.person.id)), session.scalars(select(RoundPerson)).all()

    role, named = database.write(play)
    assert role is not None
    assert named == []


def test_a_visitor_joins_on_the_page_and_comes_back(client, ada, browser):
    group = make_class(ada)
    mine, other = browser(), browser()
    assert "Join code" in mine.get("/class").text
    assert mine.get("/class?code=zzzz-zzzz").status_code == 422
    door = f"/class?code={group['join_code']}"
    assert "Semantics 2" in mine.get(door).text
    refused = mine.submit("/class", page=door, code=group["join_code"], name="Kim")
    assert refused.status_code == 422
    joined = mine.submit("/class", page=door, code=group["join_code"], name="Kim", agree="yes", key="k")
    assert joined.status_code == 200
    assert "no-store" in joined.headers["cache-control"]
    page = mine.get(f"/classes/{group['id']}")
    assert "Your work" in page.text
    assert group["join_code"] not in page.text
    [code] = [word for word in joined.text.split("<p") if "class-code-text" in word]
    personal = clean_code(code.partition(">")[2].partition("<")[0])
    wrong = other.submit("/class/return", page="/class", personal="aaaa-bbbb-cccc")
    assert wrong.status_code == 422
    back = other.submit("/class/return", page="/class", personal=personal)
    assert back.headers["location"] == f"/classes/{group['id']}"
    assert other.get(f"/classes/{group['id']}").status_code == 200


@pytest.mark.slow
def test_hostile_forms_are_refused_beside_their_fields(client, ada, browser):
    mine = browser()
    mine.log_in("ada")
    for fields in (
        {"name": "", "task": "nli"},
        {"name": "A", "task": "nowhere"},
        {"name": "A", "task": "nli", "places": "301"},
        {"name": "A", "task": "nli", "examples": "-1"},
        {"name": "A", "task": "nli", "due": "soon"},
        {"name": "A", "task": "nli", "round": "77"},
        {"name": "\u0007", "task": "nli"},
    ):
        answer = mine.submit("/classes", page="/classes", **fields)
        assert answer.status_code == 422, fields
        assert 'aria-invalid="true"' in answer.text or "has-error" in answer.text, fields


@pytest.mark.slow
def test_a_teacher_who_leaves_closes_the_class_and_a_student_is_forgotten(client, ada, bob, database):
    from dynabench.site.community.service import delete_own_account

    group = make_class(ada)
    _caller, _facts = student(client, group["join_code"], "Kim")
    bob.post("/api/v1/classes/join", json={"code": group["join_code"], "name": "Bob"})
    settings = client.app.state.settings
    database.write(delete_own_account, settings, bob.id, withdraw_examples=False)
    assert [row["name"] for row in ada.get(f"/api/v1/classes/{group['id']}/students").json()["items"]] == ["Kim"]
    database.write(delete_own_account, settings, ada.id, withdraw_examples=False)
    assert join(client, group["join_code"], "Late").status_code == 422


def test_the_five_steps_of_the_documentation(client, ada, browser, database):
    """Follow `docs/how-to/class.md`, with the words that it gives for links and buttons."""
    steps = (Path(__file__).parents[2] / "docs/how-to/class.md").read_text().split("\n## ")[1:6]
    assert [step[0] for step in steps] == list("12345")
    teacher, kim = browser(), browser()
    teacher.log_in("ada")

    def is_shown(page, step, *words):
        for word in words:
            assert word in steps[step - 1], word
            assert word in page.text, word

    is_shown(teacher.get("/classes"), 1, "New class")
    fields = {"name": "Logic", "task": "nli", "assignment": "Write ten.", "examples": "10", "votes": "20"}
    group = teacher.submit("/classes", page="/classes", **fields).headers["location"]
    page = teacher.get(group)
    code = re.search(r'class-code-text mono">([^<]+)<', page.text)[1]
    is_shown(page, 4, "Close the class", "Grades (CSV)")
    is_shown(kim.get(f"/class?code={code}"), 2, "personal code")
    kim.submit("/class", page="/class", code=code, name="Kim", agree="yes")
    page = teacher.get(group)
    is_shown(page, 3, "New personal code")
    is_shown(page, 5, "Reset or delete")
    assert "Kim" in page.text
    assert teacher.submit(f"{group}/state", page=group, open="false").status_code == 303
    assert browser().get(f"/class?code={code}").status_code == 422
    sheet = teacher.get(f"{group}/grades.csv").text
    assert "Kim,student-" in sheet
    reset = teacher.submit(f"{group}/reset", page=group, confirm="Logic", withdraw_examples="true")
    assert reset.status_code == 303
    assert "being deleted" in teacher.get(group).text
    remove_those_who_leave(database)
    assert "No students yet" in teacher.get(group).text
    assert teacher.submit(f"{group}/delete", page=group).headers["location"] == "/classes"


def test_every_form_of_communities_leads_to_its_page():
    """The names of routes are shared by pages and the JSON API; a form must not be sent to the latter."""
    templates = (Path(communities.__file__).parent).rglob("templates/*.html")
    names = {name for path in templates for name in re.findall(r"""url\(["'](\w+)["']""", path.read_text())}
    assert len(names) > 40
    assert [name for name in names if any(route.path.startswith("/api/") for route in named()[name])] == []


def test_a_class_that_is_sent_twice_is_made_once(ada, database):
    first, again = make_class(ada), make_class(ada)
    assert first["id"] == again["id"]
    assert make_class(ada, name="Semantics 3")["id"] != first["id"]
    earlier = update(SchoolClass).values(created_at=now() - timedelta(minutes=2))
    database.write(lambda session: session.execute(earlier))
    assert make_class(ada)["id"] != first["id"], "another group, later"


def test_a_student_has_no_made_up_mail_address_on_pages(client, ada):
    browser = Browser(client)
    code = student(client, make_class(ada)["join_code"], "Lee")[1]["code"]
    assert browser.submit("/class/return", page="/class", personal=code).status_code == 303
    page = browser.get("/settings").text
    assert ".invalid" not in page
    assert "Send confirmation link" not in page


def test_a_student_who_reloads_or_goes_back_after_joining_is_led_on(client, ada, browser):
    group = make_class(ada)
    code, page = group["join_code"], browser()
    form = page.get("/class", params={"code": code}).text
    fields = {name: re.search(rf'name="{name}" value="([^"]+)"', form)[1] for name in ("csrf", "key")}
    fields |= {"code": code, "name": "Lee", "agree": "yes"}
    referer = {"Referer": f"http://testserver/class?code={code}"}
    assert "You joined the class" in page.client.post("/class", data=fields, headers=referer).text
    again = page.client.post("/class", data=fields, headers=referer)  # the browser's reload
    assert again.status_code == 403
    assert f'href="/class?code={code}"' in again.text, "the way back to the form"
    assert page.get("/class", params={"code": code}).headers["location"] == f"/classes/{group['id']}"
    assert "Your name in this class" in browser().get("/class", params={"code": code}).text
