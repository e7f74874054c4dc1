"""BLEU in four forms.

A row is (tokens of the prediction, tokens of the reference, hits of order 1..N, n-grams of order 1..N).
Sources: Papineni et al. 2002; Chen and Cherry 2014 for the smoothings; sacrebleu for their details.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, References, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ngrams import (
    best_places,
    encode_tokens,
    flatten_references,
    map_in_blocks,
    ngram_overlaps,
    possible_ngrams,
)
from dynabench.evaluate.states import Sums
from dynabench.evaluate.tokens import Tokenizer, tokenize_all
from dynabench.evaluate.values import MissingLibrary, ratio

SMOOTHINGS: dict[str, float | None] = {"none": None, "floor": 0.1, "add-k": 1, "exp": None}


def bleu_state(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    tokenizer: str | Tokenizer,
    orders: int = 4,
    closest: bool = True,
) -> Sums:
    """Return rows of counts, shape (n, 2 + 2 * orders). Raises ValueError for `orders` below 1.

    A row's reference length is that of the reference closest in length to the prediction (the shorter of two);
    without `closest` that of the shortest reference.
    """
    if orders < 1:
        raise ValueError(f"n-grams have at least one token: max_order cannot be {orders}")
    return Sums(
        map_in_blocks(partial(_rows, tokenizer=tokenizer, orders=orders, closest=closest), predictions, references)
    )


def sacrebleu_state(
    predictions: Sequence[str], references: Sequence[Sequence[str]], tokenizer: str | Tokenizer, lowercase: bool = False
) -> Sums:
    """Return the same counts after sacrebleu's preparation: white space at the end of texts is removed."""
    case = str.lower if lowercase else str
    predicted = [case(text).rstrip() for text in predictions]
    return bleu_state(predicted, [[case(text).rstrip() for text in row] for row in references], tokenizer)


def _rows(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    tokenizer: str | Tokenizer,
    orders: int,
    closest: bool,
) -> Ints:
    n = len(predictions)
    texts, owners = flatten_references(references)
    tokens = tokenize_all([*predictions, *texts], tokenizer)
    predicted, right = encode_tokens((tokens[:n], np.arange(n)), (tokens[n:], owners))
    lengths = _reference_lengths(predicted.lengths, right.lengths, owners, closest)
    heads = np.stack([predicted.lengths, lengths], 1)
    return np.concatenate(
        [heads, ngram_overlaps(predicted, right, n, orders), possible_ngrams(predicted.lengths, orders)], 1
    )


def _reference_lengths(predicted: Ints, right: Ints, owners: Ints, closest: bool) -> Ints:
    if len(right) == len(predicted):
        return right
    off = np.abs(right - predicted[owners]) if closest else np.zeros_like(right)
    order = np.lexsort((right, off, owners))
    nearest: Ints = right[order][np.searchsorted(owners, np.arange(len(predicted)))]
    return nearest


def split_total(total: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return lengths of predictions and references, shape (...), hits and n-grams by order, shape (..., N)."""
    orders = (total.shape[-1] - 3) // 2
    return total[..., 0], total[..., 1], total[..., 2 : 2 + orders], total[..., 2 + orders : -1]


def brevity_penalty(predicted: Floats, right: Floats) -> Floats:
    """1 for predictions longer than references, else exp(1 - references / predictions); 0 for no tokens at all."""
    shorter = np.exp(np.minimum(1 - ratio(right, predicted), 0.0))
    penalty: Floats = np.where(predicted >= right, 1.0, np.where(predicted > 0, shorter, 0.0))
    return penalty


def geometric_mean(shares: Floats, orders: Any) -> Floats:
    """The geometric mean of the first `orders` of `shares` (..., N); 0 where one of them is 0."""
    inside = np.arange(shares.shape[-1]) < np.asarray(orders)[..., None]
    logs = np.log(np.where(inside & (shares > 0), shares, 1.0)).sum(-1)
    whole = ((shares > 0) | ~inside).all(-1)
    means: Floats = np.where(whole, np.exp(ratio(logs, orders)), 0.0)
    return means


def sacrebleu_scores(
    total: Floats, smooth_method: str = "exp", smooth_value: float | None = None, effective_order: bool = False
) -> dict[str, Any]:
    """Return BLEU (0-100) and its parts as sacrebleu defines them; `total` has shape (..., 2 + 2 N + 1)."""
    if smooth_method not in SMOOTHINGS:
        raise ValueError(f"no smooth_method {smooth_method!r}; there are {', '.join(SMOOTHINGS)}")
    default = SMOOTHINGS[smooth_method]
    value = float(smooth_value if smooth_value is not None else default or 0)
    predicted, right, hits, grams = split_total(total)
    some = hits.max(-1, keepdims=True) > 0
    if smooth_method == "add-k":
        more = np.where(some & (np.arange(hits.shape[-1]) > 0), value, 0.0)
        hits, grams = hits + more, grams + more
    reached = np.logical_and.accumulate(grams > 0, axis=-1)
    missed = reached & (hits == 0)
    smoothed = np.zeros_like(hits)
    if smooth_method == "exp":
        smoothed = 0.5 ** np.cumsum(missed, axis=-1)
    elif smooth_method == "floor":
        smoothed = np.full_like(hits, value)
    shares = ratio(100 * np.where(missed, smoothed, hits), grams) * (reached & some)
    orders = np.maximum(reached.sum(-1), 1) if effective_order else np.full(predicted.shape, hits.shape[-1])
    penalty = brevity_penalty(predicted, right)
    return {
        "score": penalty * geometric_mean(shares, orders) * some[..., 0],
        "counts": _whole(hits),
        "totals": _whole(grams),
        "precisions": shares,
        "bp": penalty,
        "sys_len": _whole(predicted),
        "ref_len": _whole(right),
    }


def _whole(counts: Floats) -> NDArray[Any]:
    """Counts as integers, but for those to which a fraction was added."""
    whole = np.floor(counts)
    return whole.astype(np.int64) if (whole == counts).all() else counts


class CorpusBleu(Metric):
    """BLEU of all rows together, from a state of `sacrebleu_state`."""

    columns: ClassVar[Mapping[str, Column]] = {"predictions": Texts(), "references": References()}

    def formula(
        self,
        total: Floats,
        *,
        smooth_method: str = "exp",
        smooth_value: float | None = None,
        use_effective_order: bool = False,
    ) -> dict[str, Any]:
        """See `sacrebleu_scores`."""
        return sacrebleu_scores(total, smooth_method, smooth_value, use_effective_order)


class Bleu(Metric, name="bleu"):
    """Share of the predictions' n-grams that are in their references, with a penalty for short predictions."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        tokenizer: str | Tokenizer = "13a",
        max_order: int = 4,
    ) -> Sums:
        """Lengths, hits and n-grams of each row: see `bleus`."""
        return bleu_state(predictions, references, tokenizer, max_order, closest=False)

    def formula(self, total: Floats, *, smooth: bool = False) -> dict[str, Any]:
        """BLEU of sums of shape (..., 2 + 2 N + 1)."""
        predicted, right, hits, grams = split_total(total)
        shares = ratio(hits + smooth, grams + smooth)
        penalty = brevity_penalty(predicted, right) * ((predicted > 0) & (right > 0))
        return {
            "bleu": penalty * geometric_mean(shares, np.full(predicted.shape, shares.shape[-1])),
            "precisions": shares,
            "brevity_penalty": penalty,
            "length_ratio": ratio(predicted, right),
            "translation_length": predicted.astype(np.int64),
            "reference_length": right.astype(np.int64),
        }


class GoogleBleu(Metric, name="google_bleu"):
    """The smaller of precision and recall of n-grams, made for single sentences."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        tokenizer: str | Tokenizer = "13a",
        min_len: int = 1,
        max_len: int = 4,
    ) -> Sums:
        """Shared n-grams and the more of both sides' n-grams, shape (n, 2)."""
        if not 1 <= min_len <= max_len:
            raise ValueError(f"min_len={min_len} and max_len={max_len} leave no n-grams to compare")
        return Sums(
            map_in_blocks(
                partial(_count_matches, tokenizer=tokenizer, low=min_len, high=max_len), predictions, references
            )
        )

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The ratio of sums of shape (..., 3)."""
        return {"google_bleu": ratio(total[..., 0], total[..., 1])}


def _count_matches(
    predictions: Sequence[str], references: Sequence[Sequence[str]], *, tokenizer: str | Tokenizer, low: int, high: int
) -> Ints:
    n = len(predictions)
    texts, owners = flatten_references(references)
    tokens = tokenize_all([*predictions, *texts], tokenizer)
    pairs = np.arange(len(texts))
    predicted, right = encode_tokens(([tokens[place] for place in owners.tolist()], pairs), (tokens[n:], pairs))
    shared = ngram_overlaps(predicted, right, len(texts), high)[:, low - 1 :].sum(1)
    most = np.maximum(*(possible_ngrams(side.lengths, high)[:, low - 1 :].sum(1) for side in (predicted, right)))
    rows: Ints = np.stack([shared, most], 1)[best_places(ratio(shared, most, -1.0), owners, n)]
    return rows


class Sacrebleu(CorpusBleu, name="sacrebleu"):
    """BLEU whose tokens are fixed, so that scores of different papers can be compared."""

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        tokenize: str | Tokenizer | None = None,
        lowercase: bool = False,
        force: bool = False,
    ) -> Sums:
        """Lengths, hits and n-grams of each row: see `bleus`."""
        return sacrebleu_state(predictions, references, tokenize or "13a", lowercase)


SETTING = "DYNABENCH_SPBLEU_MODEL"
FLORES = "flores200sacrebleuspm"
"""Name under which sacrebleu keeps the model of FLORES-200, where it was allowed to download it."""
MISSING = (
    "spbleu needs model=: the path of a SentencePiece model, or a function from a text to its pieces; or the path in "
    f"{SETTING}, or FLORES-200's model where sacrebleu keeps it: models/{FLORES} in ~/.sacrebleu"
)


def default_model_path() -> str | None:
    """Return the path of the machine's model: the one that is set, else that of FLORES-200 in sacrebleu's folder."""
    if configured := os.environ.get(SETTING):
        return configured
    cached = Path(os.environ.get("SACREBLEU") or "~/.sacrebleu").expanduser() / "models" / FLORES
    return str(cached) if cached.is_file() else None


class Spbleu(CorpusBleu, name="spbleu"):
    """BLEU whose tokens are the pieces of one model for many languages."""

    @classmethod
    def lacks(cls) -> str:
        """Return the missing resource; "" where this machine has a model."""
        return "" if default_model_path() else super().lacks()

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        model: str | Path | Tokenizer | None = None,
        lowercase: bool = False,
    ) -> Sums:
        """Lengths, hits and n-grams of each row: see `bleus`. Raises ValueError without a model that can be read."""
        model = model if model is not None else default_model_path()
        if model is None:
            raise ValueError(MISSING)
        pieces = model if callable(model) else _pieces(os.fspath(model))
        return sacrebleu_state(predictions, references, pieces, lowercase)


@cache
def _pieces(path: str) -> Callable[[str], list[str]]:
    try:
        import sentencepiece
    except ImportError:
        raise MissingLibrary("a SentencePiece model needs its library: pip install sentencepiece") from None
    if not Path(path).is_file():
        raise ValueError(f"no SentencePiece model is at {path}; {MISSING}")
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.Load(path)
    except (OSError, RuntimeError) as error:
        raise ValueError(f"{path} is no SentencePiece model") from error
    return lambda text: " ".join(processor.EncodeAsPieces(text)).split()
