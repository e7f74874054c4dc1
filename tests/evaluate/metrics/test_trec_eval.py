"""Rankings, against scikit-learn, counting and values of the program trec_eval (9.0, by way of pytrec_eval)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from dynabench.evaluate import load

NAMES = [f"d{name}" for name in range(12)]
TABLE = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(NAMES)), min_size=1, max_size=25, unique=True)


def run_of(rows, scores):
    queries, documents = zip(*rows, strict=True)
    return {"query": list(queries), "docid": list(documents), "score": list(scores)}


def qrel_of(rows, rels):
    queries, documents = zip(*rows, strict=True)
    return {"query": list(queries), "docid": list(documents), "rel": list(rels)}


def test_values_of_trec_eval_with_ties_and_documents_that_nobody_judged():
    run = {
        "query": [1] * 8 + [2] * 4,
        "docid": ["a", "b", "c", "d", "e", "f", "g", "h", "a", "b", "c", "x"],
        "score": [3, 3, 2.5, 2, 2, 1, 0.5, 0.1, 5, 4, 4, 4],
    }
    qrel = {
        "query": [1] * 7 + [2] * 3 + [3],
        "docid": ["a", "b", "d", "e", "f", "h", "z", "a", "c", "w", "a"],
        "rel": [1, 0, 3, 0, 2, 1, 2, 0, 1, -1, 1],
    }
    result = load("trec_eval").compute(predictions=[run], references=[qrel], per_example=True)
    expected = {
        "map": [0.38, 0.3333333333],
        "bpref": [0.1, 0.0],
        "Rprec": [0.4, 0.0],
        "recip_rank": [0.5, 0.3333333333],
        "P@5": [0.4, 0.2],
        "P@10": [0.4, 0.1],
        "NDCG@5": [0.2946822802, 0.5],
        "NDCG@10": [0.4637583621, 0.5],
    }
    for key, values in expected.items():
        assert result["per_example"][key] == pytest.approx(values, abs=1e-9), key
        assert result[key] == pytest.approx(np.mean(values), abs=1e-9), key
    assert result["per_example"]["query"] == ["1", "2"]
    assert (result["num_ret"], result["num_rel"], result["num_rel_ret"], result["num_q"]) == (12, 6, 5, 2)
    assert result["gm_map"] == pytest.approx(np.sqrt(np.prod(expected["map"])), abs=1e-9)


@pytest.mark.release
@given(st.lists(st.integers(0, 3), min_size=2, max_size=40), st.randoms(use_true_random=False))
def test_a_ranking_that_is_judged_in_full_is_measured_as_in_scikit_learn(rels, random):
    scores = list(range(len(rels)))
    random.shuffle(scores)
    rows = [(0, f"d{row}") for row in range(len(rels))]
    result = load("trec_eval").compute(predictions=[run_of(rows, scores)], references=[qrel_of(rows, rels)])
    relevant = np.array(rels) > 0
    for cut in (5, 10, 30):
        assert result[f"NDCG@{cut}"] == pytest.approx(ndcg_score([rels], [scores], k=cut))
    assert result["map"] == pytest.approx(average_precision_score(relevant, scores) if relevant.any() else 0)
    best = np.argsort(scores)[::-1]
    assert result["P@5"] == pytest.approx(relevant[best][:5].sum() / 5)
    assert result["Rprec"] == pytest.approx(relevant[best][: relevant.sum()].mean() if relevant.any() else 0)


def test_ties_are_broken_by_the_last_name_whatever_the_rank_says():
    run = run_of([(0, "a"), (0, "b")], [1, 1]) | {"rank": [1, 2]}
    result = load("trec_eval").compute(predictions=[run], references=[qrel_of([(0, "b")], [1])])
    assert result["recip_rank"] == 1


def test_judged_queries_that_the_run_lacks_count_when_asked_for():
    columns = {
        "predictions": [run_of([(1, "a")], [1])],
        "references": [qrel_of([(1, "a"), (2, "a")], [1, 1])],
    }
    assert load("trec_eval").compute(**columns)["map"] == 1
    result = load("trec_eval").compute(**columns, complete=True)
    assert (result["map"], result["num_q"], result["num_rel"]) == (0.5, 2, 2)


@given(TABLE, TABLE, st.data())
def test_batches_of_queries_merge_to_the_whole_run(retrieved, judged, data):
    scores = data.draw(st.lists(st.integers(0, 5), min_size=len(retrieved), max_size=len(retrieved)))
    rels = data.draw(st.lists(st.integers(-1, 3), min_size=len(judged), max_size=len(judged)))
    run, qrel = run_of(retrieved, scores), qrel_of(judged, rels)
    module = load("trec_eval")

    def part(table, queries):
        keep = [row for row, query in enumerate(table["query"]) if query in queries]
        return {key: [values[row] for row in keep] for key, values in table.items()}

    parts = [
        module.state({"predictions": [part(run, queries)], "references": [part(qrel, queries)]})
        for queries in ((0,), (1, 2))
    ]
    merged, whole = module.merge(*parts), module.state({"predictions": [run], "references": [qrel]})
    if len(whole):
        assert module.result(merged) == pytest.approx(module.result(whole))
    else:
        with pytest.raises(ValueError, match="no query"):
            module.result(merged)


def test_the_interval_draws_queries():
    rng = np.random.default_rng(0)
    rows = [(query, name) for query in range(40) for name in NAMES]
    run, qrel = run_of(rows, rng.normal(size=len(rows))), qrel_of(rows, rng.integers(0, 2, len(rows)))
    result = load("trec_eval").compute(
        predictions=[run], references=[qrel], interval=0.95, per_example=True, resamples=2000
    )
    error = np.std(result["per_example"]["map"], ddof=1) / np.sqrt(40)
    assert result["interval"]["map"]["standard_error"] == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize(
    ("run", "qrel", "message"),
    [
        ({"score": [1]}, {}, "docid has 2, score has 1"),
        ({"score": [1, None]}, {}, "row 1 is missing"),
        ({"score": [1, float("nan")]}, {}, "row 1 is nan"),
        ({"docid": ["a", "a"]}, {}, "has a document twice"),
        ({}, {"docid": ["a", "a"]}, "two judgements of document a"),
        ({}, {"rel": [1, 0.5]}, "row 1 is 0.5"),
        ({}, {"rel": ["yes", "no"]}, "rel are texts"),
    ],
)
def test_tables_that_cannot_be_read_are_told(run, qrel, message):
    run = {"query": [1, 1], "docid": ["a", "b"], "score": [2, 1], **run}
    qrel = {"query": [1, 1], "docid": ["a", "b"], "rel": [1, 0], **qrel}
    with pytest.raises(ValueError, match=message):
        load("trec_eval").compute(predictions=[run], references=[qrel])


def test_a_query_in_two_runs_is_told():
    run, qrel = run_of([(1, "a")], [1]), qrel_of([(1, "a")], [1])
    with pytest.raises(ValueError, match="query 1 comes in more than one run"):
        load("trec_eval").compute(predictions=[run, run], references=[qrel, qrel])


def test_a_table_without_a_list_is_told():
    with pytest.raises(ValueError, match="row 0 lacks score"):
        load("trec_eval").compute(predictions=[{"query": [1], "docid": ["a"]}], references=[qrel_of([(1, "a")], [1])])
