import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.tasks import TaskConfig, ensemble_fooled
from dynabench.tasks.fields import Text
from dynabench.tasks.rules import Differs, F1Below
from dynabench.tasks.words import word_f1


def question_answering(fooled):
    return TaskConfig.parse(f"""\
id: qa
name: Questions
context: {{name: passage, type: text}}
input: {{name: question, type: text}}
answer: {{name: reply, type: text}}
fooled: {fooled}
""")


@pytest.mark.parametrize(
    ("predicted", "claimed", "f1"),
    [
        ("the cat", "A cat!", 1.0),
        ("the black cat", "cat", 2 / 3),
        ("dog", "cat", 0.0),
        ("cat cat", "cat", 2 / 3),
        ("in May 1887", "1887", 0.5),
        ("the", "", 1.0),
        ("the", "cat", 0.0),
    ],
)
def test_word_f1_as_squad_scores_it(predicted, claimed, f1):
    assert word_f1(predicted, claimed) == pytest.approx(f1)


@given(st.text(max_size=30), st.text(max_size=30))
def test_word_f1_is_symmetric_and_one_for_equal_texts(first, second):
    assert word_f1(first, second) == word_f1(second, first)
    assert 0 <= word_f1(first, second) <= 1
    assert word_f1(first, first) == 1


def test_f1_below_fools_under_its_threshold_only():
    config = question_answering("{rule: f1_below, threshold: 0.5}")
    assert config.fooled_by({"reply": "in the very early May 1887"}, {"reply": "1887"})
    assert not config.fooled_by({"reply": "in May 1887"}, {"reply": "1887"})
    assert config.agrees({"reply": "May 1887"}, {"reply": "in May 1887"})


def test_not_in_forgives_case_articles_and_punctuation():
    config = question_answering("{rule: not_in}")
    assert not config.fooled_by({"reply": "The Danube."}, {"reply": "danube"})
    assert not config.fooled_by({"reply": "danube"}, {"reply": ["Rhine", "the Danube"]})
    assert config.fooled_by({"reply": "Danube river"}, {"reply": "danube"})


def test_marked_spans_are_compared_by_their_words():
    differs, field = F1Below().differs, Text(name="reply")
    span = [{"start": 0, "end": 4, "text": "1887"}]
    assert not differs("in 1887", span, field)
    assert differs("1894", span, field)


def test_differs_forgives_case_and_spacing_of_texts():
    config = question_answering("{rule: differs}")
    assert not config.fooled_by({"reply": "the  Danube"}, {"reply": "The Danube"})
    assert config.fooled_by({"reply": "Danube"}, {"reply": "The Danube"})


def test_only_the_fields_that_count_can_fool():
    config = TaskConfig.parse("""\
id: two
name: Two answers
input: {name: post, type: text}
answer:
  - {name: label, type: choice, options: [hate, fine], goal: assigned}
  - {name: score, type: number, tolerance: 0.1}
fooled: {rule: differs, fields: [label]}
""")
    assert not config.fooled_by({"label": "hate", "score": 0.9}, {"label": "hate", "score": 0.1})
    assert config.goal == "assigned"
    wider = config.model_copy(update={"fooled": Differs()})
    assert wider.fooled_by({"label": "hate", "score": 0.9}, {"label": "hate", "score": 0.1})
    assert not wider.fooled_by({"label": "hate", "score": 0.15}, {"label": "hate", "score": 0.1})


@given(st.lists(st.booleans(), min_size=1, max_size=9))
def test_an_ensemble_is_fooled_by_count(flags):
    assert ensemble_fooled("any", flags) == any(flags)
    assert ensemble_fooled("all", flags) == all(flags)
    assert ensemble_fooled("majority", flags) == (sum(flags) > len(flags) / 2)


def test_an_empty_ensemble_and_an_unknown_rule_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        ensemble_fooled("any", [])
    with pytest.raises(ValueError, match="most"):
        ensemble_fooled("most", [True])
