"""Log-likelihoods of texts under causal language models.

Each text becomes rows (context, target): tokens that come first, and tokens whose log-probabilities are added
up; `token_scores.py` computes them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.networks.token_scores import ScoredTokens, max_positions, sum_log_probabilities


@dataclass(frozen=True)
class Likelihoods:
    """Sums of the tokens' natural log-probabilities, numbers of tokens and of UTF-8 bytes of n texts, each (n,)."""

    log_probabilities: Floats
    tokens: Ints
    bytes: Ints


def log_likelihoods(
    model: Any, tokenizer: Any, prompts: Sequence[str], continuations: Sequence[str], batch_size: int = 16
) -> Likelihoods:
    """Return the log-likelihood of each continuation after its prompt.

    Row i is prompts[i] followed by continuations[i].

    A prompt may be empty: then the model's start token stands before the continuation. All continuations of the
    same prompt are scored after the same tokens: those that the prompt's own tokens share with all of its
    continued texts. So where a token spans the seam (a space at the end of a prompt, a word that goes on), it is
    scored with the continuation, and the continuations of one prompt remain comparable. The prompt is run once
    for all of them where that saves time. `model` is a causal language model of transformers and stays on its
    device.

    Raises:
        ValueError: unequal lengths, an empty continuation, or a row longer than the model reads.
    """
    if len(prompts) != len(continuations):
        raise ValueError(f"{len(prompts)} prompts for {len(continuations)} continuations; give one for each")
    for row, text in enumerate(continuations):
        if not text:
            raise ValueError(f"continuation {row} is empty; give a text with at least one character")
    rows = _after_prompts(tokenizer, prompts, continuations)
    return Likelihoods(
        sum_log_probabilities(model, rows, batch_size),
        np.array([len(row.target) for row in rows], np.int64),
        utf8_bytes(continuations),
    )


def text_likelihoods(
    model: Any,
    tokenizer: Any,
    texts: Sequence[str],
    batch_size: int = 16,
    add_start_token: bool = True,
    max_length: int | None = None,
) -> Likelihoods:
    """Return the log-likelihood of each text, cut after `max_length` tokens (with the start token).

    Without the start token, the first token of a text is context and not scored. Bytes are those of the whole text.

    Raises:
        ValueError: no start token, a text of too few tokens, or longer than the model reads without `max_length`.
    """
    start = (start_token(tokenizer),) if add_start_token else ()
    rows = []
    for number, ids in enumerate(token_ids(tokenizer, texts)):
        scored_ids = (*start, *ids)[:max_length]
        if len(scored_ids) < 2:
            advice = (
                "add_start_token=True scores texts of one token"
                if ids and not start
                else "drop it, or raise max_length"
            )
            raise ValueError(f"row {number} has {len(ids)} tokens, none of them can be scored; {advice}")
        rows.append(ScoredTokens(scored_ids[:1], scored_ids[1:]))
    tokens = np.array([len(row.target) for row in rows], np.int64)
    return Likelihoods(sum_log_probabilities(model, rows, batch_size), tokens, utf8_bytes(texts))


def window_likelihoods(
    model: Any, tokenizer: Any, texts: Sequence[str], batch_size: int = 16, max_length: int | None = None
) -> Likelihoods:
    """Return the log-likelihood of each text of any length: each token once, given the start token or those before it.

    A text that is longer than the model reads (or `max_length`) is read in windows, in which each token sees at
    least the half window before it. An empty text has 0 tokens and the log-probability 0.
    """
    start = start_token(tokenizer, or_end=True)
    limit = min(size for size in (max_length, max_positions(model), 1 << 30) if size)
    if limit < 2:
        raise ValueError(f"max_length={max_length} leaves no token to score; it has to be 2 or more")
    rows: list[ScoredTokens] = []
    owners: list[int] = []
    for number, ids in enumerate(token_ids(tokenizer, texts)):
        parts = list(_windows((start, *ids), limit))
        rows += parts
        owners += [number] * len(parts)
    place = np.array(owners, np.int64)
    tokens = np.bincount(place, [len(row.target) for row in rows], len(texts))
    sums = np.bincount(place, sum_log_probabilities(model, rows, batch_size), len(texts))
    return Likelihoods(sums.astype(float), tokens.astype(np.int64), utf8_bytes(texts))


def token_ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text, without special tokens."""
    if not len(texts):
        return []
    token_lists: list[list[int]] = tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
    return token_lists


def start_token(tokenizer: Any, or_end: bool = False) -> int:
    """Return the id of the start token; with `or_end`, the end token where the tokenizer has no start token.

    Raises ValueError where there is neither.
    """
    for token in (tokenizer.bos_token_id, tokenizer.eos_token_id if or_end else None):
        if token is not None:
            return int(token)
    raise ValueError("the tokenizer has no start token; set add_start_token=False")


def utf8_bytes(texts: Sequence[str]) -> Ints:
    """UTF-8 bytes of each text, shape (n,)."""
    return np.array([len(text.encode("utf-8", "surrogatepass")) for text in texts], np.int64)


def _after_prompts(tokenizer: Any, prompts: Sequence[str], continuations: Sequence[str]) -> list[ScoredTokens]:
    different = list(dict.fromkeys(prompts))
    shared = dict(zip(different, token_ids(tokenizer, different), strict=True))
    whole = token_ids(tokenizer, [prompt + more for prompt, more in zip(prompts, continuations, strict=True)])
    common = {prompt: len(ids) for prompt, ids in shared.items()}
    for prompt, ids in zip(prompts, whole, strict=True):
        same = next((at for at, pair in enumerate(zip(ids, shared[prompt], strict=False)) if pair[0] != pair[1]), None)
        # the last token is scored in any case: a continuation may vanish in the prompt's last token
        longest = min(len(ids) - 1, len(shared[prompt])) if same is None else same
        common[prompt] = min(common[prompt], longest)
    begins = _start_tokens(tokenizer)
    rows = []
    for number, (prompt, ids) in enumerate(zip(prompts, whole, strict=True)):
        if not ids:
            raise ValueError(f"continuation {number} has no tokens in this tokenizer")
        cut = max(common[prompt], 0)
        start = begins or (() if cut else (start_token(tokenizer, or_end=True),))
        rows.append(ScoredTokens((*start, *ids[:cut]), tuple(ids[cut:])))
    return rows


def _start_tokens(tokenizer: Any) -> tuple[int, ...]:
    """The start token, if this tokenizer itself puts it before a text."""
    start = tokenizer.bos_token_id
    if start is None:
        return ()
    return (start,) if tokenizer("a")["input_ids"][:1] == [start] else ()


def _windows(ids: tuple[int, ...], limit: int) -> Iterator[ScoredTokens]:
    step = max(limit // 2, 1)
    position = 1  # the first token is given
    while position < len(ids):
        take = limit - 1 if position == 1 else step
        first = max(min(position + take, len(ids)) - limit, 0)
        yield ScoredTokens(ids[first:position], ids[position : position + take])
        position += take
