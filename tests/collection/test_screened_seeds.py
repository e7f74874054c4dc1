"""Seeds that fool a round's targets already: found when they are drawn, marked, and handed out to nobody."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, insert, select, update

from dynabench.collection import seeds
from dynabench.collection.handout_tables import Handout, Seed, SeedPrediction
from dynabench.rounds.plan import PlannedRound
from dynabench.rounds.queries import KEYS
from dynabench.rounds.tables import Round
from dynabench.validation.rebuild import rebuild_all
from tests.collection.conftest import draw, send
from tests.collection.oip import Rule

FEEL = """
id: feel
name: Feel
input: {name: statement, type: text}
answer: {name: label, type: choice, options: [positive, neutral, negative]}
start: {kinds: [seed]}
validate: {votes: 1}
"""
FRAGMENT = {"headers": {"HX-Request": "true"}}
PLAN = "/api/v1/tasks/feel/rounds/1/plan"


def fooling(number):
    """A seed that `sentiment-a` gets wrong: it calls negative what has no "good" in it."""
    return {"input": {"statement": f"Splendid {number}."}, "answer": {"label": "positive"}}


def harmless(number):
    return {"input": {"statement": f"Dull {number}."}, "answer": {"label": "negative"}}


@pytest.fixture
def feel(owner, rules):
    """Make the task with these seeds and an open round against these targets."""
    rules.rules["sentiment-b"] = Rule("sentiment-b", "sentiment", lambda _: "positive")

    def make(rows, targets=("sentiment-a",), **more):
        assert owner.post("/api/v1/tasks", json={"config": FEEL}).status_code == 201
        assert owner.post("/api/v1/tasks/feel/seeds", json={"seeds": rows}).json()["errors"] == []
        opened = owner.post("/api/v1/tasks/feel/rounds", json={"targets": [*targets], **more})
        assert opened.status_code == 201, opened.text

    return make


def text_of(handout):
    return handout["initial"].get("statement", "")


def marked(database):
    """Texts of the seeds that are marked as fooling, with the number of the round."""
    query = select(Seed.input, Round.number).join(Round, Round.id == Seed.fooled_round)
    return {row.input["statement"]: row.number for row in database.read(lambda s: s.execute(query).all())}


@pytest.mark.slow
def test_no_draw_hands_out_a_seed_that_fools_and_the_others_are_used_evenly(feel, ada, rules, database):
    feel([*map(fooling, range(5)), *map(harmless, range(4)), {"input": {"statement": "Answerless."}}])
    good_texts = {f"Dull {number}." for number in range(4)} | {"Answerless."}
    drawn = Counter()
    for turn in range(15):
        handout = draw(ada, "feel")
        drawn[text_of(handout)] += 1
        body = {"context_id": handout["id"], "input": {"statement": f"{text_of(handout)} {turn}"}}
        answer = send(ada, body | {"answer": {"label": "neutral"}, "handout": handout["handout"]}, task="feel")
        assert answer.status_code == 201, answer.text
    assert set(drawn) - {""} == good_texts
    if "" not in drawn:  # no hand-out met four fooling seeds in a row
        assert set(drawn.values()) == {3}
        used = database.read(lambda s: s.execute(select(Seed.input, Seed.used)).all())
        assert {row.input["statement"] for row in used if row.used == 3} == good_texts
        assert {row.used for row in used} == {0, 3}
    questions = Counter(
        inputs["statement"] for inputs in rules.rules["sentiment-a"].seen if inputs["statement"][-1] == "."
    )
    assert set(questions.values()) == {1}, "each seed is asked about once"
    marks = marked(database)
    assert all(text.startswith("Splendid") and number == 1 for text, number in marks.items())
    before = database.read(lambda s: s.execute(select(Seed.id, Seed.used, Seed.fooled_round)).all())
    rebuild_all(database)
    assert database.read(lambda s: s.execute(select(Seed.id, Seed.used, Seed.fooled_round)).all()) == before


def test_where_all_seeds_fool_the_handout_begins_blank_after_few_questions(feel, ada, client, rules, database):
    feel([*map(fooling, range(6))])
    visitor = client.post("/api/v1/tasks/feel/contexts/next").json()
    assert (visitor["start"], visitor["seed"], visitor["initial"]) == ("blank", None, {})
    assert len(rules.rules["sentiment-a"].seen) == 4
    handout = draw(ada, "feel")
    assert (handout["start"], handout["seed"]) == ("blank", None)
    assert len(rules.rules["sentiment-a"].seen) == 6, "the other two"
    assert draw(ada, "feel")["start"] == "blank"
    assert len(rules.rules["sentiment-a"].seen) == 6
    assert set(marked(database).values()) == {1}
    assert len(marked(database)) == 6
    body = {"context_id": handout["id"], "input": {"statement": "Anything."}, "answer": {"label": "positive"}}
    assert send(ada, body | {"handout": handout["handout"]}, task="feel").status_code == 201


@pytest.mark.slow
def test_the_owner_reads_how_many_and_may_hand_them_out_all_the_same(feel, ada, owner, browser, database):
    feel([fooling(1), fooling(2), harmless(1)])
    assert {text_of(draw(ada, "feel")) for _ in range(6)} == {"Dull 1."}
    as_owner = browser()
    as_owner.log_in(owner.name)
    page = as_owner.get("/tasks/feel/manage/rounds/1").text
    assert "2 of 3 already fool the targets and are not handed out" in page
    assert as_owner.submit("/tasks/feel/manage/rounds/1/plan", page="/settings", seeds="all").status_code == 303
    assert 'value="all" checked' in as_owner.get("/tasks/feel/manage/rounds/1/plan").text
    assert {text_of(draw(ada, "feel")) for _ in range(20)} == {"Splendid 1.", "Splendid 2.", "Dull 1."}
    assert marked(database) == {}
    copy = owner.post("/api/v1/tasks/feel/rounds/1/clone", json={}).json()
    assert copy["plan"]["seeds"] == "all"
    assert owner.request("PUT", PLAN, json={"seeds": "few"}).status_code == 422
    assert owner.request("PUT", PLAN, json={}).status_code == 200
    assert {text_of(draw(ada, "feel")) for _ in range(6)} == {"Dull 1."}, "from the answers that are stored"


@pytest.mark.slow
def test_another_round_with_other_targets_hands_out_other_seeds(feel, ada, owner, rules, database):
    feel([fooling(1), harmless(1)])
    assert {text_of(draw(ada, "feel")) for _ in range(5)} == {"Dull 1."}
    assert owner.post("/api/v1/tasks/feel/rounds/1/close").status_code == 200
    opened = owner.post("/api/v1/tasks/feel/rounds", json={"targets": ["sentiment-b"]})
    assert opened.status_code == 201
    assert {text_of(draw(ada, "feel")) for _ in range(5)} == {"Splendid 1."}
    assert marked(database) == {"Dull 1.": 2}


@pytest.mark.parametrize(("ensemble", "expected"), [("any", {""}), ("all", {"Splendid 1.", "Dull 1."})])
def test_the_ensemble_decides_as_in_the_live_loop(feel, ada, ensemble, expected):
    feel([fooling(1), harmless(1)], ["sentiment-a", "sentiment-b"], ensemble=ensemble)
    assert {text_of(draw(ada, "feel")) for _ in range(6)} == expected


def test_the_arms_of_a_round_draw_from_the_same_seeds(feel, ada, rules, database):
    arms = [{"name": "live"}, {"name": "control", "targets": "none"}]
    feel([fooling(1), harmless(1)], arms=arms)
    handed = [draw(ada, "feel") for _ in range(12)]
    assert {handout["arm"] for handout in handed} == {"live", "control"}
    assert {text_of(handout) for handout in handed} == {"Dull 1."}
    answers = {handout["arm"]: len(handout["seed"]["predictions"]) for handout in handed}
    assert answers == {"live": 1, "control": 0}, "asked about the seed, and not shown where no model is"
    assert len(rules.rules["sentiment-a"].seen) == 2


def test_the_first_page_stands_where_a_task_has_no_seeds_yet(feel, browser):
    feel([])
    assert browser().get("/?try=feel").status_code == 200


@pytest.mark.parametrize("good", [0, 1, 3])
def test_no_page_shows_a_seed_that_fools_whichever_way_it_is_reached(feel, ada, browser, client, rules, good):
    feel([*map(fooling, range(6 - good)), *map(harmless, range(good))], targets=["sentiment-a"])
    visitor, member = browser(), browser()
    member.log_in(ada.name)
    questions = rules.rules["sentiment-a"].seen
    try_box = visitor.get("/try?task=feel", **FRAGMENT).text
    assert 'name="input.statement"' in try_box
    assert not questions
    assert "Splendid" not in try_box
    assert "Dull" not in try_box, "nobody knows yet whether it fools, and the try box asks no model"
    texts = []
    for _ in range(4):
        texts.append(visitor.get("/tasks/feel/create").text)
        texts.append(visitor.get("/tasks/feel/create?sandbox=1").text)
        texts.append(member.get("/tasks/feel/create").text)
        assert member.submit("/tasks/feel/context", page="/tasks/feel/create").status_code == 303
        texts.append(member.get("/tasks/feel/create").text)
        texts.append(visitor.get("/try?task=feel", **FRAGMENT).text)
        texts.append(str(client.post("/api/v1/tasks/feel/contexts/next").json()))
        texts.append(str(draw(ada, "feel")))
    assert not [text for text in texts if "Splendid" in text]
    assert any("Dull" in text for text in texts) == bool(good)


def test_what_an_example_was_written_on_stays_when_its_seed_is_known_to_fool(feel, ada, owner, browser):
    feel([fooling(1), harmless(1)])
    assert owner.request("PUT", PLAN, json={"seeds": "all"}).status_code == 200
    handout = draw(ada, "feel")
    while text_of(handout) != "Splendid 1.":
        handout = draw(ada, "feel")
    body = {"context_id": handout["id"], "input": {"statement": "Splendid, 1."}, "answer": {"label": "positive"}}
    assert send(ada, body | {"handout": handout["handout"]}, task="feel").status_code == 201
    assert owner.request("PUT", PLAN, json={}).status_code == 200
    as_ada = browser()
    as_ada.log_in(ada.name)
    assert "Splendid 1." in as_ada.get("/tasks/feel/create").text
    assert {text_of(draw(ada, "feel")) for _ in range(6)} == {"Dull 1."}


def test_a_silent_host_refuses_as_before_and_the_handout_is_mended_later(feel, ada, rules, database):
    feel([fooling(1), fooling(2)])
    target = rules.rules["sentiment-a"]
    target.status = 500
    assert ada.post("/api/v1/tasks/feel/contexts/next").status_code == 503
    assert marked(database) == {}
    target.status = 200
    assert draw(ada, "feel")["start"] == "blank"
    assert len(marked(database)) == 2


@pytest.mark.slow
def test_two_people_at_once_and_a_second_window_meet_no_seed_that_fools(feel, ada, bob, rules, database):
    feel([*map(fooling, range(3)), *map(harmless, range(2))])
    target = rules.rules["sentiment-a"]
    target.gate.clear()
    with ThreadPoolExecutor(4) as pool:
        drawn = [pool.submit(draw, caller, "feel") for caller in (ada, bob, ada, bob)]
        assert target.was_called.wait(5)
        target.gate.set()
        handouts = [item.result() for item in drawn]
    assert not any(text_of(item).startswith("Splendid") for item in handouts)
    assert len({item["handout"] for item in handouts}) == 4
    rows = database.read(lambda s: s.execute(select(Handout.start, Handout.initial)).all())
    assert len(rows) == 4, "a seed is replaced on its hand-out"
    assert not any(row.initial.get("statement", "").startswith("Splendid") for row in rows)
    twice = database.read(lambda s: s.scalar(select(func.count()).select_from(SeedPrediction)))
    assert twice <= 5


def test_marks_of_earlier_rounds_are_taken_back_little_by_little(feel, ada, database):
    feel([harmless(0)])
    open_round, context = database.read(
        lambda s: (s.scalar(select(Round.id)), s.scalar(select(Seed.context_id).limit(1)))
    )
    rng = random.Random(7)
    rows = [
        {"task_id": "feel", "context_id": context, "input": {"statement": f"Old {number}."}, "answer": None,
         "digest": f"{number:064d}", "draw": rng.randint(0, KEYS), "fooled_round": open_round + 1 + number % 3}
        for number in range(500)
    ]  # fmt: skip
    database.write(lambda s: s.execute(insert(Seed), rows))
    database.write(lambda s: s.execute(update(Seed).where(Seed.digest.not_like("0%")).values(fooled_round=open_round)))
    picked = database.read(seeds.pick, "feel", rng, round_id=open_round)
    assert picked.input["statement"].startswith("Old"), "also in the sandbox, which changes nothing"
    remaining = []
    for _ in range(3):
        database.write(seeds.remove_older_marks, "feel", open_round)
        remaining.append(
            len(database.read(lambda s: s.scalars(select(Seed.id).where(Seed.fooled_round > open_round)).all()))
        )
    assert remaining == [300, 100, 0]
    assert database.read(lambda s: s.scalar(select(func.count()).where(Seed.fooled_round == open_round))) == 1


def test_a_plan_as_usual_says_nothing_of_seeds():
    assert PlannedRound().document() == {}
    assert PlannedRound(seeds="all").document() == {"seeds": "all"}
