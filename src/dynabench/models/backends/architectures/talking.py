"""Text that a causal language model writes, token by token, handed on as soon as it can be read."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from dynabench.models import runtime

UNREAD = "\N{REPLACEMENT CHARACTER}"
"""What a tokenizer decodes to while a character of several tokens is not complete."""


def written(model: Any, tokenizer: Any, prompt: Sequence[int], max_tokens: int) -> Iterator[str]:
    """Yield the text that the model finds likeliest after the prompt, piece by piece.

    The text ends at the model's end mark, or after `max_tokens` tokens.
    """
    ends = model.generation_config.eos_token_id
    stops = {ends} if isinstance(ends, int) else set(ends or ())
    ids, past, new, told = list(prompt), None, list[int](), ""
    for _ in range(max_tokens):
        token, past = _next(model, ids, past)
        if token in stops:
            break
        new.append(token)
        ids = [token]
        text = tokenizer.decode(new, skip_special_tokens=True)
        if len(text) > len(told) and not text.endswith(UNREAD):
            yield text[len(told) :]
            told = text
    rest = tokenizer.decode(new, skip_special_tokens=True)[len(told) :]
    if rest:
        yield rest


def _next(model: Any, ids: Sequence[int], past: Any) -> tuple[int, Any]:
    """The likeliest token after `ids`, and what the model keeps of all that it has read."""
    runtime.use_threads(len(ids))
    with torch.inference_mode():
        said = model(input_ids=torch.tensor([ids], device=model.device), past_key_values=past, use_cache=True)
    return int(said.logits[0, -1].argmax()), said.past_key_values
