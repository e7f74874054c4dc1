"""The measures of trec_eval, for rankings of documents."""

from collections import Counter
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Records
from dynabench.evaluate.module import Metric
from dynabench.evaluate.numbers.rankings import (
    COUNTS,
    MEANS,
    QueryMeasures,
    query_judgements,
    query_measures,
    query_rankings,
)


class TrecEval(Metric):
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
