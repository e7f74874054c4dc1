"""BERTScore."""

import csv
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.networks.checkpoints import as_function, load_model, model_label
from dynabench.evaluate.networks.embeddings import EmbeddedText, embed_by_function, embed_by_transformers
from dynabench.evaluate.networks.greedy_matching import TokenMatches, match_tokens

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
