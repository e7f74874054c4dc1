"""Summaries by TextRank."""

import math
import re

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.models import catalog, validity
from dynabench.models.backends import unlearned

TEXT = """The bridge over the river is closed for repairs. Cyclists use the ferry. "Is the ferry free?" ask some.
The city says that the bridge over the river stays closed until the repairs of the river bank are over."""


MODEL = catalog.open_model(catalog.BUILTIN / "summarization-textrank")


def test_sentences_end_at_marks_and_lines():
    assert unlearned.sentences(" One. Two!\nThree “four?” five\n\n ") == ["One.", "Two!", "Three “four?”", "five"]


def test_ranks_are_those_of_a_weighted_pagerank():
    answer = unlearned.sentences(TEXT)
    result = unlearned.ranks(answer, 0.85)
    graph = nx.Graph()
    graph.add_nodes_from(range(len(answer)))
    bags = [frozenset(re.findall(r"\w+", first.casefold())) for first in answer]
    for i in range(len(answer)):
        for j in range(i):
            if weight := len(bags[i] & bags[j]) / (math.log(len(bags[i])) + math.log(len(bags[j]))):
                graph.add_edge(i, j, weight=weight)
    expected = nx.pagerank(graph, alpha=0.85, weight="weight", tol=1e-10)
    assert result / result.sum() == pytest.approx([expected[i] for i in range(len(answer))], abs=1e-3)


def test_the_sentence_that_shares_most_is_the_summary_and_words_that_count_are_told():
    [output] = MODEL.predict([{"document": TEXT}])
    assert output.answer["summary"].startswith(("The city says", "The bridge"))
    reply = MODEL.attribute({"document": TEXT}, "summary", "occlusion")
    assert set(reply.fields) == {"document"}


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_has_a_summary_of_its_own_words(text):
    predictions = MODEL.predict([{"document": text}])
    validity.check_outputs(MODEL.card, [{"document": text}], predictions)
    assert predictions[0].answer["summary"] in text
