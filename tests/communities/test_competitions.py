"""A competition of four teams: entered, written in within the budget, checked by others, frozen, ranked, reported."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from hypothesis import given as each_of
from hypothesis import strategies
from sqlalchemy import func, select

from dynabench.collection.tables import Example
from dynabench.communities.competitions import ranking, service
from dynabench.communities.competitions.schemas import CompetitionIn
from dynabench.communities.competitions.tables import Competition, CompetitionEntry, CompetitionExample
from dynabench.communities.teams import service as teams
from dynabench.kit.db import now
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round
from dynabench.site.community.service import delete_own_account
from dynabench.validation import places
from tests.collection import conftest as world
from tests.collection.conftest import draw, send, written
from tests.conftest import Browser, register

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob

NAMES = ("Otters", "Herons", "Badgers", "Newts")


def make_team(client, name, *members):
    captain = members[0]
    team = captain.post("/api/v1/teams", json={"name": name})
    assert team.status_code == 201, team.text
    secret = captain.post(f"/api/v1/teams/{team.json()['id']}/link").json()["secret"]
    for member in members[1:]:
        assert member.post("/api/v1/teams/join", json={"secret": secret}).status_code == 200
    return team.json()["id"]


def make_competition(owner, **body):
    start = now() - timedelta(minutes=1)
    facts = {"name": "Cup", "round": 1, "budget": 3, "least_examples": 2, "most_members": 3, "rules": "Be **fair**."}
    facts |= {"starts_at": start.isoformat(), "ends_at": (start + timedelta(days=7)).isoformat()}
    answer = owner.post("/api/v1/tasks/nli/competitions", json=facts | body)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def count_checks(client, member):
    def read(session):
        return places.count_checks(session, session.get_one(Person, member.id), "nli")

    return client.app.state.db.read(read)


def end(client, competition, **columns):
    moved = {"ends_at": now()} | columns

    def change(session):
        row = session.get_one(Competition, competition)
        for name, value in moved.items():
            setattr(row, name, value)

    client.app.state.db.write(change)


@pytest.fixture
def crowd(client, owner):
    """Two people for each of the four teams, and the teams' numbers."""
    people = [register(client, f"player{number}") for number in range(8)]
    ids = [make_team(client, name, *people[2 * place : 2 * place + 2]) for place, name in enumerate(NAMES)]
    return people, ids


def enter_all(crowd, competition):
    people, ids = crowd
    for place, team in enumerate(ids):
        entered = people[2 * place].post(f"/api/v1/competitions/{competition}/entries", json={"team": team})
        assert entered.status_code == 204, entered.text


def use_budgets(people, ids):
    """Each team's three examples, by team: all that its budget allows."""
    examples = {}
    for place, team in enumerate(ids):
        examples[team] = []
        for number in range(3):
            author = people[2 * place + number % 2]
            handout = draw(author)
            label = handout["goal"]["label"]
            text = f"{NAMES[place]} {number} say that it is {'so' if label == 'contradiction' else 'not so'}."
            sent = send(author, written(handout, text))
            assert sent.status_code == 201, sent.text
            assert sent.json()["fooled"] is True
            examples[team].append(sent.json()["id"])
        refused = people[2 * place].post("/api/v1/tasks/nli/contexts/next")
        assert refused.status_code == 409, "the budget is used"
    return examples


def draw_all(member):
    """The examples that a member is given to check until none is left."""
    checked = set()
    for _ in range(20):
        item = member.post("/api/v1/tasks/nli/validations/next")
        if item.status_code == 204:
            break
        checked.add(item.json()["example_id"])
        member.post(f"/api/v1/examples/{item.json()['example_id']}/skip")
    assert checked
    return checked


@pytest.mark.slow
def test_four_teams_compete_to_the_final_report(client, owner, crowd, ada):
    competition = make_competition(owner)
    people, ids = crowd
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 403, "nobody writes without a team"
    assert people[1].post(f"/api/v1/competitions/{competition}/entries", json={"team": ids[0]}).status_code == 403
    enter_all(crowd, competition)
    examples = use_budgets(people, ids)
    own = people[1].post(f"/api/v1/examples/{examples[ids[0]][0]}/validations", json={"vote": "correct"})
    assert own.status_code == 403, "a member does not check the team's own examples"
    assert count_checks(client, people[1]) == 9, "nor are they counted for the member"
    checked = draw_all(people[1])
    assert not checked & set(examples[ids[0]])
    assert (len(checked), count_checks(client, people[1])) == (9, 0)
    for place, team in enumerate(ids[:3]):
        for number, example in enumerate(examples[team]):
            vote = "correct" if number < 3 - place else "incorrect"
            voted = owner.post(f"/api/v1/examples/{example}/validations", json={"vote": vote, "as_owner": True})
            assert voted.status_code == 201, voted.text
    gone = people[6].post(f"/api/v1/examples/{examples[ids[3]][0]}/retract")
    assert gone.status_code in (200, 204)
    board = client.get(f"/api/v1/competitions/{competition}/board").json()["items"]
    assert [(line["name"], line["verified"], line["spent"]) for line in board] == [
        *(("Otters", 3, 3), ("Herons", 2, 3), ("Badgers", 1, 3), ("Newts", 0, 3)),
    ]
    assert [line["pending"] for line in board] == [0, 0, 0, 2]
    assert board[3]["vmer"]["n"] == 3, "a withdrawn example counts as a failure"
    assert all(line["rank_low"] <= line["rank_high"] for line in board)

    assert owner.post(f"/api/v1/competitions/{competition}/finish", json={}).status_code == 409, "not ended"
    end(client, competition)
    assert people[0].post("/api/v1/tasks/nli/contexts/next").status_code == 409
    waiting = owner.post(f"/api/v1/competitions/{competition}/finish", json={})
    assert (waiting.status_code, waiting.json()["pending"]) == (409, 2)
    done = owner.post(f"/api/v1/competitions/{competition}/finish", json={"despite_pending": True})
    assert done.status_code == 200, done.text
    report = client.get(f"/api/v1/competitions/{competition}/report").json()
    assert report == done.json()
    assert (report["examples"], report["pending"]) == (12, 2)
    text = client.get(f"/competitions/{competition}/report.md").text
    assert "| Otters | 3 | 3 | 3 | 100.0 % |" in text
    sheet = client.get(f"/competitions/{competition}/board.csv").text.lstrip("\ufeff")
    assert [row["team"] for row in csv.DictReader(io.StringIO(sheet))] == list(NAMES)
    page = client.get(f"/competitions/{competition}").text
    assert "Final ranking" in page
    assert "<strong>fair</strong>" in page
    notices = people[7].get("/api/v1/me/notices").json()["items"]
    assert any("Cup" in notice["text"] for notice in notices)
    late = owner.post(f"/api/v1/examples/{examples[ids[3]][1]}/validations", json={"vote": "correct", "as_owner": True})
    assert late.status_code == 201
    assert client.get(f"/api/v1/competitions/{competition}/report").json() == report, "the report never changes"


@pytest.mark.slow
def test_budgets_hold_when_members_post_at_once(client, owner, crowd, database):
    competition = make_competition(owner, budget=4)
    enter_all(crowd, competition)
    people, ids = crowd
    drafts = []
    for caller in people[:2]:
        for number in range(5):
            handout = draw(caller)
            body = written(handout, f"It is {caller.name} number {number}.", handout=handout["handout"])
            drafts.append((caller, body, f"{caller.name}-{number}"))
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(lambda draft: send(draft[0], draft[1], key=draft[2]), drafts))
    assert sorted(answer.status_code for answer in answers) == [201] * 4 + [409] * 6, answers[0].text
    assert sorted(answer.status_code for answer in answers) == [201] * 4 + [409] * 6
    sent = next(draft for draft, answer in zip(drafts, answers, strict=True) if answer.status_code == 201)
    assert send(sent[0], sent[1], key=sent[2]).status_code == 201, "the same request is answered again"

    def counts(session):
        spent = session.get_one(CompetitionEntry, (competition, ids[0])).spent
        return spent, *(
            session.scalar(select(func.count()).select_from(table)) for table in (Example, CompetitionExample)
        )

    assert database.read(counts) == (4, 4, 4)


def test_a_person_writes_for_one_team_and_a_team_has_few_writers(client, owner, database):
    people = [register(client, f"writer{number}") for number in range(3)]
    first, second = make_team(client, "First", *people), make_team(client, "Second", people[0])
    competition = make_competition(owner, budget=9, most_members=2)
    for team in (first, second):
        assert people[0].post(f"/api/v1/competitions/{competition}/entries", json={"team": team}).status_code == 204
    for caller in people[:2]:
        assert send(caller, written(draw(caller), f"{caller.name} was here.")).status_code == 201
    full = send(people[2], written(draw(people[2]), "One too many."))
    assert full.status_code == 409
    people[0].delete(f"/api/v1/teams/{first}/members/{people[0].id}")
    moved = people[0].post("/api/v1/tasks/nli/contexts/next")
    assert moved.status_code == 403, "who wrote for one team cannot take the budget of another"
    withdrawn = people[1].delete(f"/api/v1/competitions/{competition}/entries/{first}")
    assert withdrawn.status_code == 204, "the next captain"
    board = client.get(f"/api/v1/competitions/{competition}/board").json()["items"]
    assert [(line["name"], line["reason"]) for line in board] == [
        ("Second", "too few examples"),
        ("First", "withdrawn"),
    ]
    assert people[1].post("/api/v1/tasks/nli/contexts/next").status_code == 403


def test_there_is_no_sandbox_and_no_visitor_in_a_competition(client, owner, crowd):
    competition = make_competition(owner)
    enter_all(crowd, competition)
    people, _ids = crowd
    handout = draw(people[0])
    tried = send(people[0], written(handout, "Is it not so?") | {"sandbox": True})
    assert tried.status_code == 403
    assert client.post("/api/v1/tasks/nli/contexts/next").status_code == 401


def test_the_first_page_stands_while_a_competition_is_open(client, owner, browser):
    make_competition(owner)
    visitor, member = browser(), browser()
    member.join("mia")
    for page in (visitor, member):
        answer = page.get("/")
        assert answer.status_code == 200
        assert page.get("/?try=nli").status_code == 200
        assert 'action="/try"' in answer.text, "another task's box"


@pytest.mark.parametrize("freeze", ["frozen", "hidden"])
def test_a_freeze_keeps_the_last_hours_to_the_owner(client, owner, crowd, freeze):
    moment = (now() + timedelta(days=1)).isoformat()
    competition = make_competition(owner, freeze=freeze, freeze_at=moment)
    enter_all(crowd, competition)
    people, _ids = crowd
    example = send(people[0], written(draw(people[0]), "Early, not late.")).json()["id"]
    end(client, competition, ends_at=now() + timedelta(days=2), freeze_at=now())
    send(people[0], written(draw(people[0]), "Late, not early."))
    owner.post(f"/api/v1/examples/{example}/validations", json={"vote": "correct", "as_owner": True})
    board = client.get(f"/api/v1/competitions/{competition}/board").json()
    inside = owner.get(f"/api/v1/competitions/{competition}/board").json()["items"]
    assert max(line["spent"] for line in inside) == 2
    if freeze == "hidden":
        assert (board["items"], board["hidden"]) == ([], True)
        assert "hidden until the final report" in client.get(f"/competitions/{competition}").text
        assert "Otters" not in client.get(f"/competitions/{competition}/board.csv").text
    else:
        assert max(line["spent"] for line in board["items"]) == 1
        assert max(line["verified"] for line in board["items"]) == 0, "votes after the freeze are not shown"
        assert "frozen" in client.get(f"/competitions/{competition}").text


@pytest.mark.slow
def test_what_cannot_be_made_or_changed(client, owner, crowd, ada):
    start = now() + timedelta(days=1)
    facts = {
        "name": "Cup",
        "round": 1,
        "starts_at": start.isoformat(),
        "ends_at": (start + timedelta(days=1)).isoformat(),
    }
    for wrong in (
        {"round": 9},
        {"name": " "},
        {"ends_at": (start - timedelta(days=3)).isoformat()},
        {"ends_at": start.isoformat()},
        {"budget": 5, "least_examples": 6},
        {"freeze": "frozen"},
        {"freeze": "hidden", "freeze_at": (start + timedelta(days=9)).isoformat()},
        {"budget": 0},
    ):
        assert owner.post("/api/v1/tasks/nli/competitions", json=facts | wrong).status_code == 422, wrong
    assert ada.post("/api/v1/tasks/nli/competitions", json=facts).status_code == 403
    competition = make_competition(owner, starts_at=start.isoformat(), ends_at=(start + timedelta(days=1)).isoformat())
    assert owner.post("/api/v1/tasks/nli/competitions", json=facts).status_code == 422, "one for each round"
    enter_all(crowd, competition)
    people, _ids = crowd
    assert people[0].post("/api/v1/tasks/nli/contexts/next").status_code == 409, "not yet"
    address = f"/api/v1/competitions/{competition}"
    assert owner.patch(address, json={"budget": 7, "least_examples": 3}).json()["budget"] == 7
    end(client, competition, starts_at=now(), ends_at=now() + timedelta(days=1))
    assert owner.patch(address, json={"budget": 8}).status_code == 422
    assert owner.patch(address, json={"rules": "New."}).status_code == 200
    assert send(people[0], written(draw(people[0]), "It counts.")).status_code == 201
    assert owner.delete(address).status_code == 409


def test_a_deleted_competition_leaves_a_usual_round(client, owner, ada):
    competition = make_competition(owner)
    assert owner.delete(f"/api/v1/competitions/{competition}").status_code == 204
    assert ada.post("/api/v1/tasks/nli/contexts/next").status_code == 200


@pytest.mark.slow
def test_pages_of_a_competition_are_played_in_the_browser_of_a_captain(client, owner, crowd):
    _people, ids = crowd
    chief, captain = Browser(client), Browser(client)
    chief.log_in("root")
    captain.log_in("player0")
    start, finish = now() - timedelta(hours=1), now() + timedelta(days=1)
    page = "/tasks/nli/manage/competitions"
    form = {"name": "Cup", "round": "1", "budget": "2", "most_members": "2", "freeze": "live"}
    form |= {"starts_at": f"{start:%Y-%m-%dT%H:%M}", "ends_at": f"{finish:%Y-%m-%dT%H:%M}"}
    assert chief.submit(page, page=page, **(form | {"budget": "many"})).status_code == 422
    address = chief.submit(page, page=page, **form).headers["location"]
    assert "Enter the team" in captain.get(address).text
    assert captain.submit(f"{address}/enter", page=address, team=str(ids[0])).status_code == 303
    assert "You write for Otters." in captain.get(address).text
    assert captain.submit(f"{address}/enter", page=address, team=str(ids[1])).status_code == 403
    assert captain.submit(f"{address}/withdraw", page=address, team=str(ids[0])).status_code == 303
    assert "withdrawn" in captain.get(address).text
    assert "Cup" in client.get("/competitions").text
    end(client, int(address.rpartition("/")[2]))
    assert "Finish the competition" in chief.get(address).text
    assert chief.submit(f"{address}/finish", page=address).status_code == 303
    assert "Report (Markdown)" in client.get(address).text


@pytest.mark.slow
def test_an_account_that_is_deleted_leaves_its_team_and_the_ranking_stays(client, owner, crowd, database):
    competition = make_competition(owner)
    enter_all(crowd, competition)
    people, ids = crowd
    assert send(people[0], written(draw(people[0]), "It is not mine.")).status_code == 201
    database.write(delete_own_account, client.app.state.settings, people[0].id, withdraw_examples=False)
    board = client.get(f"/api/v1/competitions/{competition}/board").json()["items"]
    assert {line["name"]: line["spent"] for line in board}["Otters"] == 1
    assert database.read(teams.captain_of, ids[0]) == people[1].id


@pytest.mark.slow
@each_of(strategies.lists(strategies.lists(strategies.booleans(), min_size=5, max_size=30), min_size=1, max_size=5))
def test_places_cover_the_order_of_the_shares(outcomes):
    ranks = ranking.rank_outcomes(outcomes)
    shares = [sum(team) / len(team) for team in outcomes]
    for place, rank in enumerate(ranks):
        better = sum(share > shares[place] for share in shares)
        equal = sum(share == shares[place] for share in shares)
        assert rank.low <= better + 1
        assert rank.high >= better + equal


def test_clear_differences_are_ranked_apart_and_chance_is_not():
    clear = ranking.rank_outcomes([[True] * 90 + [False] * 10, [True] * 40 + [False] * 60])
    assert [(rank.low, rank.high) for rank in clear] == [(1, 1), (2, 2)]
    close = ranking.rank_outcomes([[True] * 52 + [False] * 48, [True] * 50 + [False] * 50])
    assert [(rank.low, rank.high) for rank in close] == [(1, 2), (1, 2)]


def test_a_competition_needs_a_round_without_examples(client, owner, ada, database):
    assert send(ada, written(draw(ada), "It is not new.")).status_code == 201
    body = CompetitionIn(name="Cup", round=1, starts_at=now(), ends_at=now() + timedelta(days=1))
    with pytest.raises(service.errors.Invalid):
        database.write(
            lambda session: service.create_competition(session, session.get_one(Person, owner.id), "nli", body)
        )
    assert not database.read(lambda session: session.scalar(select(Round.competition).where(Round.task_id == "nli")))
