"""Attributions of words: of drafts and of stored examples, once computed and kept."""

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from sqlalchemy import func, select

from dynabench.collection.attributions import Overlap, document, marked_words_overlap, round_overlap
from dynabench.collection.tables import StoredAttribution
from dynabench.models.protocol import Attribution, ModelCard, WordWeight, closer
from dynabench.rounds.tables import Round
from tests.collection.conftest import draw, send, written

TEXT = "They are not sleeping."


def test_an_examples_attribution_is_computed_once(ada, rules, database):
    answer = send(ada, written(draw(ada), TEXT)).json()
    path = f"/api/v1/examples/{answer['id']}/attributions"
    first = ada.get(path).json()
    assert (first["method"], first["label"], first["model"]) == ("length", "contradiction", "nli-a")
    assert first["hypothesis"] == first["fields"]["hypothesis"]
    assert [TEXT[word["start"] : word["end"]] for word in first["hypothesis"]] == TEXT.split()
    assert ada.get(path).json() == first
    assert ada.get(f"{path}?model=nli-a&method=length").json() == first
    assert rules.rules["nli-a"].explained == 1
    assert ada.get(f"{path}?method=halves").json()["method"] == "halves"
    assert database.read(lambda session: session.scalar(select(func.count()).select_from(StoredAttribution))) == 2


def test_attributions_are_for_the_author_and_owners(ada, bob, owner, client):
    answer = send(ada, written(draw(ada), TEXT)).json()
    path = f"/api/v1/examples/{answer['id']}/attributions"
    assert owner.get(path).status_code == 200
    assert bob.get(path).status_code == 404
    assert client.get(path).status_code == 401
    assert ada.get(f"{path}?model=nobody").status_code == 404
    assert ada.get(f"{path}?method=magic").status_code == 422


def test_drafts_are_explained_to_visitors_and_kept_nowhere(owner, client, database):
    values = client.post("/api/v1/tasks/nli/contexts/next").json()
    body = {"task": "nli", "context_id": values["id"], "input": {"hypothesis": TEXT}}
    answer = client.post("/api/v1/attributions", json=body | {"answer": {"label": "neutral"}}).json()
    assert answer["label"] == "contradiction"
    assert client.post("/api/v1/attributions", json=body | {"label": "neutral"}).json()["label"] == "neutral"
    assert client.post("/api/v1/attributions", json=body | {"model": "sentiment-a"}).status_code == 404
    assert client.post("/api/v1/attributions", json=body | {"input": {"hypothesis": ""}}).status_code == 422
    assert client.post("/api/v1/attributions", json=body | {"method": "magic"}).status_code == 422
    assert database.read(lambda session: session.scalar(select(func.count()).select_from(StoredAttribution))) == 0


def test_a_round_compares_the_words_that_authors_marked_last_with_those_the_first_target_looked_at(ada, database):
    values = draw(ada)
    while values["goal"]["label"] == "contradiction":  # which the rule would get right, and then no words are asked for
        values = draw(ada)
    answer = send(ada, written(values, TEXT)).json()
    path = f"/api/v1/examples/{answer['id']}"
    for method in ("length", "halves"):
        ada.get(f"{path}/attributions?method={method}")
    for word in ("are", "sleeping"):
        start = TEXT.index(word)
        spans = [{"start": start, "end": start + len(word), "text": word}]
        assert ada.post(f"{path}/explanations", json={"fooling_words": spans}).status_code == 201
    overlap = database.read(
        lambda session: round_overlap(session, session.scalars(select(Round).where(Round.task_id == "nli")).one())
    )
    assert overlap == Overlap(marked=1, shared=1, chance=1 / 4)


def test_a_silent_model_explains_nothing(ada, rules):
    answer = send(ada, written(draw(ada), TEXT)).json()
    rules.rules["nli-a"].status = 500
    assert ada.get(f"/api/v1/examples/{answer['id']}/attributions").status_code == 503


@pytest.mark.parametrize(
    ("methods", "method", "chosen"),
    [
        (("gradient", "layer_integrated_gradients"), "gradient", "layer_integrated_gradients"),
        (("gradient", "integrated_gradients", "occlusion", "shapley"), "gradient", "integrated_gradients"),
        (("gradient", "integrated_gradients", "occlusion", "shapley"), "occlusion", "shapley"),
        (("gradient",), "gradient", ""),
        (("exact",), "exact", ""),
        (("gradient", "shapley"), "shapley", ""),
    ],
)
def test_a_closer_look_is_one_that_the_model_can_take(methods, method, chosen):
    assert closer(ModelCard("m", "1", "nli", "rule", (), "label", methods=methods), method) == chosen


def test_fields_with_names_of_the_head_stand_under_fields_alone():
    attribution = Attribution("gradient", "yes", {"label": [WordWeight("a", 0, 1, 1.0)]})
    view = document("m", attribution)
    assert view["label"] == "yes"
    assert view["fields"]["label"][0]["text"] == "a"


WORDS = [{"start": 2 * n, "end": 2 * n + 1, "weight": w} for n, w in enumerate([0.1, -0.9, 0.5, 0.0])]


@pytest.mark.parametrize(
    ("spans", "marked", "shared"),
    [([], 0, 0), ([(2, 3)], 1, 1), ([(0, 1)], 1, 0), ([(2, 5)], 2, 2), ([(0, 3)], 2, 1), ([(0, 7)], 4, 4)],
)
def test_overlap_counts_marked_words_among_the_heaviest(spans, marked, shared):
    words_overlap = marked_words_overlap([{"start": start, "end": end} for start, end in spans], WORDS)
    assert (words_overlap.marked, words_overlap.shared) == (marked, shared)
    assert words_overlap.chance == marked**2 / 4


@drawn(st.lists(st.floats(-1, 1), max_size=12), st.lists(st.tuples(st.integers(0, 24), st.integers(1, 9)), max_size=4))
def test_overlap_is_never_more_than_what_was_marked(weights, spans):
    words = [{"start": 2 * n, "end": 2 * n + 1, "weight": weight} for n, weight in enumerate(weights)]
    words_overlap = marked_words_overlap([{"start": start, "end": start + length} for start, length in spans], words)
    assert 0 <= words_overlap.shared <= words_overlap.marked <= len(words)


def test_an_example_explained_by_two_methods_shows_each_its_own(ada, rules):
    """The stored attribution of one method is never returned for the other."""
    answer = send(ada, written(draw(ada), TEXT)).json()
    path = f"/api/v1/examples/{answer['id']}/attributions"
    first = {method: ada.get(f"{path}?method={method}").json() for method in ("length", "halves")}
    again = {method: ada.get(f"{path}?method={method}").json() for method in ("halves", "length")}
    assert first == again
    assert {method: reply["method"] for method, reply in first.items()} == {"length": "length", "halves": "halves"}
    assert first["length"]["hypothesis"] != first["halves"]["hypothesis"]
    assert rules.rules["nli-a"].explained == 2
    assert ada.get(path).json() == first["length"], "without a method it is the model's first"
