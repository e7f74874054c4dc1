"""The onboarding by its pages and its API: from being turned away to the first example."""

import re
from pathlib import Path

import pytest

from dynabench.onboarding.tables import QuizAnswer
from dynabench.rounds.tables import Round, TaskVersion
from dynabench.tasks import TaskConfig, shipped_tasks
from tests.collection import conftest as world
from tests.crowd import conftest as crowd
from tests.onboarding.world import onboarding

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada = world.admin, world.owner, world.ada
make_study, worker = crowd.make_study, crowd.worker

WRITE = "/tasks/nli/onboarding/write"


@pytest.fixture
def asks(owner, database):
    """Let the open round of nli ask for an onboarding: `asks(screening=..., attempts=1)`."""

    def change(**changes):
        def write(session):
            current = session.query(Round).filter_by(task_id="nli", number=1).one()
            version = session.get_one(TaskVersion, current.version_id)
            source = re.sub(r"^instructions:.*?(?=^\w)", "", version.source, flags=re.DOTALL | re.MULTILINE)
            newest = session.query(TaskVersion).filter_by(task_id="nli").count()
            row = TaskVersion(task_id="nli", number=newest + 1, source=source + "\n" + onboarding(**changes))
            session.add(row)
            session.flush()
            current.version_id = row.id

        database.write(write)

    return change


def take_quiz(page, right):
    """Go through the quiz in a browser with so many right answers; the last page."""
    page.submit(f"{WRITE}/quiz", page=WRITE)
    while match := re.search(rf'action="({WRITE}/quiz/\d+/(\d+))"', text := page.get(WRITE).text):
        stem = "right-" if int(match[2]) <= right else "wrong-"
        option = re.search(rf'value="({stem}\d)"', text)[1]
        answer = page.submit(match[1], page=WRITE, option=option)
        explained = page.get(answer.headers["location"]).text
        assert "Secret" in explained, "each answer is explained"
    return explained


def to_quiz(page):
    for part in ("instructions", "examples"):
        assert page.submit(f"{WRITE}/read", page=WRITE, part=part).status_code == 303
    for position in (1, 2):
        text = page.submit(f"{WRITE}/practice/{position}", page=WRITE, **{"answer.label": "neutral"}).text
        assert "Right answer" in text


@pytest.mark.slow
def test_a_person_is_led_through_it_and_then_writes(asks, browser, ada):
    asks()
    page = browser()
    page.log_in("ada")
    turned_away = page.get("/tasks/nli/create")
    assert (turned_away.status_code, turned_away.headers["location"]) == (303, WRITE)
    fragment = page.get("/tasks/nli/create", headers={"HX-Request": "true"})
    assert fragment.headers["hx-redirect"] == WRITE
    assert page.get("/tasks/nli/validate").headers["location"] == "/tasks/nli/onboarding/check"
    to_quiz(page)
    text = page.get(WRITE).text
    assert "Attempt 1 of 2" in text
    assert "Secret" not in text
    assert "2 are needed" in take_quiz(page, right=1)
    assert "You passed the quiz" in take_quiz(page, right=3)
    assert "You are ready" in page.get(WRITE).text
    assert page.get("/tasks/nli/create").status_code == 200


def test_programs_get_the_address_of_the_onboarding_and_go_through_it(asks, ada, database):
    asks(practice=None, attempts=1)
    refused = ada.post("/api/v1/tasks/nli/contexts/next")
    assert (refused.status_code, refused.json()["onboarding"]) == (403, WRITE)
    path = f"/api/v1{WRITE}"
    assert ada.get(path).json()["step"] == "instructions"
    ada.post(f"{path}/reading", json={"part": "instructions"})
    ada.post(f"{path}/reading", json={"part": "examples"})
    question = ada.post(f"{path}/attempts", json={}).json()["question"]
    while question is not None:
        option = next(option for option in question["options"] if option.startswith("right"))
        body = {"position": question["position"], "option": option}
        address = f"{path}/attempts/{question['attempt_id']}/answers"
        answered = ada.post(address, json=body).json()
        assert ada.post(address, json=body | {"option": "wrong-0"}).json() == answered, "the first answer stands"
        question = ada.get(path).json()["question"]
    assert answered["passed"]
    assert ada.get(path).json()["qualified"]
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 200
    assert database.read(lambda session: session.query(QuizAnswer).count()) == 3


def test_the_answers_of_the_bank_are_for_owners_alone(asks, ada, client):
    asks()
    for address in ("/api/v1/tasks/nli", WRITE, "/tasks/nli", f"/api/v1{WRITE}"):
        for caller in (ada, client):
            assert "right-0" not in caller.get(address).text


@pytest.mark.slow
def test_a_worker_who_fails_the_quiz_goes_back_with_its_code(asks, make_study, worker):
    asks(attempts=1)
    study = make_study(settings={"codes": {"failed_quiz": "NOQUIZ"}})
    page = worker(study, "w1")
    assert page.get("/tasks/nli/create").headers["location"] == WRITE
    to_quiz(page)
    assert 'class="study-bar"' in page.get(WRITE).text
    text = take_quiz(page, right=0)
    assert "Back to your study" in text
    assert page.get(WRITE).headers["location"] == study.page
    assert "NOQUIZ" in page.get(study.page).text


@pytest.mark.slow
def test_a_worker_who_is_screened_out_goes_back_with_its_code(asks, make_study, worker):
    asks(screening="[{name: adult, question: Of **age**, options: [yes please, no sir], accept: [yes please]}]")
    study = make_study(settings={"codes": {"screened_out": "NOTYOU"}})
    page = worker(study, "w1")
    refused = page.submit(f"{WRITE}/screening", page=WRITE)
    assert refused.status_code == 422
    assert "Of <strong>age</strong>" in refused.text
    page.submit(f"{WRITE}/screening", page=WRITE, **{"screening.adult": "no sir"})
    assert "NOTYOU" in page.get(study.page).text
    assert "NOTYOU" in worker(study, "w1", agree=False).get(study.page).text, "also when they come again"


@pytest.mark.slow
def test_owners_see_how_far_people_came_and_let_them_try_again(asks, browser, ada, owner):
    asks(attempts=1)
    page, console = browser(), browser()
    page.log_in("ada")
    console.log_in("root")
    to_quiz(page)
    take_quiz(page, right=0)
    assert "You have used your one attempt" in page.get(WRITE).text
    manage = "/tasks/nli/manage/onboarding"
    text = console.get(manage).text
    assert "not passed" in text
    [person] = owner.get("/api/v1/tasks/nli/onboarded").json()["items"]
    assert (person["username"], person["state"], person["best"]) == ("ada", "failed", 0)
    assert console.get(f"{manage}/questions.csv").text.count("0.0") >= 3
    console.submit(f"{manage}/people/{ada.id}/write/allow", page=manage)
    take_quiz(page, right=3)
    assert owner.get("/api/v1/tasks/nli/onboarded").json()["items"][0]["state"] == "qualified"
    assert owner.delete(f"/api/v1/tasks/nli/onboarded/{ada.id}/write").status_code == 204
    assert page.get("/tasks/nli/create").status_code == 303
    console.submit(f"{manage}/people/{ada.id}/write/grant", page=manage)
    assert page.get("/tasks/nli/create").status_code == 200


def test_the_section_of_the_guide_fits_the_built_in_task():
    guide = Path(__file__).parents[2] / "docs/how-to/onboarding.md"
    section = re.search(r"```yaml\n(.*?)```", guide.read_text(), re.DOTALL)[1]
    [source] = [shipped.source for shipped in shipped_tasks() if shipped.config.id == "nli"]
    assert TaskConfig.parse(f"{source}\n{section}").onboarding.questions
