"""The measures of trec_eval, for rankings of documents."""

from collections import Counter
from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Records
from dynabench.evaluate.module import Metric
from dynabench.evaluate.numbers.rankings import COUNTS, CUTS, MEANS, Queries, judgements, measured, rankings
from dynabench.language import N_

QREL = {"query": [0], "q0": ["q0"], "docid": ["doc_1"], "rel": [2]}
RUN = {
    "query": [0, 0],
    "q0": ["q0", "q0"],
    "docid": ["doc_2", "doc_1"],
    "rank": [0, 1],
    "score": [1.5, 1.2],
    "system": ["test", "test"],
}


class TrecEval(Metric):
    """How well rankings put relevant documents before others."""

    card = Card(
        description=N_(
            "The measures of the program trec_eval for rankings of documents: mean average precision and its geometric "
            "form, binary preference, precision and normalised discounted cumulative gain at nine depths, R-precision "
            "and reciprocal rank, each a mean over queries."
        ),
        formula=r"\mathrm{AP} = \frac{1}{R} \sum_{i : \mathrm{rel}_i > 0} P@i, \quad "
        r"\mathrm{NDCG}@k = \frac{\sum_{i \le k} \mathrm{rel}_i / \log_2(i + 1)}"
        r"{\sum_{i \le k} \mathrm{rel}^*_i / \log_2(i + 1)}",
        inputs={
            "predictions": "runs: dictionaries of lists query, docid, score (and q0, rank, system), a value for each "
            "document found; usually one run, or one for each batch of queries",
            "references": "judgements: dictionaries of lists query, docid, rel (and q0), a value for each document "
            "judged; one for each run",
        },
        options={"complete": "True also counts judged queries that the run lacks, as 0 (trec_eval -c)"},
        outputs=(
            Output("runid", "name of the run"),
            Output("num_ret", "documents found", 0),
            Output("num_rel", "relevant documents", 0),
            Output("num_rel_ret", "relevant documents found", 0, None, "higher"),
            Output("num_q", "queries", 0),
            Output("map", "mean average precision", 0, 1, "higher"),
            Output("gm_map", "geometric mean of average precisions of at least 0.00001", 0, 1, "higher"),
            Output("bpref", "share of relevant documents above irrelevant ones", 0, 1, "higher"),
            Output("Rprec", "precision at as many documents as are relevant", 0, 1, "higher"),
            Output("recip_rank", "reciprocal rank of the first relevant document", 0, 1, "higher"),
            *(Output(f"P@{cut}", f"precision of the first {cut}", 0, 1, "higher") for cut in CUTS),
            *(
                Output(f"NDCG@{cut}", f"normalised discounted cumulative gain of the first {cut}", 0, 1, "higher")
                for cut in CUTS
            ),
        ),
        examples=(
            Example(
                "The relevant document comes second",
                {"predictions": [RUN], "references": [QREL]},
                {"runid": "test", "num_q": 1, "map": 0.5, "recip_rank": 0.5, "P@5": 0.2, "NDCG@5": 0.6309297535714575},
            ),
            Example(
                "Two runs of a query each are one",
                {
                    "predictions": [RUN, {"query": ["b"], "docid": ["x"], "score": [1]}],
                    "references": [QREL, {"query": ["b"], "docid": ["y"], "rel": [1]}],
                },
                {"num_q": 2, "map": 0.25, "gm_map": 0.0022360679774997894, "num_rel_ret": 1},
            ),
            Example(
                "A run of queries that nobody judged",
                {"predictions": [RUN], "references": [{"query": [1], "docid": ["doc_1"], "rel": [1]}]},
                error="no query of the run is judged",
            ),
        ),
        limits=(
            "Documents that nobody judged count as irrelevant (but for bpref), which is unfair to systems that find "
            "what the judged ones did not. Queries that were not judged are left out, queries without a relevant "
            "document score 0. Ties in score are broken by the document's name, from the last."
        ),
        citation=(
            "Voorhees and Harman, TREC: Experiment and Evaluation in Information Retrieval, MIT Press, 2005; Palotti, "
            "Scells and Zuccon, TrecTools, SIGIR 2019; Jarvelin and Kekalainen, Cumulated gain-based evaluation of IR "
            "techniques, 2002; Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004."
        ),
        tasks=("text-retrieval", "document-question-answering"),
        references=("https://github.com/usnistgov/trec_eval",),
    )
    columns = {
        "predictions": Records(keys=("query", "docid", "score")),
        "references": Records(keys=("query", "docid", "rel")),
    }

    def update(self, predictions: list[Any], references: list[Any], *, complete: bool = False) -> Queries:
        """Measures of each query."""
        names: list[str] = []
        runs: list[str] = []
        rows = []
        for row, (run, qrel) in enumerate(zip(predictions, references, strict=True)):
            system, ranked = rankings(run, row)
            judged = judgements(qrel, row)
            chosen = list(judged) if complete else [query for query in ranked if query in judged]
            rows += [measured(ranked.get(query, []), judged[query]) for query in chosen]
            names += chosen
            runs.append(system)
        table = np.array(rows, float).reshape(len(rows), len(COUNTS) + len(MEANS) + 1)
        return Queries(table, tuple(names), tuple(dict.fromkeys(filter(None, runs))))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Sums of counts and means of measures over queries."""
        n = total[..., -1]
        found = {key: total[..., place] for place, key in enumerate(COUNTS)} | {"num_q": n}
        for place, key in enumerate(MEANS, len(COUNTS)):
            found[key] = total[..., place] / n
            if key == "map":
                found["gm_map"] = np.exp(total[..., -2] / n)
        return found

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError where no query is judged, or one comes in several runs."""
        if not len(state):
            raise ValueError("no query of the run is judged; do both name queries in the same way?")
        twice = [name for name, times in Counter(state.names).items() if times > 1]
        if twice:
            raise ValueError(f"query {twice[0]} comes in more than one run; evaluate one run at a time")
        found = super().result(state, **options)
        return {"runid": "+".join(state.runs), **found, **{key: int(found[key]) for key in (*COUNTS, "num_q")}}

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """All measures of each query, and its name under "query"."""
        found = self.formula(state.alone())
        return {"query": list(state.names)} | {key: found[key] for key in (*COUNTS, *MEANS)}
