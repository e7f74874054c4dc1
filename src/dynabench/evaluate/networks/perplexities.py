"""What the metric and the measurement "perplexity" share, and bits per byte with them."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Example, Output
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Module
from dynabench.evaluate.networks.checkpoints import asked, callable_of, loaded
from dynabench.evaluate.networks.language_models import Likelihoods, text_likelihoods, utf8_bytes, window_likelihoods
from dynabench.evaluate.states import Sums

MODEL = (
    "the language model: a local folder, a hub id, or the pair (model, tokenizer) of a causal language model of "
    "transformers; or a function of a list of texts to the natural log-probabilities of each text's tokens, or a "
    "mapping of text to these"
)


FORMULA = (
    r"\text{PPL}_i = \exp\Bigl(-\frac{1}{T_i} \sum_t \log p(x_{i,t} \mid x_{i,<t})\Bigr), \quad "
    r"\text{corpus} = \exp\Bigl(-\frac{1}{\sum_i T_i} \sum_{i,t} \log p(x_{i,t} \mid x_{i,<t})\Bigr)"
)
OPTIONS = {
    "model_id": "the same as `model`; give one of the two",
    "model": MODEL,
    "batch_size": "texts that run together, sorted by length",
    "add_start_token": "put the start token before each text, so that the first token is scored too",
    "device": "such as cpu or cuda; an accelerator where there is one",
    "max_length": "tokens after which a text is cut, the start token included",
}
OUTPUTS = (
    Output("perplexities", "perplexity of each text", 1, None, "lower"),
    Output("mean_perplexity", "their mean", 1, None, "lower"),
    Output("corpus_perplexity", "perplexity of all tokens together", 1, None, "lower"),
)
LIMITS = (
    "Compares models only where their tokens are the same; use bits_per_byte across tokenizers. The mean of texts "
    "is ruled by a few odd ones and weighs short texts as much as long ones: the perplexity of the corpus is what "
    "papers report. Text that a model was trained on has a low perplexity whatever its quality. A text longer than the "
    "model reads is refused unless `max_length` cuts it."
)
CITATION = (
    "Jelinek, Mercer, Bahl and Baker, Perplexity - a measure of the difficulty of speech recognition tasks, Journal of "
    "the Acoustical Society of America 62 (1977) S63."
)
COIN = {"heads tails": [-0.6931471805599453] * 2, "six": [-1.791759469228055]}


def examples(column: str) -> tuple[Example, ...]:
    """Worked examples for texts in `column`."""
    return (
        Example(
            "A coin thrown twice, a die once: the mean weighs texts, the corpus weighs tokens",
            {column: ["heads tails", "six"]},
            {"perplexities": [2.0, 6.0], "mean_perplexity": 4.0, "corpus_perplexity": 24 ** (1 / 3)},
            {"model": COIN},
        ),
        Example(
            "A certain text",
            {column: ["six"]},
            {"perplexities": [1.0], "mean_perplexity": 1.0, "corpus_perplexity": 1.0},
            {"model": {"six": [0.0]}},
        ),
        Example("A model has to be given", {column: ["six"]}, error="perplexity needs one model"),
        Example(
            "Nothing to predict in an empty text",
            {column: ["six", ""]},
            options={"model": {"six": [-1.0], "": []}},
            error="row 1 has no tokens",
        ),
    )


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
