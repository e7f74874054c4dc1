"""Control items among what validators check: how often, unseen, without effect on verdicts, with consequences."""

import threading
from collections import Counter
from contextlib import suppress

import pytest
from sqlalchemy import func, select

from dynabench.kit import errors
from dynabench.people.accounts.tables import Act, Person
from dynabench.tasks.sections import ControlSettings
from dynabench.validation import places, service
from dynabench.validation.controls import consequences, drawing, figures, items
from dynabench.validation.controls.consequences import CheckingPaused
from dynabench.validation.controls.tables import ControlAnswer, ControlKind
from dynabench.validation.service import Ballot
from dynabench.validation.tables import Validation
from tests.validation.control_world import ControlWorld, answer_gold, answers_of, force_control


def test_kinds_are_drawn_at_their_rates():
    settings = ControlSettings(gold=0.05, attention=0.02, repeat=0.03)
    steps = 100_000
    kinds = Counter(drawing.draw_kind(settings, number / steps) for number in range(steps))
    shares = {kind: kinds[kind] / steps for kind in (*ControlKind, None)}
    assert shares == pytest.approx({"gold": 0.05, "attention": 0.02, "repeat": 0.03, None: 0.9}, abs=1e-4)


@pytest.mark.slow
def test_gold_comes_at_its_rate_and_never_twice(database):
    world = ControlWorld(database, "{gold: 0.3}", gold=60, votes=25, cap=25)
    for _number in range(80):
        world.example(world.author)
    validator = world.person()
    kinds = world.check(validator, 80)
    assert 6 <= kinds["gold"] <= 44  # 24 expected, 4.1 is the standard deviation
    seen = Counter(place.item_id for place in world.places(validator))
    assert set(seen.values()) == {1}


@pytest.mark.slow
def test_a_control_looks_like_any_example(database):
    world = ControlWorld(database, "{gold: 0.5}", gold=40, votes=2)
    examples = {world.example(world.author) for _number in range(40)}
    validator = world.person()
    shapes, numbers = set(), []
    for _number in range(30):
        item = world.next(validator)
        again = world.next(validator)
        assert (again.example_id, again.input) == (item.example_id, item.input)  # a reload changes nothing
        outcome = world.vote(validator, item.example_id, "correct")
        mine = database.read(service.my_outcome, validator, item.example_id)
        assert (mine.id, mine.verdict, mine.votes) == (outcome.id, outcome.verdict, outcome.votes)
        shapes.add((item.mode, tuple(item.input), tuple(item.answer), item.round, outcome.verdict, outcome.votes))
        numbers.append((item.example_id, outcome.id))
        with pytest.raises(errors.Conflict):
            world.vote(validator, item.example_id, "correct")
    assert len(shapes) == 1
    assert {example for example, _vote in numbers} <= examples
    assert len({example for example, _vote in numbers}) == 30
    votes = [vote for _example, vote in numbers]
    assert votes == list(range(votes[0], votes[0] + 30))  # one series of numbers for all
    assert 5 < len(world.places(validator)) < 25
    assert database.read(service.voted_today, validator) == 30


@pytest.mark.slow
def test_controls_change_no_verdict_and_every_example_gets_its_votes(database):
    world = ControlWorld(database, "{gold: 0.25, repeat: 0.25}", gold=30, votes=2, cap=3)
    examples = [world.example(world.author) for _number in range(25)]
    validators = [world.person() for _number in range(3)]
    for validator in validators:
        while item := world.next(validator):
            is_gold = "is known." in item.input["hypothesis"]
            world.vote(validator, item.example_id, "incorrect" if is_gold else "correct")
    for example in examples:
        standing = world.standing(example)
        assert (standing.verdict, standing.votes) == ("correct", 2)
        assert {cast.vote for cast in world.counted(example)} == {"correct"}
    answers = database.read(lambda session: list(session.scalars(select(ControlAnswer))))
    assert answers
    assert all(answer.is_right for answer in answers)
    assert world.projections() == world.rebuilt()


@pytest.mark.slow
def test_repeats_measure_agreement_with_oneself_alone(database):
    world = ControlWorld(database, "{repeat: 0.5, least: 1, threshold: 1.0, below: pause}", votes=25, cap=25)
    for _number in range(60):
        world.example(world.author)
    validator = world.person()
    labels = iter(["correct", "incorrect"] * 60)
    for _number in range(40):
        item = world.next(validator)
        world.vote(validator, item.example_id, next(labels))
    [row] = database.read(figures.list_figures, None, world.task)
    assert row.repeat.n > 3
    assert 0 < row.repeat.value < 1
    assert row.measured.n == 0
    assert world.decisions() == []
    places_of = world.places(validator)
    assert all(place.shown_id != place.example_id for place in places_of)
    assert len({place.shown_id for place in places_of}) == len(places_of)


@pytest.mark.slow
@pytest.mark.parametrize("consequence", ["warn", "pause", "review"])
def test_consequences_are_told_and_reversible(database, consequence):
    controls = f"{{gold: 0.5, threshold: 0.7, least: 4, below: {consequence}}}"
    world = ControlWorld(database, controls, gold=40, votes=25, cap=25)
    for _number in range(70):
        world.example(world.author)
    validator = world.person()
    answer_gold(world, validator, 3, right=False)
    assert world.decisions() == []
    answer_gold(world, validator, 1, right=False)
    [decision] = world.decisions()
    assert (decision.consequence, decision.answers, decision.right) == (consequence, 4, 0)
    assert world.notices(validator) == ["warning"]
    assert world.notices(world.owner) == ["controls"]
    if consequence == "pause":
        with pytest.raises(CheckingPaused):
            world.next(validator)
        assert database.read(places.count_checks, validator, world.task) == 0
        with pytest.raises(CheckingPaused):
            world.vote(validator, world.example(world.author), "correct")
    else:
        assert world.next(validator) is not None
    stranger = world.person()
    with pytest.raises(errors.Forbidden):
        database.write(consequences.end_decision, stranger, world.task, decision.id)
    database.write(consequences.end_decision, world.owner, world.task, decision.id)
    database.write(consequences.end_decision, world.owner, world.task, decision.id)
    assert world.notices(validator) == ["warning", "lifted"]
    answer_gold(world, validator, 3, right=False)  # what was before is not held against the validator
    assert len(world.decisions()) == 1
    answer_gold(world, validator, 1, right=False)
    assert len(world.decisions()) == 2
    acts = database.read(lambda session: list(session.scalars(select(Act.kind).where(Act.kind.like("controls.%")))))
    assert Counter(acts)[f"controls.{consequence}"] == 2
    assert Counter(acts)["controls.end"] == 1


@pytest.mark.slow
def test_a_warning_ends_when_the_share_is_high_enough_and_a_review_can_become_a_pause(database):
    world = ControlWorld(database, "{gold: 0.5, least: 2, below: warn}", gold=40, votes=25, cap=25)
    for _number in range(70):
        world.example(world.author)
    validator, other = world.person(), world.person()
    answer_gold(world, validator, 2, right=False)
    answer_gold(world, validator, 5, right=True)
    [decision] = world.decisions()
    assert decision.ended_at is not None
    assert world.notices(validator) == ["warning", "lifted"]
    world.configure("{gold: 0.5, least: 2, below: review}")
    answer_gold(world, other, 2, right=False)
    review = world.decisions()[-1]
    pause = database.write(consequences.pause_reviewed, world.owner, world.task, review.id)
    with pytest.raises(CheckingPaused):
        world.next(other)
    with pytest.raises(errors.Conflict):
        database.write(consequences.pause_reviewed, world.owner, world.task, review.id)
    database.write(consequences.end_decision, world.owner, world.task, pause.id)
    assert world.next(other) is not None


@pytest.mark.slow
def test_undo_and_skip_of_a_control(database):
    world = ControlWorld(database, "{gold: 0.5}", gold=40, votes=25, cap=25)
    for _number in range(40):
        world.example(world.author)
    validator = world.person()
    item = force_control(world, validator)
    world.vote(validator, item.example_id, "correct")
    assert [answer.is_right for answer in answers_of(database)] == [False]
    assert world.undo(validator, item.example_id).verdict == "pending"
    assert answers_of(database) == []
    again = world.next(validator)
    assert (again.example_id, again.input) == (item.example_id, item.input)
    world.vote(validator, item.example_id, "incorrect")
    assert [answer.is_right for answer in answers_of(database)] == [True]
    other = force_control(world, validator)
    world.skip(validator, other.example_id)
    assert len(answers_of(database)) == 1
    assert world.next(validator).example_id != other.example_id
    with pytest.raises(errors.Conflict):
        world.undo(validator, other.example_id)
    with pytest.raises(errors.Conflict):
        world.vote(validator, other.example_id, "correct")  # meant for the control that was skipped


@pytest.mark.slow
def test_decided_examples_become_gold_for_those_who_do_not_know_them(database):
    world = ControlWorld(database, "{gold: 0.5}", votes=2, cap=3)
    voters = [world.person(), world.person()]
    decided = [world.example(world.author) for _number in range(6)]
    for number, example in enumerate(decided):
        for voter in voters:
            world.vote(voter, example, "correct" if number % 2 else "incorrect")
    assert database.write(items.add_decided, world.owner, world.task, 4) == 4
    assert Counter(row.item.right_vote for row in database.read(items.list_items, world.owner, world.task)) == {
        "correct": 2,
        "incorrect": 2,
    }
    assert database.write(items.add_decided, world.owner, world.task, 10) == 2
    assert database.write(items.add_decided, world.owner, world.task, 10) == 0
    for _number in range(30):
        world.example(voters[0])
    for knowing in (world.author, voters[1]):
        world.check(knowing, 10)
        assert world.places(knowing) == []
    newcomer = world.person()
    world.check(newcomer, 25)
    shown_ids = {place.shown_id for place in world.places(newcomer)}
    assert shown_ids
    assert shown_ids <= set(decided)
    pending = world.example(world.author)
    with pytest.raises(errors.Conflict):
        database.write(items.add_example, world.owner, world.task, pending)
    with pytest.raises(errors.Forbidden):
        database.read(items.list_items, newcomer, world.task)


def test_rows_of_a_file_are_checked(database, tmp_path):
    world = ControlWorld(database, "{gold: 0.1}")
    file = tmp_path / "gold.csv"
    file.write_text(
        "premise,hypothesis,label,vote,kind\n"
        "It snows.,It is cold.,neutral,incorrect,gold\n"
        "It snows.,It is cold.,neutral,incorrect,gold\n"
        "It snows.,Press Correct.,neutral,correct,attention\n"
        "It snows.,It is warm.,unsure,correct,gold\n"
        "It snows.,It is hot.,neutral,maybe,gold\n"
        "It snows.,It is odd.,neutral,correct,repeat\n"
    )
    result = database.write(items.add_file, world.owner, world.task, file, file.name)
    assert (result.created, result.duplicates) == (2, 1)
    assert [number for number, _reason in result.errors] == [5, 6, 7]
    assert "vote is the right vote" in result.errors[1][1]
    file.write_text("premise,hypothesis,colour,vote\nA,B,C,correct\n")
    result = database.write(items.add_file, world.owner, world.task, file, file.name)
    assert "colour" in result.errors[0][1]
    item = database.read(items.list_items, None, world.task)[0].item
    database.write(items.retire_item, world.owner, world.task, item.id)
    assert database.read(items.list_items, None, world.task)[-1].is_retired
    database.write(items.retire_item, world.owner, world.task, item.id, retired=False)


@pytest.mark.slow
def test_two_answers_at_once_make_one_answer_and_one_decision(database):
    world = ControlWorld(database, "{gold: 0.5, least: 1, below: review}", gold=20, votes=25, cap=25)
    for _number in range(20):
        world.example(world.author)
    validator = world.person()
    item = force_control(world, validator)
    outcomes: list[str] = []

    def answer() -> None:
        try:
            database.write(service.vote, validator, item.example_id, Ballot(vote="correct"))
            outcomes.append("voted")
        except errors.Problem as problem:
            outcomes.append(type(problem).__name__)

    threads = [threading.Thread(target=answer) for _number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("voted") == 1
    assert len(answers_of(database)) == 1
    assert len(world.decisions()) == 1
    votes = database.read(lambda session: session.scalar(select(func.count()).select_from(Validation)))
    assert votes == 1


@pytest.mark.slow
def test_blind_controls_are_judged_by_the_answer(database):
    world = ControlWorld(database, "{gold: 0.5}", gold=30, mode="answer", votes=25, cap=25)
    for _number in range(30):
        world.example(world.author)
    validator = world.person()
    item = force_control(world, validator)
    assert item.answer is None
    world.answer(validator, item.example_id, "entailment")  # the claim of the gold item, neutral, is wrong
    assert [answer.is_right for answer in answers_of(database)] == [True]
    assert world.standing(item.example_id).blind == 0
    assert world.projections() == world.rebuilt()


def test_the_answer_of_an_older_window_to_a_control_is_no_vote_on_the_example(database):
    world = ControlWorld(database, "{gold: 0.5}", gold=40, votes=2, cap=3)
    for _number in range(40):
        world.example(world.author)
    validator = world.person()
    control = force_control(world, validator)
    world.vote(validator, control.example_id, "incorrect")
    while (item := world.next(validator)).example_id != control.example_id:
        world.vote(validator, item.example_id, "incorrect" if "is known." in item.input["hypothesis"] else "correct")
    assert item.input != control.input
    with pytest.raises(errors.Conflict, match="already"):
        database.write(
            service.vote, validator, item.example_id, Ballot(vote="incorrect", expires_at=control.expires_at)
        )
    assert world.standing(item.example_id).votes == 0
    database.write(service.vote, validator, item.example_id, Ballot(vote="correct", expires_at=item.expires_at))
    assert world.standing(item.example_id).votes == 1


@pytest.mark.slow
def test_people_in_two_windows_at_once_leave_verdicts_and_answers_that_agree(database):
    world = ControlWorld(database, "{gold: 0.2, repeat: 0.2, least: 3, below: review}", gold=30, votes=2, cap=3)
    examples = [world.example(world.author) for _number in range(16)]
    validators = [world.person() for _number in range(3)]
    problems: list[BaseException] = []

    def work(validator: Person) -> None:
        try:
            while item := world.next(validator):
                is_gold = "is known." in item.input["hypothesis"]
                with suppress(errors.Conflict):  # the other window was quicker
                    ballot = Ballot(vote="incorrect" if is_gold else "correct", expires_at=item.expires_at)
                    database.write(service.vote, validator, item.example_id, ballot)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(validator,)) for validator in validators for _window in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert {(world.standing(example).verdict, world.standing(example).votes) for example in examples} == {
        ("correct", 2)
    }
    assert all(answer.is_right for answer in answers_of(database))
    assert world.decisions() == []
    assert world.projections() == world.rebuilt()
