"""Outcomes of each rule, by hand, and properties for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sqlalchemy import update

from dynabench.kit.db import Database
from dynabench.kit.errors import Unavailable
from dynabench.rounds import service
from dynabench.rounds.tables import TaskVersion
from dynabench.tasks.fields import Choice, Number, Text
from dynabench.tasks.rules import (
    ChosenRule,
    Differs,
    F1Below,
    Matches,
    MetricBelow,
    OutsideRule,
    OverlapBelow,
    VqaBelow,
)
from dynabench.tasks.rules import matches as match_rules
from dynabench.tasks.rules.judged import pick_option
from tests.tasks.rules import rule, task

REPLY, COUNT, LABEL = Text(name="reply"), Number(name="count"), Choice(name="label", options=["yes", "no"])
texts = st.text(st.sampled_from("abc de. Z9"), max_size=20)
numbers = st.floats(-1e6, 1e6) | st.integers(-1000, 1000)


def test_any_or_all_fields():
    claimed = {"label": "yes", "reply": "Rome", "count": 3}
    first, two = {**claimed, "reply": "Paris"}, {"label": "no", "reply": "Paris", "count": 3}
    some, every = rule("differs", "label", "reply"), rule("differs", "label", "reply", combine="all")
    assert [some.fooled_by(answer, claimed) for answer in (claimed, first, two)] == [False, True, True]
    assert [every.fooled_by(reply, claimed) for reply in (claimed, first, two)] == [False, False, True]
    assert every.agrees(first, claimed)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=5))
def test_all_fields_differ_only_where_any_does(pairs):
    fields = [Choice(name=f"f{n}", options=["True", "False"]) for n in range(len(pairs))]
    answer, claimed = ({f.name: str(pair[side]) for f, pair in zip(fields, pairs, strict=True)} for side in (0, 1))
    some, every = Differs(combine="any"), Differs(combine="all")
    assert some.fooled(answer, claimed, fields) == any(a != b for a, b in pairs)
    assert every.fooled(answer, claimed, fields) == all(a != b for a, b in pairs)


@pytest.mark.parametrize(
    ("answer", "people", "accuracy"),
    [
        ("blue", ["blue"] * 10, 1.0),
        ("Blue.", ["a blue"] * 3 + ["navy"] * 7, (3 * 2 / 3 + 7 * 1) / 10),  # 0.9
        ("two", ["2", "two"] + ["3"] * 8, 0.6),  # (2 * 1/3 + 8 * 2/3) / 10
        ("2", ["two"] + ["3"] * 9, 0.3),  # (1 * 0 + 9 * 1/3) / 10
        ("red", ["blue"] * 10, 0.0),
        ("yes", ["yes"], 1.0),
        ("yes", [], 0.0),
    ],
)
def test_vqa_accuracy_by_hand(answer, people, accuracy):
    assert VqaBelow().nearness(answer, people, REPLY) == pytest.approx(accuracy)
    assert VqaBelow(threshold=0.6).differs(answer, people, REPLY) is (accuracy < 0.6)
    assert VqaBelow(threshold=0.6).right(answer, people, REPLY) is (accuracy >= 0.6)


@given(texts, st.lists(texts, min_size=1, max_size=10))
def test_vqa_accuracy_forgets_the_order_and_grows_with_who_agrees(answer, people):
    measure = VqaBelow()
    assert measure.nearness(answer, people, REPLY) == measure.nearness(answer, sorted(people), REPLY)
    assert measure.nearness(answer, [answer] * 4, REPLY) == 1
    assert 0 <= measure.nearness(answer, people, REPLY) <= 1


@pytest.mark.parametrize(
    ("answer", "claimed", "tolerance", "relative", "fooled"),
    [
        (105, 100, 5, False, False),
        (105.01, 100, 5, False, True),
        (105, 100, 0.05, True, False),
        (94.9, 100, 0.05, True, True),
        (-105, -100, 0.05, True, False),
        (0.3, 0.1 + 0.2, 0, False, False),
        (0, 0, 0.05, True, False),
        (0.001, 0, 0.05, True, True),
        (None, 3, 5, False, True),
        ("3", 3, 5, False, True),
    ],
)
def test_numbers_outside_of_a_tolerance(answer, claimed, tolerance, relative, fooled):
    assert OutsideRule(tolerance=tolerance, relative=relative).differs(answer, claimed, COUNT) is fooled


@given(numbers, numbers, st.floats(0, 100), st.floats(0, 100), st.booleans())
def test_a_wider_tolerance_fools_no_more(answer, claimed, first, other, relative):
    narrow, wide = (OutsideRule(tolerance=t, relative=relative) for t in sorted((first, other)))
    assert narrow.differs(answer, claimed, COUNT) or not wide.differs(answer, claimed, COUNT)
    assert not narrow.differs(claimed, claimed, COUNT)


@pytest.mark.parametrize(
    ("answer", "claimed", "jaccard", "f1"),
    [
        (["a", "b"], ["b", "c", "d"], 1 / 4, 2 / 5),
        (["A ", "b"], ["b", "a"], 1, 1),
        ([], [], 1, 1),
        ([], ["a"], 0, 0),
        ("the red car", "a red bus", 1 / 3, 1 / 2),
        ([{"start": 0, "end": 3, "text": "Ada"}], [{"start": 0, "end": 3, "text": "Ada"}], 1, 1),
        (None, ["a"], 0, 0),
    ],
)
def test_overlap_by_hand(answer, claimed, jaccard, f1):
    for measure, value in (("jaccard", jaccard), ("f1", f1)):
        overlap_below = OverlapBelow(measure=measure, threshold=0.4)
        assert overlap_below.nearness(answer, claimed, REPLY) == pytest.approx(value)
        assert overlap_below.differs(answer, claimed, REPLY) is (value < 0.4)


@given(st.lists(st.sampled_from("abcde")), st.lists(st.sampled_from("abcde")))
def test_f1_and_jaccard_belong_together(first, other):
    jaccard, f1 = (OverlapBelow(measure=m).nearness(first, other, REPLY) for m in ("jaccard", "f1"))
    assert f1 == pytest.approx(2 * jaccard / (1 + jaccard))
    assert jaccard == OverlapBelow().nearness(other, first, REPLY)


def test_a_pattern_in_the_answer():
    config = rule("matches", pattern=r"\bpassword\b", ignore_case=True)
    assert config.fooled_by({"reply": "The Password is swordfish"}, {"reply": "I refuse."})
    assert not config.fooled_by({"reply": "I keep passwords safe."}, {"reply": "password"})
    missing = rule("matches", pattern="^(I am sorry|No)", found=False)
    assert missing.fooled_by({"reply": "Sure: mix both."}, {"reply": ""})
    assert not missing.fooled_by({"reply": "No."}, {"reply": ""})
    assert missing.agrees({"reply": "Sure"}, {"reply": "sure"}), "people's answers are compared with the claim"
    assert not missing.agrees({"reply": "No."}, {"reply": "sure"})


@given(texts, st.booleans())
def test_found_and_not_found_are_opposites(answer, ignore_case):
    first, other = (Matches(pattern="b.*9", ignore_case=ignore_case, found=result) for result in (True, False))
    assert first.differs(answer, None, REPLY) is not other.differs(answer, None, REPLY)


@pytest.mark.release
def test_a_search_without_end_is_stopped_and_told():
    slow = Matches(pattern="^.{2001}(a|aa)+$")  # nothing that is tried when it is read is so long
    with pytest.raises(Unavailable, match="takes too long"):
        slow.differs("a" * 4000 + "!", None, REPLY)


COSTLY = ".*.*[=#]"  # on a busy machine it may need more than its time, on others it does not


def test_a_pattern_that_was_too_slow_once_is_tried_again(monkeypatch):
    with monkeypatch.context() as busy:
        busy.setattr(match_rules, "SECONDS", 1e-4)
        with pytest.raises(ValidationError, match="can be very slow"):
            Matches(pattern=COSTLY)
    monkeypatch.setattr(match_rules, "SECONDS", 60.0)
    assert Matches(pattern=COSTLY).pattern == COSTLY


def test_a_task_that_was_saved_is_read_however_busy_the_machine_is(settings, database, monkeypatch):
    saved = database.write(service.save_task, None, task({"rule": "matches", "pattern": "sorry"}))
    source = task({"rule": "matches", "pattern": COSTLY})  # as another process has accepted it
    database.write(lambda session: session.execute(update(TaskVersion).values(source=source)))
    monkeypatch.setattr(match_rules, "SECONDS", 1e-4)
    another = Database(settings.url)
    try:
        assert another.read(service.task_config, saved.task_id).fooled.pattern == COSTLY
    finally:
        another.close()


def test_a_metric_under_a_threshold():
    chrf = rule("metric_below", metric="chrf", threshold=50)
    assert not chrf.fooled_by({"reply": "The ferry leaves at noon."}, {"reply": "The ferry leaves at noon."})
    assert chrf.fooled_by({"reply": "xyz"}, {"reply": "The ferry leaves at noon."})
    rouge = rule("metric_below", metric="rouge", output="rougeL", threshold=0.6)
    measured = rouge.fooled.nearness("the cat sat", "the cat sat on the mat", REPLY)
    assert measured == pytest.approx(2 * 1 * 0.5 / 1.5)  # all 3 words of 3, in order, of 6: P 1, R 0.5
    assert not rouge.fooled_by({"reply": "the cat sat"}, {"reply": "the cat sat on the mat"})
    assert rouge.fooled_by({"reply": "the cat"}, {"reply": "the cat sat on the mat"})  # 2 * 1 * 1/3 / (4/3) = 0.5
    assert rouge.fooled_by({"reply": ""}, {"reply": "the cat sat on the mat"})
    assert (rouge.fooled.bound, chrf.fooled.bound) == (0.6, 0.5)
    exact = MetricBelow(metric="exact_match", threshold=1, options={"ignore_case": True})
    assert not exact.differs("ROME", "rome", REPLY)
    assert exact.right("ROME", ["Paris", "rome"], REPLY)


@pytest.mark.release
@given(st.lists(st.sampled_from(["ferry", "noon", "at", "leaves"]), min_size=1, max_size=6))
def test_a_metric_of_the_same_text_is_at_its_best(words):
    text = " ".join(words)
    assert MetricBelow(metric="chrf", threshold=100).nearness(text, text, REPLY) == pytest.approx(1)
    assert not MetricBelow(metric="rouge", threshold=0.99).differs(text, text, REPLY)


def test_a_model_that_is_not_sure():
    config = rule("uncertain", "label", below=0.6)
    yes = {"label": "yes"}
    assert config.fooled_by(yes, yes, {}, {"yes": 0.59, "no": 0.41, "maybe": 0.0})
    assert not config.fooled_by(yes, {"label": "no"}, {}, {"yes": 0.6, "no": 0.3, "maybe": 0.1})
    for unknown in (None, {}, {"no": 1.0}):
        with pytest.raises(Unavailable, match="returned no probability"):
            config.fooled_by(yes, yes, {}, unknown)
    assert config.agrees(yes, yes)
    assert not config.agrees(yes, {"label": "no"})
    assert config.fooled.right("yes", ["yes"], LABEL)
    assert not config.fooled.right("yes", ["no"], LABEL)


@given(st.floats(0, 1), st.floats(0.01, 1))
def test_uncertain_is_a_bound_on_the_answers_probability(chance, below):
    config = rule("uncertain", "label", below=below)
    assert config.fooled_by({"label": "no"}, {"label": "no"}, {}, {"no": chance}) is (chance < below)


CONTEXT = {"first": "He waters the plants.", "second": "He eats the ladder."}


@pytest.mark.parametrize(
    ("answer", "picked"),
    [
        ("He eats the ladder.", "second"),
        ("he eats a ladder", "second"),
        ("B", "second"),
        ("(2)", "second"),
        ("Option A.", "first"),
        ("Answer: b", "second"),
        ("first", "first"),
        ("He waters all of his plants", "first"),
        ("C", None),
        ("He", None),  # as near to both
        ("nothing of it", None),
        ("", None),
    ],
)
def test_what_an_answer_picks(answer, picked):
    assert pick_option(answer, CONTEXT) == picked


def test_a_wrong_option_fools():
    config = rule("chosen", options=["first", "second"])
    right = {"reply": "He waters the plants."}
    assert not config.fooled_by({"reply": "A"}, right, CONTEXT)
    assert not config.fooled_by({"reply": "he waters his plants"}, {"reply": "first"}, CONTEXT)
    assert config.fooled_by({"reply": "He eats the ladder."}, right, CONTEXT)
    assert config.fooled_by({"reply": "neither"}, right, CONTEXT)
    own = {"reply": "He reads the label."}  # the right answer may stand beside the hard negatives
    assert not config.fooled_by({"reply": "He reads the label"}, own, CONTEXT)
    assert config.fooled_by({"reply": "He waters the plants"}, own, CONTEXT)
    assert config.agrees({"reply": "1"}, right, CONTEXT)
    assert config.fooled.right("2", ["He eats the ladder."], REPLY, CONTEXT)
    assert not config.fooled.right("2", ["He waters the plants."], REPLY, CONTEXT)


@given(st.lists(texts.filter(str.strip), min_size=2, max_size=5, unique=True), st.data())
def test_who_repeats_the_claim_is_not_fooled(options, data):
    names = [f"o{n}" for n in range(len(options))]
    rule_ = ChosenRule(options=names)
    claim = data.draw(st.sampled_from(options))
    values = dict(zip(names, options, strict=True))
    assert not rule_.fooled({"reply": claim}, {"reply": claim}, [REPLY], values)


@given(texts, texts)
def test_f1_below_grows_with_its_threshold(answer, claimed):
    low, high = F1Below(threshold=0.3), F1Below(threshold=0.7)
    assert high.differs(answer, claimed, REPLY) or not low.differs(answer, claimed, REPLY)
