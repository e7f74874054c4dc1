"""A person's way through an onboarding, whatever they repeat, reload and send out of order."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event, func, select

from dynabench.collection import eligibility
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.onboarding import quiz, service
from dynabench.onboarding.admission import Unqualified
from dynabench.onboarding.service import StepKind
from dynabench.onboarding.tables import OnboardingActivity, OnboardingProgress, Qualification, QuizAnswer, QuizAttempt
from dynabench.rounds.tables import Round
from dynabench.tasks.onboarding import QuizQuestion

from .world import BANK, SCREENING, OnboardingWorld

CHECK = OnboardingActivity.CHECK


def test_a_person_goes_through_all_parts_and_is_qualified_for_one_activity(database):
    world = OnboardingWorld(database)
    ada = world.person()
    step = world.step(ada)
    assert (step.kind, step.number, step.total) == (StepKind.INSTRUCTIONS, 1, 4)
    with pytest.raises(errors.Conflict):
        world.read(ada, StepKind.EXAMPLES)
    with pytest.raises(errors.Conflict):
        world.begin(ada)
    assert world.read(ada, StepKind.INSTRUCTIONS).kind is StepKind.EXAMPLES
    assert world.read(ada, StepKind.INSTRUCTIONS).kind is StepKind.EXAMPLES, "a second window changes nothing"
    assert world.read(ada, StepKind.EXAMPLES).kind is StepKind.PRACTICE
    with pytest.raises(errors.Conflict):
        database.write(quiz.practise, ada, world.task, CHECK, 1, {"label": "neutral"})
    first = database.write(quiz.practise, ada, world.task, CHECK, 0, {"label": "neutral"})
    assert (first.agrees, first.right) == (False, {"label": "contradiction"})
    assert database.write(quiz.practise, ada, world.task, CHECK, 0, {"label": "contradiction"}).agrees
    assert world.step(ada).position == 1, "an item again is feedback alone"
    assert database.write(quiz.practise, ada, world.task, CHECK, 1, {"label": "neutral"}).agrees
    assert world.step(ada).kind is StepKind.QUIZ
    assert world.try_quiz(ada, right=2) is True
    assert world.step(ada) is None
    assert world.step(ada, OnboardingActivity.WRITE).kind is StepKind.INSTRUCTIONS


def test_a_draw_stands_and_the_first_answer_counts(database):
    world = OnboardingWorld(database)
    ada, eve = world.person(), world.person()
    world.to_quiz(ada)
    attempt = world.begin(ada)
    question = database.read(quiz.asked_question, ada, attempt)
    assert world.begin(ada) == attempt
    assert database.read(quiz.asked_question, ada, attempt) == question, "a reload draws nothing"
    wrong = next(option for option in question.options if option.startswith("wrong"))
    right = next(option for option in question.options if option.startswith("right"))
    assert not world.answer(ada, attempt, 0, wrong).is_right
    again = world.answer(ada, attempt, 0, right)
    assert (again.is_right, again.chosen, again.right) == (False, wrong, right)
    with pytest.raises(errors.Conflict):
        world.answer(ada, attempt, 2, right)
    with pytest.raises(errors.Invalid):
        world.answer(ada, attempt, 1, "anything")
    for call in (quiz.asked_question, quiz.own_attempt):
        with pytest.raises(errors.NotFound):
            database.read(call, eve, attempt)
    with pytest.raises(errors.NotFound):
        world.answer(eve, attempt, 1, right)
    with pytest.raises(errors.NotFound):
        database.read(quiz.explain_answer, ada, attempt, 1)


def test_nothing_of_the_answers_is_told_before_answering(database):
    world = OnboardingWorld(database)
    ada = world.person()
    world.to_quiz(ada)
    question = repr([database.read(quiz.asked_question, ada, world.begin(ada)), world.step(ada)])
    assert "Secret" not in question
    assert "is_right" not in question
    assert "onboarding" not in world.config.public()
    orders = {tuple(question["order"]) for person in range(12) for question in drawn_by(world)}
    assert len(orders) > 1, "the place of an option says nothing"


def drawn_by(world: OnboardingWorld) -> list[dict]:
    questions = world.config.onboarding.questions
    return quiz.draw_questions(questions, 3, {}, service.new_random())


@given(st.integers(1, 12), st.data())
def test_a_draw_has_different_questions_and_those_answered_least_come_first(number, data):
    bank = [
        QuizQuestion(name=f"q{n}", question="Why", options=["a", "b"], right="a")
        for n in range(number, number + data.draw(st.integers(0, 12)) + number)
    ]
    seen = {question.name: data.draw(st.integers(0, 3)) for question in bank}
    drawn = quiz.draw_questions(bank, number, seen, Random(data.draw(st.integers(0, 2**32))))
    names = [question["name"] for question in drawn]
    assert len(set(names)) == len(names) == number
    others = [seen[question.name] for question in bank if question.name not in names]
    assert not others or max(seen[name] for name in names) <= min(others)
    assert all(sorted(question["order"]) == [0, 1] for question in drawn)


def test_draws_cover_the_bank():
    bank = [QuizQuestion(name=f"q{n}", question="Why", options=["a", "b"], right="a") for n in range(10)]
    rng = Random(3)
    counts = Counter(q["name"] for _ in range(1000) for q in quiz.draw_questions(bank, 3, {}, rng))
    assert set(counts) == {question.name for question in bank}
    assert all(230 < count < 370 for count in counts.values()), counts  # 300 expected, deviation 14


def test_attempts_end_and_waiting_is_told(database):
    world = OnboardingWorld(database, wait_minutes=30)
    ada = world.person()
    world.to_quiz(ada)
    assert world.try_quiz(ada, right=1) is False
    step = world.step(ada)
    assert (step.kind, step.attempt, step.attempts) == (StepKind.WAITING, 2, 2)
    assert now() < step.until <= now() + timedelta(minutes=30)
    with pytest.raises(errors.Conflict, match="try again after"):
        world.begin(ada)
    world.change()  # without waiting
    assert world.try_quiz(ada, right=0) is False
    assert world.step(ada).kind is StepKind.FAILED
    assert world.step(ada).over
    with pytest.raises(errors.Conflict, match="all attempts"):
        world.begin(ada)
    answered = database.read(lambda session: session.scalars(select(QuizAnswer.question)).all())
    assert set(answered) == {f"q{n}" for n in range(BANK)}, "the second draw has other questions"


@pytest.mark.slow
@given(data=st.data())
def test_nobody_gets_more_attempts(sqlite_world, data):
    world = sqlite_world
    ada = world.person()
    world.to_quiz(ada)
    for _ in range(data.draw(st.integers(1, 8))):
        try:
            if data.draw(st.booleans()):
                world.begin(ada)
            else:
                world.try_quiz(ada, right=data.draw(st.integers(0, 1)))
        except errors.Conflict:
            continue
    attempts = world.db.read(
        lambda session: session.scalar(select(func.count()).where(QuizAttempt.person_id == ada.id))
    )
    assert attempts <= world.config.onboarding.attempts


@pytest.fixture(scope="module")
def sqlite_world(tmp_path_factory):
    """A world for many people in turn."""
    from dynabench.kit.db import Base, Database
    from dynabench.operations import migrations

    migrations.metadata()
    db = Database(f"sqlite:///{tmp_path_factory.mktemp('onboarding') / 'db.sqlite'}")
    Base.metadata.create_all(db.engine)
    yield OnboardingWorld(db)
    db.close()


def test_sending_twice_at_once_counts_once(database):
    world = OnboardingWorld(database)
    ada = world.person()
    world.to_quiz(ada)
    with ThreadPoolExecutor(8) as pool:
        attempts = set(pool.map(lambda _: world.begin(ada), range(8)))
        assert len(attempts) == 1
        attempt = attempts.pop()
        for position in range(3):
            question = database.read(quiz.asked_question, ada, attempt)
            sent = [question.options[n % 3] for n in range(8)]
            explained = list(pool.map(lambda option, at=position: world.answer(ada, attempt, at, option), sent))
            assert len({answer.chosen for answer in explained}) == 1, "all see the answer that stands"
    rows = database.read(lambda session: session.scalars(select(QuizAnswer)).all())
    ended = database.read(lambda session: session.get_one(QuizAttempt, attempt))
    assert len(rows) == 3
    assert ended.right == sum(row.right for row in rows)
    assert ended.state == ("passed" if ended.right >= 2 else "failed")


@pytest.mark.slow
def test_a_qualification_ends_with_its_days_and_with_a_new_version(database):
    world = OnboardingWorld(database, valid_days=10)
    ada = world.person()
    world.to_quiz(ada)
    world.try_quiz(ada, right=0)
    world.try_quiz(ada, right=3)
    assert world.step(ada) is None
    key = (world.task, ada.id, CHECK)

    def expire(session) -> None:
        session.get_one(Qualification, key).expires_at = now() - timedelta(hours=1)

    database.write(expire)
    step = world.step(ada)
    assert (step.kind, step.attempt) == (StepKind.QUIZ, 1), "the quiz alone is repeated, with all attempts"
    world.try_quiz(ada, right=3)
    assert world.step(ada) is None
    world.change(version=2)
    assert world.step(ada).kind is StepKind.INSTRUCTIONS
    world.to_quiz(ada)
    assert world.try_quiz(ada, right=2) is True
    assert world.step(ada) is None


def test_an_attempt_keeps_its_questions_when_the_bank_changes(database):
    world = OnboardingWorld(database)
    ada = world.person()
    world.to_quiz(ada)
    attempt = world.begin(ada)
    before = database.read(quiz.asked_question, ada, attempt)
    world.change(questions="[{name: new, question: New, options: [yes-1, no-1], right: yes-1}]", drawn=1, pass_mark=1)
    assert database.read(quiz.asked_question, ada, attempt) == before
    assert world.try_quiz(ada, right=2) is True
    assert world.step(ada) is None


def test_screening_ends_politely_and_stores_no_answer(database):
    world = OnboardingWorld(database, screening=SCREENING.partition(": ")[2])
    ada, bob = world.person(), world.person()
    assert world.step(ada).kind is StepKind.SCREENING
    with pytest.raises(errors.Invalid):
        database.write(service.answer_screening, ada, world.task, CHECK, {"adult": "Perhaps"})
    assert database.write(service.answer_screening, ada, world.task, CHECK, {"adult": "No sir"}).over
    again = database.write(service.answer_screening, ada, world.task, CHECK, {"adult": "Yes please"})
    assert again.kind is StepKind.SCREENED_OUT, "another answer does not help"
    assert database.write(
        service.answer_screening, bob, world.task, CHECK, {"adult": "Yes please"}
    ).kind is StepKind.INSTRUCTIONS  # fmt: skip
    rows = database.read(lambda session: session.scalars(select(OnboardingProgress)).all())
    assert "please" not in repr([vars(row) for row in rows])


def test_unqualified_people_neither_write_nor_check_and_experts_are_not_question(database):
    world = OnboardingWorld(database)
    ada, expert = world.person(), world.person(role="expert")
    example = world.example(world.person())
    round_ = database.read(lambda session: session.get_one(Round, world.round_id))
    with pytest.raises(Unqualified) as refusal:
        world.next(ada)
    assert refusal.value.document()["onboarding"] == "/tasks/checks/onboarding/check"
    with pytest.raises(Unqualified):
        world.vote(ada, example, "correct")
    with pytest.raises(Unqualified):
        database.read(eligibility.admit, ada, round_)
    database.read(lambda session: eligibility.admit(session, ada, round_, sandbox=True))
    database.read(lambda session: eligibility.admit(session, None, round_, sandbox=True))
    database.read(eligibility.admit, expert, round_)
    assert world.next(expert).example_id == example
    world.to_quiz(ada)
    world.try_quiz(ada, right=3)
    assert world.next(ada).example_id == example
    world.vote(ada, example, "correct")
    with pytest.raises(Unqualified):
        database.read(eligibility.admit, ada, round_)


def test_what_is_not_required_is_question_of_nobody(database):
    world = OnboardingWorld(database, required="false")
    ada, example = world.person(), world.example(world.person())
    assert world.step(ada) is None
    assert world.next(ada).example_id == example
    path = database.read(service.read_path, world.task, CHECK)
    assert database.read(service.read_step, ada, path).kind is StepKind.INSTRUCTIONS, "they may still go through it"


def test_admission_costs_one_probe(database):
    world = OnboardingWorld(database)
    ada = world.person()
    world.to_quiz(ada)
    world.try_quiz(ada, right=3)
    from dynabench.onboarding import admission

    statements: list[str] = []
    listen = (database.engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    event.listen(*listen)
    database.read(admission.require_qualified, ada, world.config, CHECK)
    event.remove(*listen)
    assert len([text for text in statements if "qualifications" in text]) == len(statements) == 1, statements


def test_a_deleted_account_leaves_no_attempt(database):
    world = OnboardingWorld(database)
    ada = world.person()
    world.to_quiz(ada)
    world.try_quiz(ada, right=3)
    database.write(service.forget_person, ada.id)
    for table in (QuizAttempt, QuizAnswer, Qualification, OnboardingProgress):
        assert database.read(lambda session, source=table: session.scalars(select(source)).all()) == []
