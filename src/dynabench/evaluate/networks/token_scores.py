"""Sums of log-probabilities of tokens after other tokens, under causal language models.

Rows run sorted by length, so that little is padded, with the padding on the right, where a causal model cannot see it.
Logarithms are natural, sums are in double precision.
"""

import copy
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynabench.evaluate.columns import Floats

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
