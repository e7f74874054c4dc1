"""Classifiers of texts, and embeddings."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.networks.checkpoints import (
    LoadedModel,
    as_function,
    ask_function,
    load_model,
    token_batches,
    token_limit,
)


def class_probabilities(
    model: Any, texts: Sequence[str], batch_size: int = 32, device: str | None = None, max_length: int | None = None
) -> tuple[tuple[str, ...], Floats]:
    """Return names of the classes, sorted, and the probability of each for each text, shape (n, K).

    Args:
        model: a local folder, a hub id or a pair (model, tokenizer) of a sequence classifier of transformers; or a
            function of a list of texts (or a mapping of text) to one answer each: a mapping of class to probability,
            or a list of {"label": ..., "score": ...} as pipelines of transformers return it.
        texts: n texts; a classifier of transformers reads their first tokens, up to its limit.
        batch_size: texts that run together.
        device: see `checkpoints.load_model`.
        max_length: tokens after which a text is cut; by default the limit of the classifier.

    Raises:
        ValueError: no such model, or answers that are no probabilities by class.
    """
    function = as_function(model)
    if function is None:
        names, table = _by_transformers(
            load_model(model, "AutoModelForSequenceClassification", device), texts, batch_size, max_length
        )
    else:
        names, table = _by_function(ask_function(function, list(texts), "probabilities by class"))
    order = np.argsort(names)
    return tuple(names[place] for place in order), table[:, order]


def sequence_logits(
    model: LoadedModel, columns: Sequence[Sequence[str]], batch_size: int = 32, max_length: int | None = None
) -> Floats:
    """Return the logits of a sequence classifier for each text, or pair of texts, shape (n, K).

    `columns` are one or two columns of n texts. They run sorted by length, padded on the tokenizer's side; beyond
    `max_length` tokens (by default the model's limit) they are cut.
    """
    import torch

    logit_rows: list[Any] = [None] * len(columns[0])
    for rows, batch in token_batches(model, columns, batch_size, max_length):
        with torch.inference_mode():
            scores = model.model(**batch).logits.double().cpu().numpy()
        for row, score in zip(rows, scores, strict=True):
            logit_rows[row] = score
    return np.stack(logit_rows)


def _by_transformers(
    model: LoadedModel, texts: Sequence[str], batch_size: int, max_length: int | None
) -> tuple[list[str], Floats]:
    """Softmax over one of several classes; a sigmoid of each where several may hold at once, or there is only one."""
    scores = sequence_logits(model, [texts], batch_size, max_length)
    config = model.model.config
    names = [str(config.id2label[place]) for place in range(scores.shape[1])]
    if config.problem_type == "multi_label_classification" or scores.shape[1] == 1:
        return names, 1 / (1 + np.exp(-scores))
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return names, powers / powers.sum(1, keepdims=True)


def _by_function(answers: list[Any]) -> tuple[list[str], Floats]:
    rows = [_by_name(row, answer) for row, answer in enumerate(answers)]
    names = sorted(set().union(*rows))
    table = np.array([[row.get(name, 0.0) for name in names] for row in rows], float)
    if not (np.isfinite(table) & (table >= 0) & (table <= 1 + 1e-6)).all():
        row = int(np.argwhere(~(np.isfinite(table) & (table >= 0) & (table <= 1 + 1e-6)))[0][0])
        raise ValueError(f"the model gave {rows[row]} for row {row}; probabilities lie between 0 and 1")
    return names, table


def _by_name(row: int, answer: Any) -> dict[str, float]:
    if isinstance(answer, Mapping):
        is_entry = {"label", "score"} <= answer.keys()
        answer = [answer] if is_entry else [{"label": name, "score": score} for name, score in answer.items()]
    if isinstance(answer, list | tuple) and all(isinstance(entry, Mapping) and "label" in entry for entry in answer):
        return {str(entry["label"]): float(entry["score"]) for entry in answer}
    raise ValueError(
        f"the model gave {answer!r:.80} for row {row}; it has to give a mapping of class to probability for each text"
    )


class EmbeddedText(NamedTuple):
    """A text's T tokens, their vectors of length 1, shape (T, D), and which of them are no special tokens, (T,)."""

    tokens: tuple[Hashable, ...]
    vectors: Floats
    own: NDArray[np.bool_]


def embed_by_transformers(model: LoadedModel, texts: Sequence[str], layer: int, batch_size: int) -> list[EmbeddedText]:
    """Return embeddings after `layer` of the model's encoder (0: the input embeddings); each text runs once.

    Texts are cut at the model's limit. Raises ValueError for a layer that the model does not have.
    """
    import torch

    layer_count = int(model.model.config.num_hidden_layers)
    if not 0 <= layer <= layer_count:
        raise ValueError(f"num_layers={layer}: the model has {layer_count} layers")
    different = sorted(set(texts), key=lambda text: (-len(text), text))
    by_text: dict[str, EmbeddedText] = {}
    encoder = model.model.get_encoder() if model.model.config.is_encoder_decoder else model.model
    for start in range(0, len(different), batch_size):
        part = different[start : start + batch_size]
        batch = _encode(model, part)
        special = batch.pop("special_tokens_mask").bool().numpy()
        mask = batch["attention_mask"].bool().numpy()
        with torch.inference_mode():
            read = encoder(**batch.to(encoder.device), output_hidden_states=True)
        vectors = read.hidden_states[layer].double().cpu().numpy()
        ids = batch["input_ids"].cpu().numpy()
        for row, text in enumerate(part):
            unpadded = mask[row]
            by_text[text] = EmbeddedText(
                tuple(ids[row][unpadded].tolist()), _unit(vectors[row][unpadded]), ~special[row][unpadded]
            )
    return [by_text[text] for text in texts]


def embed_by_function(function: Any, texts: Sequence[str]) -> list[EmbeddedText]:
    """Return embeddings from a function of texts to {"tokens": ..., "vectors": ...}; no token is special.

    Raises ValueError for another answer, or not one vector of one length for each token.
    """
    different = list(dict.fromkeys(texts))
    by_text = {}
    for text, answer in zip(different, ask_function(function, different, "tokens and vectors"), strict=True):
        if not isinstance(answer, Mapping) or {"tokens", "vectors"} - answer.keys():
            raise ValueError(f'the model gave {answer!r:.80} for {text!r:.40}; it has to give {{"tokens", "vectors"}}')
        tokens = tuple(answer["tokens"])
        vectors = np.asarray(answer["vectors"], float)
        if not len(tokens):
            vectors = vectors.reshape(0, 1)
        if vectors.ndim != 2 or len(vectors) != len(tokens) or not np.isfinite(vectors).all():
            raise ValueError(f"the model has to give one vector of numbers for each of the tokens of {text!r:.40}")
        by_text[text] = EmbeddedText(tokens, _unit(vectors), np.ones(len(tokens), bool))
    return [by_text[text] for text in texts]


def _encode(model: LoadedModel, texts: Sequence[str]) -> Any:
    tokenizer = model.tokenizer
    longest = token_limit(model)
    if tokenizer.pad_token is None:
        raise ValueError("the tokenizer has no padding token; set one (tokenizer.pad_token) and give the pair")
    return tokenizer(
        [text.strip() for text in texts],
        padding=True,
        truncation=longest is not None,
        max_length=longest,
        return_special_tokens_mask=True,
        return_tensors="pt",
        verbose=False,
    )


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    result: Floats = vectors / np.where(lengths > 0, lengths, 1)
    return result
