"""Perplexity and bits per byte of texts."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Metric, Module
from dynabench.evaluate.networks.checkpoints import as_function, ask_function, load_model
from dynabench.evaluate.networks.language_models import Likelihoods, text_likelihoods, utf8_bytes, window_likelihoods
from dynabench.evaluate.states import Sums
from dynabench.evaluate.values import ratio


def choose_model(model_id: Any, model: Any, name: str) -> Any:
    """Return `model` or `model_id`, whichever was passed. Raises ValueError for none or both."""
    if (model_id is None) == (model is None):
        raise ValueError(
            f"{name} needs one model: give model_id=, the folder or hub id of a causal language model, or model=, "
            "which may also be a function of texts"
        )
    return model if model_id is None else model_id


def likelihoods_by_function(model: Any, texts: list[str]) -> Likelihoods | None:
    """Return likelihoods from the function or mapping `model`; None where it is neither.

    Raises ValueError for answers that are no lists of log-probabilities.
    """
    function = as_function(model)
    if function is None:
        return None
    sums, tokens = np.zeros(len(texts)), np.zeros(len(texts), np.int64)
    for row, answer in enumerate(ask_function(function, texts, "log-probabilities of tokens")):
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


class PerplexityOfTexts(Module):
    """Base of both modules: their states have rows of negative log-likelihood, tokens and perplexity."""

    def update(
        self,
        *,
        model_id: str | None = None,
        model: Any = None,
        batch_size: int = 16,
        add_start_token: bool = True,
        device: str | None = None,
        max_length: int | None = None,
        **columns: list[str],
    ) -> Sums:
        """Rows of negative log-likelihood, tokens and perplexity of each text of the only column, shape (n, 3)."""
        chosen = choose_model(model_id, model, self.name)
        (texts,) = columns.values()
        likelihoods = likelihoods_by_function(chosen, texts)
        if likelihoods is None:
            loaded_model = load_model(chosen, "AutoModelForCausalLM", device)
            likelihoods = text_likelihoods(*loaded_model, texts, batch_size, add_start_token, max_length)
        if (likelihoods.tokens == 0).any():
            raise ValueError(
                f"row {int((likelihoods.tokens == 0).argmax())} has no tokens, so it has no perplexity; drop it"
            )
        with np.errstate(over="ignore"):
            perplexities = np.exp(-likelihoods.log_probabilities / likelihoods.tokens)
        if not np.isfinite(perplexities).all():
            row = int((~np.isfinite(perplexities)).argmax())
            raise ValueError(f"row {row} is impossible for the model: its perplexity is infinite")
        return Sums(np.stack([-likelihoods.log_probabilities, likelihoods.tokens, perplexities], 1))

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


def text_bits(model: Any, texts: list[str], batch_size: int, device: str | None, max_length: int | None) -> Sums:
    """Rows of bits, bytes and tokens, shape (n, 3)."""
    likelihoods = likelihoods_by_function(model, texts)
    if likelihoods is None:
        loaded_model = load_model(model, "AutoModelForCausalLM", device)
        likelihoods = window_likelihoods(*loaded_model, texts, batch_size, max_length)
    if not np.isfinite(likelihoods.log_probabilities).all():
        row = int((~np.isfinite(likelihoods.log_probabilities)).argmax())
        raise ValueError(f"row {row} is impossible for the model: it takes infinitely many bits")
    return Sums(np.stack([-likelihoods.log_probabilities / np.log(2), likelihoods.bytes, likelihoods.tokens], 1))


class Perplexity(PerplexityOfTexts, Metric, name="perplexity"):
    """Perplexity of texts for a language model."""

    columns = {"predictions": Texts()}


class BitsPerByte(Metric, name="bits_per_byte"):
    """Number of bits that a language model needs for a byte of text."""

    columns = {"predictions": Texts()}

    def update(
        self,
        predictions: list[str],
        *,
        model_id: str | None = None,
        model: Any = None,
        batch_size: int = 16,
        device: str | None = None,
        max_length: int | None = None,
    ) -> Sums:
        """Bits, bytes and tokens of each text."""
        chosen = choose_model(model_id, model, self.name)
        state = text_bits(chosen, predictions, batch_size, device, max_length)
        empty = (state.rows[:, 1] == 0) & (state.rows[:, 0] > 0)
        if empty.any():
            raise ValueError(f"row {int(empty.argmax())} is empty, but the model gave its tokens log-probabilities")
        return state

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Bits / bytes, and bytes / tokens; 0 where there are none."""
        return {
            "bits_per_byte": ratio(total[..., 0], total[..., 1]),
            "bytes_per_token": ratio(total[..., 1], total[..., 2]),
        }
