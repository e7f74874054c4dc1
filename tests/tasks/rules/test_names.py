"""Names in a text: when a tagger counts as fooled, and how one is scored."""

import pytest

from dynabench.benchmark.evaluations.measures import bind_metric
from dynabench.kit.errors import Invalid
from dynabench.tasks import TaskConfig

NAMES = """\
id: names
name: Names
input: {name: sentence, type: text}
answer: {name: names, type: labelled_spans, of: sentence, labels: [person, place], required: false}
fooled: {rule: metric_below, metric: labelled_spans_f1, output: OUTPUT, threshold: 1}
"""


@pytest.mark.parametrize(
    ("predicted", "claimed", "strict", "partial"),
    [
        ([(0, 3, "person")], [(0, 3, "person")], False, False),
        ([(0, 3, "place")], [(0, 3, "person")], True, False),
        ([(0, 2, "person")], [(0, 3, "person")], True, True),
        ([], [(0, 3, "person")], True, True),
        ([(0, 3, "person")], [], True, True),
        ([], [], False, False),
    ],
)
def test_names_are_compared_by_place_and_label(predicted, claimed, strict, partial):
    def spans(spans_of):
        return [{"start": start, "end": end, "label": label, "text": "Ada"} for start, end, label in spans_of]

    for output, fooled in (("f1", strict), ("partial_f1", partial)):
        config = TaskConfig.parse(NAMES.replace("OUTPUT", output))
        answer = spans(claimed) or None
        assert config.fooled_by({"names": spans(predicted)}, {"names": answer}) is fooled


def test_a_metric_of_names_takes_no_text():
    with pytest.raises(Invalid) as refused:
        TaskConfig.parse(
            NAMES.replace("OUTPUT", "f1").replace("labelled_spans, of: sentence, labels: [person, place]", "text")
        )
    assert "compares labelled spans" in refused.value.fields["fooled.rule"]


def test_a_board_scores_names_by_place_and_label():
    field = TaskConfig.parse(NAMES.replace("OUTPUT", "f1")).answer[0]
    ada, rome = ({"start": at, "end": at + 3, "label": "person", "text": "Ada"} for at in (0, 5))
    outcome = bind_metric("f1", field, [[ada], [], [ada, rome]], [[[ada]], [None], [[ada]]])
    state = outcome.module.state(outcome.columns, **outcome.module.options)
    assert outcome.module.result(state)[outcome.key] == pytest.approx(2 * 2 / (3 + 2))
