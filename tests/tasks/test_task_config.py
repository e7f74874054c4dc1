import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.tasks import TaskConfig, shipped_tasks

SHIPPED = {task.config.id: task for task in shipped_tasks()}
nli, sentiment = SHIPPED["nli"].config, SHIPPED["sentiment"].config
PREMISE = {"premise": "Two hikers eat lunch on a bridge."}
HYPOTHESIS = {"hypothesis": "They are not at home."}


def refused(function, *args, **kwargs):
    with pytest.raises(Invalid) as caught:
        function(*args, **kwargs)
    return caught.value.fields


def test_an_example_is_cleaned_field_by_field():
    assert nli.clean_input({"hypothesis": "  They eat. "}, PREMISE) == {"hypothesis": "They eat."}
    assert nli.clean_answer({"label": "neutral"}) == {"label": "neutral"}
    assert nli.clean_context(PREMISE) == PREMISE


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({}, "input.hypothesis"),
        ({"hypothesis": ""}, "input.hypothesis"),
        ({"hypothesis": None}, "input.hypothesis"),
        ({"hypothesis": ["x"]}, "input.hypothesis"),
        ({"hypothesis": "x" * 501}, "input.hypothesis"),
        ({"hypothesis": "x", "hypothesi": "y"}, "input.hypothesi"),
        ({"hypothesis": "x", "fooled": True}, "input.fooled"),
        ({"hypothesis": "x", 5: "y"}, "input.5"),
        ({"hypothesis": "x", "\ud800": "y"}, "input.\N{REPLACEMENT CHARACTER}"),
        ([], "input"),
        (None, "input"),
        ("hypothesis", "input"),
    ],
)
def test_bad_input_is_refused_under_the_name_of_its_field(values, path):
    assert list(refused(nli.clean_input, values, PREMISE)) == [path]


@settings(deadline=None)
@given(st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters(exclude_categories=[]), max_size=6),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(exclude_categories=[]), max_size=4)
                      | st.sampled_from(["label", "hypothesis", "why_correct", "fooling_words", "reason"]), inner),
    max_leaves=8))  # fmt: skip
def test_no_values_crash_any_part(values):
    parts = [
        lambda: nli.clean_context(values),
        lambda: nli.clean_input(values, PREMISE),
        lambda: nli.clean_answer(values, {"label": "neutral"}),
        lambda: nli.clean_ask(values, input=HYPOTHESIS, fooled=True),
        lambda: nli.clean_validation(values, vote="incorrect", input=HYPOTHESIS),
    ]
    for part in parts:
        try:
            part()
        except Invalid as refusal:
            refusal.detail.encode()


def test_an_assigned_goal_must_be_the_answer():
    goal = {"label": "contradiction"}
    assert nli.clean_answer({"label": "contradiction"}, goal) == goal
    assert "Your goal is “contradiction”" in refused(nli.clean_answer, {"label": "neutral"}, goal)["answer.label"]
    assert list(refused(nli.clean_answer, {"label": "maybe"}, goal)) == ["answer.label"]


def test_what_tricked_the_model_is_asked_only_where_it_was_fooled():
    values = {"why_correct": "Sure.", "why_fooled": "It fell for a word.", "fooling_words": [{"start": 0, "end": 4}]}
    fooled = nli.clean_ask(values, input=HYPOTHESIS, fooled=True)
    assert fooled["fooling_words"] == [{"start": 0, "end": 4, "text": "They"}]
    assert nli.clean_ask(values, input=HYPOTHESIS, fooled=False) == {"why_correct": "Sure."}
    assert nli.clean_ask({}, input=HYPOTHESIS, fooled=True) == {}


def test_a_validator_corrects_only_what_they_found_incorrect():
    values = {"corrected_label": "neutral", "reason": " It may rain. "}
    assert nli.clean_validation(values, vote="incorrect", input=HYPOTHESIS) == {**values, "reason": "It may rain."}
    assert nli.clean_validation(values, vote="flagged", input=HYPOTHESIS) == {"reason": "It may rain."}
    assert nli.clean_validation(values, vote="correct", input=HYPOTHESIS) == {}
    wrong = {"corrected_label": "maybe"}
    assert list(refused(nli.clean_validation, wrong, vote="incorrect", input=HYPOTHESIS)) == [
        "validation.corrected_label"
    ]


def test_a_field_may_depend_on_another_fields_value():
    config = TaskConfig.parse("""\
id: hate
name: Hate
input: {name: post, type: text}
answer: {name: label, type: choice, options: [hateful, not hateful]}
ask:
  - {name: kind, type: choice, options: [threat, slur], when: label == hateful, required: true}
  - {name: word, type: text, when: kind == slur}
""")

    def ask(values, label):
        return config.clean_ask(values, input={"post": "x"}, answer={"label": label}, fooled=False)

    assert ask({"kind": "slur", "word": "w"}, "hateful") == {"kind": "slur", "word": "w"}
    assert ask({"kind": "threat", "word": "w"}, "hateful") == {"kind": "threat"}
    assert ask({"kind": "slur", "word": "w"}, "not hateful") == {}
    with pytest.raises(Invalid):
        ask({}, "hateful")


def test_a_prompt_is_the_beginning_and_neither_shown_nor_given_to_models():
    context = {"prompt": "The train was on time."}
    assert sentiment.initial("prompt", context) == {"statement": "The train was on time."}
    assert sentiment.initial("blank", context) == {}
    assert sentiment.shown_context(context) == {}
    assert sentiment.model_inputs(context, {"statement": "It was late."}) == {"statement": "It was late."}


def test_models_get_context_and_input():
    assert nli.model_inputs(PREMISE, HYPOTHESIS) == {**PREMISE, **HYPOTHESIS}
    assert nli.shown_context(PREMISE) == PREMISE
    assert nli.initial("blank", PREMISE) == {}


def test_goals_and_starts_are_drawn_evenly_from_the_given_random_numbers():
    rng = random.Random(3)
    goals = Counter(nli.draw_goal(rng)["label"] for _ in range(3000))
    starts = Counter(sentiment.draw_start(rng) for _ in range(3000))
    assert set(goals) == {"entailment", "neutral", "contradiction"}
    assert set(starts) == {"blank", "prompt", "seed"}
    assert min(goals.values()) > 900
    assert min(starts.values()) > 900
    assert sentiment.draw_goal(rng) is None
    assert nli.draw_start(rng) == "blank"
    assert nli.draw_goal(random.Random(8)) == nli.draw_goal(random.Random(8))


def test_a_model_is_fooled_when_it_says_something_else():
    assert nli.fooled_by({"label": "neutral"}, {"label": "entailment"})
    assert not nli.fooled_by({"label": "neutral"}, {"label": "neutral"})
    assert nli.agrees({"label": "neutral"}, {"label": "neutral"})
    assert not nli.agrees({"label": "neutral"}, {"label": "entailment"})


@pytest.mark.parametrize(
    "prediction", [{}, {"lable": "neutral"}, {"label": "NEUTRAL"}, {"label": None}, {"label": 2}, None]
)
def test_a_model_that_does_not_answer_the_question_is_broken_and_not_fooled(prediction):
    with pytest.raises(Unavailable):
        nli.fooled_by(prediction, {"label": "entailment"})


def test_forms_become_values_by_full_names():
    posted = [
        ("input.hypothesis", "They eat."),
        ("answer.label", "neutral"),
        ("csrf", "x"),
        ("ask.fooling_words", "0:4"),
    ]
    posted += [("ask.fooling_words", "9:12"), ("ask.why_correct", "")]
    assert nli.form("input", posted) == {"hypothesis": "They eat."}
    assert nli.form("answer", posted) == {"label": "neutral"}
    request = nli.clean_ask(nli.form("ask", posted), input=HYPOTHESIS, fooled=True)
    assert [span["text"] for span in request["fooling_words"]] == ["They", "not"]
    assert list(request) == ["fooling_words"]
    assert list(refused(nli.clean_answer, nli.form("answer", [*posted, ("answer.label", "neutral")]))) == [
        "answer.label"
    ]


def test_the_public_description_has_fields_with_options_and_rules():
    public = nli.public()
    assert [option["value"] for option in public["answer"][0]["options"]] == ["entailment", "neutral", "contradiction"]
    assert (public["goal"], public["fooled"]["rule"], public["validate"]["votes"]) == ("assigned", "differs", 2)
    assert [field["name"] for field in public["validate"]["ask"]] == ["corrected_label", "reason"]
    assert public["instructions"]["validate"].startswith("Read the premise")


@pytest.mark.parametrize("name", ["nli", "sentiment"])
def test_shipped_contexts_are_many_clean_and_all_different(name):
    task = SHIPPED[name]
    contexts = list(task.contexts())
    texts = [next(iter(context["values"].values())) for context in contexts]
    assert len(contexts) == len(set(texts)) >= 48
    assert len({context["tag"] for context in contexts}) >= 8
    assert [task.config.clean_context(context["values"]) for context in contexts] == [c["values"] for c in contexts]


def test_the_two_tasks_differ_where_the_platform_has_a_choice():
    assert (nli.goal, sentiment.goal) == ("assigned", "chosen")
    assert (nli.start.kinds, sentiment.start.kinds) == (["blank"], ["blank", "prompt", "seed"])
    assert (nli.validation.mode, sentiment.validation.mode) == ("judge", "answer")
