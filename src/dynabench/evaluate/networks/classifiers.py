"""Texts to probabilities of classes, by the names that the classifier gives them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.networks.batches import batches
from dynabench.evaluate.networks.checkpoints import Loaded, asked, callable_of, loaded


def probabilities(
    model: Any, texts: Sequence[str], batch_size: int = 32, device: str | None = None, max_length: int | None = None
) -> tuple[tuple[str, ...], Floats]:
    """Names of the classes, sorted, and the probability of each for each text, shape (n, K).

    Args:
        model: a local folder, a hub id or a pair (model, tokenizer) of a sequence classifier of transformers; or a
            function of a list of texts (or a mapping of text) to one answer each: a mapping of class to probability,
            or a list of {"label": ..., "score": ...} as pipelines of transformers give it.
        texts: n texts; a classifier of transformers sees their first tokens, as many as it reads.
        batch_size: texts that run together.
        device: see `checkpoints.loaded`.
        max_length: tokens after which a text is cut; by default what the classifier reads.

    Raises:
        ValueError: no such model, or answers that are no probabilities by class.
    """
    function = callable_of(model)
    if function is None:
        names, found = _by_transformers(
            loaded(model, "AutoModelForSequenceClassification", device), texts, batch_size, max_length
        )
    else:
        names, found = _by_function(asked(function, list(texts), "probabilities by class"))
    order = np.argsort(names)
    return tuple(names[place] for place in order), found[:, order]


def logits(
    model: Loaded, columns: Sequence[Sequence[str]], batch_size: int = 32, max_length: int | None = None
) -> Floats:
    """What a sequence classifier says of each text, or pair of texts, shape (n, K).

    `columns` are one or two columns of n texts. They run sorted by length, padded on the tokenizer's side; beyond
    `max_length` tokens (by default what the model reads) they are cut.
    """
    import torch

    found: list[Any] = [None] * len(columns[0])
    for rows, batch in batches(model, columns, batch_size, max_length):
        with torch.inference_mode():
            scores = model.model(**batch).logits.double().cpu().numpy()
        for row, score in zip(rows, scores, strict=True):
            found[row] = score
    return np.stack(found)


def _by_transformers(
    model: Loaded, texts: Sequence[str], batch_size: int, max_length: int | None
) -> tuple[list[str], Floats]:
    """Softmax over one of several classes; a sigmoid of each where several may hold at once, or there is only one."""
    scores = logits(model, [texts], batch_size, max_length)
    config = model.model.config
    names = [str(config.id2label[place]) for place in range(scores.shape[1])]
    if config.problem_type == "multi_label_classification" or scores.shape[1] == 1:
        return names, 1 / (1 + np.exp(-scores))
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return names, powers / powers.sum(1, keepdims=True)


def _by_function(answers: list[Any]) -> tuple[list[str], Floats]:
    rows = [_by_name(row, answer) for row, answer in enumerate(answers)]
    names = sorted(set().union(*rows))
    found = np.array([[row.get(name, 0.0) for name in names] for row in rows], float)
    if not (np.isfinite(found) & (found >= 0) & (found <= 1 + 1e-6)).all():
        row = int(np.argwhere(~(np.isfinite(found) & (found >= 0) & (found <= 1 + 1e-6)))[0][0])
        raise ValueError(f"the model gave {rows[row]} for row {row}; probabilities lie between 0 and 1")
    return names, found


def _by_name(row: int, answer: Any) -> dict[str, float]:
    if isinstance(answer, Mapping):
        answer = [answer] if {"label", "score"} <= answer.keys() else [*_pairs(answer)]
    if isinstance(answer, list | tuple) and all(isinstance(one, Mapping) and "label" in one for one in answer):
        return {str(one["label"]): float(one["score"]) for one in answer}
    raise ValueError(
        f"the model gave {answer!r:.80} for row {row}; it has to give a mapping of class to probability for each text"
    )


def _pairs(answer: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"label": name, "score": score} for name, score in answer.items()]
