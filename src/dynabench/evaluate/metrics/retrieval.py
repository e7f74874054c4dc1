"""Scores of retrieval: rankings of documents as trec_eval computes them, and FEVER's claims with evidence."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Labels, Numbers, Records
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.values import ratio

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
COUNTS = ("num_ret", "num_rel", "num_rel_ret")
MEANS = (
    "map",
    "bpref",
    "Rprec",
    "recip_rank",
    *(f"P@{cut}" for cut in CUTS),
    *(f"NDCG@{cut}" for cut in CUTS),
)
MIN_PRECISION = 1e-5  # what trec_eval takes for an average precision of 0 in a geometric mean

Relevances = dict[str, int]
Ranking = list[str]


@dataclass(frozen=True)
class QueryMeasures(Sums):
    """A row for each query: `COUNTS`, `MEANS` and the logarithm of the average precision; with the queries' names."""

    names: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

    def __add__(self, other: Sums) -> "QueryMeasures":
        assert isinstance(other, QueryMeasures)
        both = tuple(dict.fromkeys((*self.runs, *other.runs)))
        return QueryMeasures(np.concatenate([self.rows, other.rows]), (*self.names, *other.names), both)


def query_measures(ranking: Ranking, judged: Relevances) -> list[float]:
    """The row of one query, from documents in order of rank and judgements (relevance by document).

    A document is relevant at 1 and above; below 0 it counts as not judged, as those without judgement do.
    """
    gains = np.array([max(judged.get(document, 0), 0) for document in ranking], float)
    hits = gains > 0
    relevant = sum(rel > 0 for rel in judged.values())
    upto = np.cumsum(hits)
    precision = upto / np.arange(1, len(hits) + 1)
    average = float(ratio(precision[hits].sum(), relevant))
    first = 1 / (int(hits.argmax()) + 1) if hits.any() else 0.0
    at = [int(hits[:cut].sum()) / cut for cut in CUTS]
    row = [len(ranking), relevant, int(hits.sum()), average, _bpref(ranking, judged, relevant)]
    row += [float(ratio(hits[:relevant].sum(), relevant)), first, *at, *_ndcg(gains, judged)]
    return [*row, log(max(average, MIN_PRECISION))]


def _ndcg(gains: Floats, judged: Relevances) -> list[float]:
    """Discounted gain of the first documents over the best possible one, for each of `CUTS` (Jarvelin, Kekalainen)."""
    best = np.sort([max(rel, 0) for rel in judged.values()])[::-1].astype(float)
    summed, ideal = (np.cumsum([0, *(values / np.log2(np.arange(2, len(values) + 2)))]) for values in (gains, best))
    return [float(ratio(summed[min(cut, len(gains))], ideal[min(cut, len(best))])) for cut in CUTS]


def _bpref(ranking: Ranking, judged: Relevances, relevant: int) -> float:
    """The share of relevant documents above documents judged irrelevant (Buckley and Voorhees, 2004)."""
    other = sum(rel == 0 for rel in judged.values())
    above, score = 0, 0.0
    for document in ranking:
        rel = judged.get(document, -1)
        if rel > 0:
            score += 1 - min(above, relevant) / min(other, relevant) if above else 1
        above += rel == 0
    return score / relevant if relevant else 0.0


def query_rankings(run: Mapping[str, Any], row: int) -> tuple[str, dict[str, Ranking]]:
    """The run's name, and the ranking of each query: by score from the highest, ties by the name of the document from
    the last, whatever `rank` says (as trec_eval does).

    Raises ValueError for lists of different lengths, scores that are no numbers, and a document that comes twice.
    """
    where = f"predictions: row {row}"
    queries, documents, scores = _lists(run, ("query", "docid", "score"), where)
    numbers = Numbers().clean(scores, f"{where}, score")
    order = sorted(zip(numbers.tolist(), documents, queries, strict=True), reverse=True)
    by_query: dict[str, Ranking] = defaultdict(list)
    for _, document, query in order:
        by_query[query].append(document)
    for query, ranking in by_query.items():
        if len(set(ranking)) < len(ranking):
            raise ValueError(f"{where}: query {query} has a document twice; keep its best score only")
    systems = [str(name) for name in run.get("system", ())]
    return (systems[0] if systems else ""), {query: by_query[query] for query in dict.fromkeys(queries)}


def query_judgements(qrel: Mapping[str, Any], row: int) -> dict[str, Relevances]:
    """The relevance of each judged document, by query.

    Raises ValueError for lists of different lengths, relevances that are no whole numbers, and a document judged twice.
    """
    where = f"references: row {row}"
    queries, documents, rels = _lists(qrel, ("query", "docid", "rel"), where)
    levels = Labels().clean(rels, f"{where}, rel")
    if isinstance(levels, list) and levels:
        raise ValueError(f"{where}: rel are texts; give whole numbers, 0 for irrelevant")
    by_query: dict[str, Relevances] = defaultdict(dict)
    for query, document, level in zip(queries, documents, map(int, levels), strict=True):
        if document in by_query[query]:
            raise ValueError(f"{where}: query {query} has two judgements of document {document}; keep one")
        by_query[query][document] = level
    return dict(by_query)


def _lists(table: Mapping[str, Any], keys: Sequence[str], where: str) -> Iterator[Any]:
    """The table's columns, names as texts. Raises ValueError where they are of different lengths."""
    columns = [list(table[key]) for key in keys]
    if len({len(column) for column in columns}) > 1:
        lengths = ", ".join(f"{key} has {len(column):,}" for key, column in zip(keys, columns, strict=True))
        raise ValueError(f"{where}: all lists need one value for each document: {lengths}")
    for key, column in zip(keys, columns, strict=True):
        yield column if key in ("score", "rel") else list(map(str, column))


class TrecEval(Metric, name="trec_eval"):
    """Measures of how rankings put relevant documents before others."""

    columns = {
        "predictions": Records(keys=("query", "docid", "score")),
        "references": Records(keys=("query", "docid", "rel")),
    }

    def update(self, predictions: list[Any], references: list[Any], *, complete: bool = False) -> QueryMeasures:
        """Measures of each query."""
        names: list[str] = []
        runs: list[str] = []
        rows = []
        for row, (run, qrel) in enumerate(zip(predictions, references, strict=True)):
            system, ranked = query_rankings(run, row)
            judged = query_judgements(qrel, row)
            chosen = list(judged) if complete else [query for query in ranked if query in judged]
            rows += [query_measures(ranked.get(query, []), judged[query]) for query in chosen]
            names += chosen
            runs.append(system)
        table = np.array(rows, float).reshape(len(rows), len(COUNTS) + len(MEANS) + 1)
        return QueryMeasures(table, tuple(names), tuple(dict.fromkeys(filter(None, runs))))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Sums of counts and means of measures over queries."""
        n = total[..., -1]
        scores = {key: total[..., place] for place, key in enumerate(COUNTS)} | {"num_q": n}
        for place, key in enumerate(MEANS, len(COUNTS)):
            scores[key] = total[..., place] / n
            if key == "map":
                scores["gm_map"] = np.exp(total[..., -2] / n)
        return scores

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError where no query is judged, or one comes in several runs."""
        if not len(state):
            raise ValueError("no query of the run is judged; do both name queries in the same way?")
        duplicates = [name for name, times in Counter(state.names).items() if times > 1]
        if duplicates:
            raise ValueError(f"query {duplicates[0]} comes in more than one run; evaluate one run at a time")
        scores = super().result(state, **options)
        return {"runid": "+".join(state.runs), **scores, **{key: int(scores[key]) for key in (*COUNTS, "num_q")}}

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """All measures of each query, and its name under "query"."""
        scores = self.formula(state.alone())
        return {"query": list(state.names)} | {key: scores[key] for key in (*COUNTS, *MEANS)}


class Fever(Metric, name="fever"):
    """Share of claims that are judged rightly, and with the right evidence."""

    columns = {"predictions": Records(("label", "evidence")), "references": Records(("label", "evidence_sets"))}

    def update(self, predictions: list[dict[str, Any]], references: list[dict[str, Any]]) -> Sums:
        """Label right, evidence right too, and numbers of shared, predicted and true pieces of evidence."""
        rows = []
        for row, (prediction, true) in enumerate(zip(predictions, references, strict=True)):
            evidence = _evidence(prediction["evidence"], f"predictions: row {row}")
            sets = [
                _evidence(evidence_set, f"references: row {row}")
                for evidence_set in _evidence_sets(true["evidence_sets"], row)
            ]
            everything = frozenset().union(*sets)
            right = prediction["label"] == true["label"]
            whole = not sets or any(evidence_set <= evidence for evidence_set in sets)
            rows.append((right, right and whole, len(evidence & everything), len(evidence), len(everything)))
        return Sums(np.array(rows, np.int64).reshape(-1, 5))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Means over claims, and micro-averaged precision, recall and F1 of evidence."""
        label, score, shared, predicted, true, n = np.moveaxis(total, -1, 0)
        return {
            "label_accuracy": ratio(label, n),
            "fever_score": ratio(score, n),
            "evidence_precision": ratio(shared, predicted),
            "evidence_recall": ratio(shared, true),
            "evidence_f1": ratio(2 * shared, predicted + true),
        }


def _evidence_sets(sets: Any, row: int) -> Sequence[Any]:
    if isinstance(sets, str | Mapping) or not isinstance(sets, Sequence | np.ndarray):
        raise ValueError(f"references: row {row} has {sets!r} for evidence_sets; give a list of lists of texts")
    return list(sets)


def _evidence(evidence: Any, where: str) -> frozenset[str]:
    whole = isinstance(evidence, Sequence | np.ndarray | set | frozenset) and not isinstance(evidence, str)
    if not whole or not all(isinstance(piece, str) for piece in evidence):
        raise ValueError(f"{where} has {evidence!r} for evidence; give a list of texts")
    return frozenset(piece.strip().lower() for piece in evidence)
