"""What the metric and the measurement "perplexity" share, and bits per byte with them."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Module
from dynabench.evaluate.networks.checkpoints import asked, callable_of, loaded
from dynabench.evaluate.networks.language_models import Likelihoods, text_likelihoods, utf8_bytes, window_likelihoods
from dynabench.evaluate.states import Sums


def chosen_of(model_id: Any, model: Any, name: str) -> Any:
    """The one of the two options that was given. Raises ValueError for none or both."""
    if (model_id is None) == (model is None):
        raise ValueError(
            f"{name} needs one model: give model_id=, the folder or hub id of a causal language model, or model=, "
            "which may also be a function of texts"
        )
    return model if model_id is None else model_id


def told(model: Any, texts: list[str]) -> Likelihoods | None:
    """Likelihoods from the function or mapping `model`; None where it is neither.

    Raises ValueError for what is no list of log-probabilities.
    """
    function = callable_of(model)
    if function is None:
        return None
    sums, tokens = np.zeros(len(texts)), np.zeros(len(texts), np.int64)
    for row, answer in enumerate(asked(function, texts, "log-probabilities of tokens")):
        try:
            scores = np.asarray(answer, float)
        except (TypeError, ValueError):
            scores = np.zeros((0, 0))
        if scores.ndim != 1 or not (scores <= 1e-6).all():
            raise ValueError(
                f"the model gave {answer!r:.80} for row {row}; it has to give a list of the tokens' natural "
                "log-probabilities, none above 0"
            )
        sums[row], tokens[row] = scores.sum(), len(scores)
    return Likelihoods(sums, tokens, utf8_bytes(texts))


def perplexities_of(
    model: Any, texts: list[str], batch_size: int, add_start_token: bool, device: str | None, max_length: int | None
) -> Sums:
    """Rows of negative log-likelihood, tokens and perplexity, shape (n, 3)."""
    found = told(model, texts)
    if found is None:
        chosen = loaded(model, "AutoModelForCausalLM", device)
        found = text_likelihoods(*chosen, texts, batch_size, add_start_token, max_length)
    if (found.tokens == 0).any():
        raise ValueError(f"row {int((found.tokens == 0).argmax())} has no tokens, so it has no perplexity; drop it")
    with np.errstate(over="ignore"):
        each = np.exp(-found.log_probabilities / found.tokens)
    if not np.isfinite(each).all():
        row = int((~np.isfinite(each)).argmax())
        raise ValueError(f"row {row} is impossible for the model: its perplexity is infinite")
    return Sums(np.stack([-found.log_probabilities, found.tokens, each], 1))


class PerplexityOfTexts(Module):
    """The core of both modules: their states have rows of negative log-likelihood, tokens and perplexity."""

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The mean of the texts' perplexities, and the perplexity of all tokens together."""
        return {
            "mean_perplexity": total[..., 2] / total[..., -1],
            "corpus_perplexity": np.exp(total[..., 0] / total[..., 1]),
        }

    def result(self, state: Sums, **options: Any) -> dict[str, Any]:
        """The perplexity of each text, their mean, and that of the corpus."""
        return {"perplexities": state.rows[:, 2].tolist(), **super().result(state, **options)}

    def per_example(self, state: Sums, **options: Any) -> dict[str, Any]:
        """The perplexity of each text."""
        return {"perplexities": state.rows[:, 2]}

    def compatible(self, result: dict[str, Any]) -> dict[str, Any]:
        """Without the perplexity of the corpus."""
        return {key: result[key] for key in ("perplexities", "mean_perplexity")}


def bits_of(model: Any, texts: list[str], batch_size: int, device: str | None, max_length: int | None) -> Sums:
    """Rows of bits, bytes and tokens, shape (n, 3)."""
    found = told(model, texts)
    if found is None:
        chosen = loaded(model, "AutoModelForCausalLM", device)
        found = window_likelihoods(*chosen, texts, batch_size, max_length)
    if not np.isfinite(found.log_probabilities).all():
        row = int((~np.isfinite(found.log_probabilities)).argmax())
        raise ValueError(f"row {row} is impossible for the model: it takes infinitely many bits")
    return Sums(np.stack([-found.log_probabilities / np.log(2), found.bytes, found.tokens], 1))
