"""Bits per byte."""

from typing import Any

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.networks.perplexities import MODEL, bits_of, chosen_of
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.language import N_

COINS = {"heads": [-0.6931471805599453] * 5, "grün": [-1.3862943611198906] * 2}


class BitsPerByte(Metric):
    """How many bits a language model needs for a byte of text."""

    card = Card(
        description=N_(
            "How many bits a language model needs for each byte (in UTF-8) of the texts: what its predictions would "
            "compress them to. Unlike perplexity it compares models whose tokens differ."
        ),
        formula=r"\frac{-\sum_{i,t} \log_2 p(x_{i,t} \mid x_{i,<t})}{\sum_i \text{bytes}_i}",
        inputs={"predictions": "texts that the model has to predict"},
        options={
            "model_id": "the same as `model`; give one of the two",
            "model": MODEL,
            "batch_size": "texts, or windows of long texts, that run together, sorted by length",
            "device": "such as cpu or cuda; an accelerator where there is one",
            "max_length": "tokens of a window, the start token included; by default as many as the model reads",
        },
        outputs=(
            Output("bits_per_byte", "bits for each byte", 0, None, "lower"),
            Output("bytes_per_token", "how long a token is, on average", 0),
        ),
        examples=(
            Example(
                "One bit for each letter of heads, two for each half of grün, in which ü takes two bytes",
                {"predictions": ["heads", "grün"]},
                {"bits_per_byte": 9 / 10, "bytes_per_token": 10 / 7},
                {"model": COINS},
            ),
            Example(
                "An empty text takes no bits and no bytes",
                {"predictions": ["heads", ""]},
                {"bits_per_byte": 1.0},
                {"model": {"heads": COINS["heads"], "": []}},
            ),
            Example("A model has to be given", {"predictions": ["six"]}, error="bits_per_byte needs one model"),
        ),
        limits=(
            "The start token stands before each text (or the end token, where there is no start token) and is not "
            "scored; no end token is. Longer texts than the model reads are read in windows in which each token sees "
            "at least half a window before it, so a larger `max_length` gives a lower value. Scripts of several bytes "
            "a letter have lower values than the Latin one for the same content: compare within a language."
        ),
        citation="Gao et al., The Pile: An 800GB Dataset of Diverse Text for Language Modeling, 2020.",
        tasks=("text-generation", "language-modeling"),
        needs=("models",),
        references=("https://arxiv.org/abs/2101.00027",),
    )
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
        chosen = chosen_of(model_id, model, self.name)
        state = bits_of(chosen, predictions, batch_size, device, max_length)
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
