"""BERTScore.

Zhang, Kishore, Wu, Weinberger and Artzi, BERTScore: Evaluating Text Generation with BERT, ICLR 2020, section 3.
"""

import csv
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.networks.checkpoints import as_function, load_model, model_label
from dynabench.evaluate.networks.encoders import EmbeddedText, embed_by_function, embed_by_transformers
from dynabench.evaluate.states import Sums

TokenWeights = Mapping[Hashable, float]


class MatchedSide(NamedTuple):
    """Tokens of one text of a pair, without special ones, and the similarity of each to its match, (T,)."""

    tokens: tuple[Hashable, ...]
    best: Floats


class MatchedPair(NamedTuple):
    """A candidate and a reference."""

    candidate: MatchedSide
    reference: MatchedSide


def match_tokens(candidate: EmbeddedText, reference: EmbeddedText) -> MatchedPair:
    """Match each token with the most similar one of the other text; special tokens can be matches, but need none."""
    if not (candidate.own.any() and reference.own.any()):
        none = np.zeros(0)
        return MatchedPair(MatchedSide((), none), MatchedSide(_own(reference), none))
    alike = candidate.vectors @ reference.vectors.T
    return MatchedPair(
        MatchedSide(_own(candidate), alike.max(1)[candidate.own]),
        MatchedSide(_own(reference), alike.max(0)[reference.own]),
    )


@dataclass(frozen=True)
class TokenMatches:
    """Matched pairs of each row, one for each of its references; with weights and baseline, a state.

    `idf` is True for weights from all references (so they change as batches merge), or the weights themselves;
    `baseline` are the values of precision, recall and F1 that become 0.
    """

    rows: tuple[tuple[MatchedPair, ...], ...]
    idf: bool | TokenWeights = False
    baseline: tuple[float, ...] | None = None
    hashcode: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: "TokenMatches") -> "TokenMatches":
        if self.hashcode != other.hashcode or self.baseline != other.baseline or self.idf != other.idf:
            raise ValueError("only batches of the same model, layer, weights and baseline merge")
        return TokenMatches(self.rows + other.rows, self.idf, self.baseline, self.hashcode)

    @cached_property
    def scores(self) -> Sums:
        """Precision, recall and F1 of each row, shape (n, 3): the best of its references, each by itself."""
        weights = self._weights()
        score_rows = np.array([np.max([_score(pair, weights) for pair in pairs], 0) for pairs in self.rows])
        if self.baseline is not None:
            base = np.array(self.baseline)
            score_rows = (score_rows - base) / (1 - base)
        return Sums(score_rows)

    def total(self) -> Floats:
        """See `State`: sums of the three, and the number of rows."""
        sums: Floats = self.scores.total()
        return sums

    def resamples(self, rng: np.random.Generator, times: int) -> Iterator[Floats]:
        """See `State`; weights stay those of all references."""
        return self.scores.resamples(rng, times)

    def left_out(self) -> Iterator[tuple[Floats, Ints]]:
        """See `State`."""
        return self.scores.left_out()

    def at(self, rows: Ints) -> Floats:
        """See `State`."""
        totals: Floats = self.scores.at(rows)
        return totals

    def _weights(self) -> TokenWeights | None:
        """Inverse document frequencies with one added, of tokens of all references (Zhang et al., equation 1)."""
        if not isinstance(self.idf, bool):
            return self.idf
        if not self.idf:
            return None
        texts = [pair.reference.tokens for pairs in self.rows for pair in pairs]
        counts = Counter(token for tokens in texts for token in set(tokens))
        return _Frequencies(
            {token: float(np.log((len(texts) + 1) / (n + 1))) for token, n in counts.items()}, len(texts)
        )


class _Frequencies(dict[Hashable, float]):
    """Weights, with that of an unseen token."""

    def __init__(self, weights: dict[Hashable, float], texts: int) -> None:
        super().__init__(weights)
        self.unseen = float(np.log(texts + 1))

    def __missing__(self, token: Hashable) -> float:
        return self.unseen


def _score(pair: MatchedPair, weights: TokenWeights | None) -> tuple[float, float, float]:
    if not len(pair.candidate.best):
        return 0.0, 0.0, 0.0
    precision, recall = _mean(pair.candidate, weights), _mean(pair.reference, weights)
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


def _mean(side: MatchedSide, weights: TokenWeights | None) -> float:
    if weights is None:
        return float(side.best.mean())
    try:
        weight = np.array([weights[token] for token in side.tokens], float)
    except KeyError as error:
        raise ValueError(f"idf has no weight for the token {error}; add it") from None
    # where all weights are 0 (every token is in every reference), all tokens weigh the same
    return float((side.best * weight).sum() / weight.sum()) if weight.sum() else float(side.best.mean())


def _own(text: EmbeddedText) -> tuple[Hashable, ...]:
    return tuple(token for token, own in zip(text.tokens, text.own, strict=True) if own)


CHUNK = 16  # batches whose embeddings are in memory at once
LANGUAGES = {
    "en": "roberta-large",
    "zh": "bert-base-chinese",
    "tr": "dbmdz/bert-base-turkish-cased",
    "en-sci": "allenai/scibert_scivocab_uncased",
}
MULTILINGUAL = "bert-base-multilingual-cased"
# The layers that agreed best with people in WMT16, as the authors of BERTScore found
LAYERS = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "bert-base-chinese": 8,
    "bert-base-turkish-cased": 10,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "scibert_scivocab_uncased": 8,
    "distilroberta-base": 5,
    "distilbert-base-uncased": 5,
    "distilbert-base-multilingual-cased": 5,
}


class BertScore(Metric):
    """Similarity of the words of two texts in their contexts."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        lang: str | None = None,
        model_type: str | None = None,
        model: Any = None,
        num_layers: int | None = None,
        idf: bool | Mapping[Hashable, float] = False,
        rescale_with_baseline: bool = False,
        baseline_path: str | None = None,
        batch_size: int = 64,
        device: str | None = None,
        all_layers: bool = False,
        nthreads: int = 4,
        verbose: bool = False,
        use_fast_tokenizer: bool = False,
    ) -> TokenMatches:
        """Matches of all pairs of texts."""
        if all_layers:
            raise ValueError("all_layers: compute one layer after the other with num_layers")
        model_name = _choose_model(lang, model_type, model)
        function = as_function(model_name)
        layer = _layer(model_name, num_layers) if function is None else num_layers
        baseline = _baseline(baseline_path, layer) if rescale_with_baseline else None
        step = max(batch_size, 1) * CHUNK
        rows = []
        for start in range(0, len(predictions), step):
            predicted, right = predictions[start : start + step], references[start : start + step]
            texts = predicted + [text for group in right for text in group]
            if function is not None:
                embeddings = embed_by_function(function, texts)
            else:
                embeddings = embed_by_transformers(
                    load_model(model_name, "AutoModel", device), texts, layer or 0, max(batch_size, 1)
                )
            rows += _match_all(predicted, right, dict(zip(texts, embeddings, strict=True)))
        return TokenMatches(
            tuple(rows), idf, baseline, _hashcode(model_name, layer, bool(idf), baseline_path if baseline else None)
        )

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Means over all rows."""
        names = ("mean_precision", "mean_recall", "mean_f1")
        return {name: total[..., place] / total[..., -1] for place, name in enumerate(names)}

    def result(self, state: TokenMatches, **options: Any) -> dict[str, Any]:
        """Scores of all rows, their means, and the hashcode."""
        lists = {name: scores.tolist() for name, scores in self.per_example(state).items()}
        return {**lists, **super().result(state, **options), "hashcode": state.hashcode}

    def per_example(self, state: TokenMatches, **options: Any) -> dict[str, Any]:
        """Scores of all rows."""
        return dict(zip(("precision", "recall", "f1"), state.scores.rows.T, strict=True))

    def compatible(self, result: dict[str, Any]) -> dict[str, Any]:
        """Without the means."""
        return {name: value for name, value in result.items() if not name.startswith("mean_")}


def _match_all(predicted: list[str], right: list[list[str]], embedded: Mapping[str, EmbeddedText]) -> list[Any]:
    return [
        tuple(match_tokens(embedded[text], embedded[reference]) for reference in group)
        for text, group in zip(predicted, right, strict=True)
    ]


def _choose_model(lang: str | None, model_type: str | None, model: Any) -> Any:
    if model is not None and model_type is not None:
        raise ValueError("give model or model_type, not both")
    if model is not None or model_type is not None:
        return model if model_type is None else model_type
    if lang is None:
        raise ValueError("bertscore needs a model, and none can be shipped: give lang, model_type or model")
    return LANGUAGES.get(lang.lower(), MULTILINGUAL)


def _layer(model: Any, num_layers: int | None) -> int:
    short = model_label(model).rstrip("/").rpartition("/")[2]
    if num_layers is None and short not in LAYERS:
        raise ValueError(f"no best layer is known for {short}; give num_layers, usually two thirds of all layers")
    return LAYERS[short] if num_layers is None else num_layers


def _baseline(path: str | None, layer: int | None) -> tuple[float, ...]:
    """Precision, recall and F1 of unrelated texts at `layer`."""
    if path is None:
        raise ValueError("no baselines are shipped: give baseline_path, a CSV file with the columns LAYER, P, R, F")
    if not Path(path).is_file():
        raise ValueError(f"no file of baselines is at {path}")
    with Path(path).open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row.get("LAYER") == str(layer):
                return tuple(float(row[name]) for name in ("P", "R", "F"))
    raise ValueError(f"{path} has no row whose LAYER is {layer}")


def _hashcode(model: Any, layer: int | None, idf: bool, baseline: str | None) -> str:
    from importlib.metadata import version

    from dynabench import __version__

    name = model_label(model)
    short = Path(name).name if Path(name).expanduser().exists() else name
    library = "" if as_function(model) else f"(hug_trans={version('transformers')})"
    weights = "idf" if idf else "no-idf"
    return f"{short}_L{layer}_{weights}_dynabench={__version__}{library}" + "-custom-rescaled" * bool(baseline)
