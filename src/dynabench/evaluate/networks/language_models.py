"""Language models: log-likelihoods of texts and of each of their tokens.

Rows run sorted by length, so that little is padded, with the padding on the right, where a causal model cannot see it.
Logarithms are natural, sums are in double precision.

Each text becomes rows (context, target): tokens that come first, and tokens whose log-probabilities are added
up; `token_scores.py` computes them.
"""

import copy
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints

MIN_SHARED_CONTEXT = 16  # tokens of a context: below, running it again costs less than a second pass


class ScoredTokens(NamedTuple):
    """Context token ids (at least one) and target token ids that are scored (at least one)."""

    context: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def size(self) -> int:
        """Tokens that the model reads."""
        return len(self.context) + len(self.target)


def max_positions(model: Any) -> int | None:
    """Return the number of tokens that the model reads; None where its architecture sets no limit."""
    return getattr(model.config, "max_position_embeddings", None)


def sum_log_probabilities(model: Any, rows: Sequence[ScoredTokens], batch_size: int = 16) -> Floats:
    """Return the sum of the targets' log-probabilities of each row, shape (n,).

    Raises ValueError for a row too long.
    """
    import torch

    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size}: give 1 or more")
    limit = max_positions(model)
    for number, row in enumerate(rows):
        if limit and row.size > limit:
            raise ValueError(
                f"row {number} has {row.size} tokens, the model reads {limit}; shorten it or set max_length"
            )
    sums = np.zeros(len(rows))
    with torch.inference_mode():
        remaining = _score_shared_contexts(model, rows, batch_size, sums)
        order = sorted(remaining, key=lambda number: -rows[number].size)
        for start in range(0, len(order), batch_size):
            part = order[start : start + batch_size]
            sums[part] = _score_padded(model, [rows[number] for number in part])
    return sums


def _score_padded(model: Any, rows: Sequence[ScoredTokens]) -> Floats:
    """One pass over padded rows. Only logits of positions from the shortest context on are computed."""
    ids, mask = _pad([row.context + row.target for row in rows], model.device)
    first = min(len(row.context) for row in rows) - 1
    keep = {"logits_to_keep": ids.shape[1] - first} if _takes(model, "logits_to_keep") else {}
    logits = model(input_ids=ids, attention_mask=mask, use_cache=False, **keep).logits
    starts = [len(row.context) - 1 - (ids.shape[1] - logits.shape[1]) for row in rows]
    return _gather_scores(logits, starts, [row.target for row in rows])


def _score_shared_contexts(model: Any, rows: Sequence[ScoredTokens], batch_size: int, sums: Floats) -> list[int]:
    """Score rows that share a long context with its keys and values computed once; numbers of the rows that are left.

    Contexts of one batch have the same length: so nothing is padded before a target, and positions are right in
    every architecture.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(row.context, []).append(number)
    worth = {c: g for c, g in groups.items() if len(g) > 1 and len(c) >= MIN_SHARED_CONTEXT}
    if not worth or not _takes(model, "past_key_values"):
        return list(range(len(rows)))
    done: set[int] = set()
    for contexts in _batches(worth, batch_size):
        numbers = [number for context in contexts for number in worth[context]]
        scores = _with_cache(
            model, contexts, [[rows[number].target for number in worth[c]] for c in contexts], batch_size
        )
        if scores is None:
            break
        sums[numbers] = scores
        done.update(numbers)
    return [number for number in range(len(rows)) if number not in done]


def _batches(groups: dict[tuple[int, ...], list[int]], batch_size: int) -> Iterator[list[tuple[int, ...]]]:
    """Contexts of one length, as many as have `batch_size` rows between them, the longest first."""
    batch: list[tuple[int, ...]] = []
    held = 0
    for context in sorted(groups, key=lambda one: (-len(one), groups[one][0])):
        size = len(groups[context])
        if batch and (len(context) != len(batch[0]) or held + size > batch_size):
            yield batch
            batch, held = [], 0
        batch.append(context)
        held += size
    if batch:
        yield batch


def _with_cache(
    model: Any, contexts: list[tuple[int, ...]], targets: list[list[tuple[int, ...]]], batch_size: int
) -> Floats | None:
    """Log-probabilities of all targets after their contexts; None where the model keeps no such cache."""
    import torch

    ids = torch.tensor(contexts, device=model.device)
    keep = {"logits_to_keep": 1} if _takes(model, "logits_to_keep") else {}
    read = model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=True, **keep)
    past = getattr(read, "past_key_values", None)
    if past is None or not hasattr(past, "batch_select_indices"):
        return None
    owners = [number for number, group in enumerate(targets) for _ in group]
    rows = [target for group in targets for target in group]
    scores = _gather_scores(read.logits[owners, -1:], [0] * len(rows), [row[:1] for row in rows])
    longer = [number for number, row in enumerate(rows) if len(row) > 1]
    for start in range(0, len(longer), batch_size):
        part = longer[start : start + batch_size]
        more, mask = _pad([rows[number][:-1] for number in part], model.device)
        seen = torch.ones(len(part), ids.shape[1], dtype=mask.dtype, device=mask.device)
        own = copy.deepcopy(past)
        own.batch_select_indices(torch.tensor([owners[number] for number in part], device=model.device))
        logits = model(
            input_ids=more, attention_mask=torch.cat([seen, mask], 1), past_key_values=own, use_cache=True
        ).logits
        scores[part] += _gather_scores(logits, [0] * len(part), [rows[number][1:] for number in part])
    return scores


def _gather_scores(logits: Any, starts: Sequence[int], targets: Sequence[tuple[int, ...]]) -> Floats:
    """The sum of log-probabilities of each target, whose first token is predicted at position `start`; shape (n,)."""
    import torch

    sizes = [len(target) for target in targets]
    owner = np.repeat(np.arange(len(targets)), sizes)
    at = np.concatenate([np.arange(start, start + size) for start, size in zip(starts, sizes, strict=True)])
    picked = logits[torch.from_numpy(owner), torch.from_numpy(at)].float()
    ids = torch.tensor([token for target in targets for token in target], device=picked.device)
    scores = picked.gather(1, ids[:, None])[:, 0] - picked.logsumexp(1)
    sums = np.zeros(len(targets))
    np.add.at(sums, owner, scores.double().cpu().numpy())
    return sums


def _pad(rows: Sequence[tuple[int, ...]], device: Any) -> tuple[Any, Any]:
    """Ids and mask, each (n, longest), padded on the right with 0, which nothing sees."""
    import torch

    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=device)
    return ids, mask


def _takes(model: Any, name: str) -> bool:
    return name in inspect.signature(model.forward).parameters


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
