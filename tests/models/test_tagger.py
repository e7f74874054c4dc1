"""Names by the linear tagger: its sequences, its folder, what it finds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import load
from dynabench.kit.errors import Invalid
from dynabench.models import catalog, spec, validity
from dynabench.models.backends import tagger
from dynabench.tasks import shipped_tasks

from .texts import HARD

MODEL = catalog.open_model(catalog.BUILTIN / "ner-tagger")
NEVER = tagger.barred(2)


def allowed(tags):
    return not any(tag and tag % 2 == 0 and before not in (tag, tag - 1) for before, tag in zip((0, *tags), tags))  # noqa: B905


@given(st.lists(st.lists(st.floats(-9, 0), min_size=5, max_size=5), min_size=1, max_size=4))
def test_the_tags_are_the_likeliest_of_those_in_which_names_begin_before_they_go_on(logs):
    result = tagger.decoded(np.array(logs), NEVER)
    assert allowed(result)
    best = max(sum(row[tag] for row, tag in zip(logs, tags, strict=True)) for tags in every(len(logs)))
    assert sum(row[tag] for row, tag in zip(logs, result, strict=True)) == pytest.approx(best)


def every(length):
    return filter(allowed, product(range(5), repeat=length))


def test_stretches_are_names_with_their_labels():
    assert tagger.stretches([0, 1, 2, 0, 3, 1, 2, 2]) == [(1, 2, 0), (4, 4, 1), (5, 7, 0)]


def test_it_finds_what_is_plain():
    [output] = MODEL.predict([{"sentence": "In 1998 Anna Lindqvist moved to Chicago."}])
    result = {span["text"]: span["label"] for span in output.answer["names"]}
    assert result == {"1998": "date", "Anna Lindqvist": "person", "Chicago": "place"}


@pytest.mark.parametrize("text", HARD)
def test_whatever_it_reads_its_answer_is_one(text):
    batch = [{"sentence": text}]
    validity.check_outputs(MODEL.card, batch, MODEL.predict(batch))


def test_it_scores_what_its_card_says():
    seeds = list(next(task for task in shipped_tasks() if task.config.id == "ner").seeds())
    names = [output.answer["names"] for output in MODEL.predict([seed["input"] for seed in seeds])]
    result = load("labelled_spans_f1").compute(
        predictions=names, references=[seed["answer"]["names"] for seed in seeds]
    )
    stated = spec.read(catalog.BUILTIN / "ner-tagger").scores["the task's own sentences"]
    assert result["f1"] == pytest.approx(stated.f1, abs=1e-3)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [("bits: 15", "bits: 14", "tagger"), ("returns: tags", "returns: spans", "returns"), ("bits: 15", "bit: 15", "")],
)
def test_a_folder_that_does_not_fit_is_refused(copied, before, after, message):
    folder = copied("ner-tagger")
    path = folder / "model.yaml"
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(Invalid) as refused:
        tagger.TaggerModel.open(folder)
    assert any(message in key for key in refused.value.fields)
