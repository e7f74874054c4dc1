"""Models with an encoder and a decoder: a text in, the text that is written out, or what it means."""

from collections.abc import Sequence
from typing import Any

from dynabench.evaluate.evaluator.predictors.writers import EncoderDecoderWriter
from dynabench.models.backends.architectures import decoding, prompts, weights
from dynabench.models.backends.architectures.base import Architecture, computed, portions, refuse
from dynabench.models.backends.transformers import Options
from dynabench.models.protocol import Card, Inputs, Output
from dynabench.models.spec import Spec


class TextToText(Architecture):
    """Reads the prompt, or the only input as it is; decoding is greedy."""

    auto = "AutoModelForSeq2SeqLM"
    predictor = EncoderDecoderWriter

    def __init__(self, card: Card, details: Spec, options: Options, parts: weights.Parts) -> None:
        super().__init__(card, details, options, parts)
        self.prompt = prompts.Prompt(options.prompt or f"{{{card.inputs[0]}}}", card)
        told = decoding.settings(self.model, options.max_new_tokens)
        self.run.generation = {name: value for name, value in told.items() if name != "return_full_text"}

    @classmethod
    def fits(cls, card: Card, options: Options) -> None:
        """See `Architecture`."""
        prompts.fits(card, options)
        wrong = len(card.inputs) > 1 and not options.prompt
        refuse(wrong, **{"options.prompt": "Say how the inputs become one text, with {field} for each."})
        refuse(options.chat, **{"options.chat": "A text2text model has no chat."})

    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """See `Architecture`; what exceeds the model is cut."""
        marks = self.run.processor.all_special_tokens
        said = self.prompt.fill({name: prompts.harmless(inputs[name], marks) for name in self.card.inputs})
        row = self.run.encode([said])[0]
        return row, len(row["input_ids"]) + self.options.max_new_tokens

    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[Output]:
        """See `Architecture`."""
        found: dict[int, Output] = {}
        sizes = [len(row["input_ids"]) + self.options.max_new_tokens for row in rows]
        for part in portions(sizes, self.room):
            with computed(len(part), sizes[part[0]]):
                written = self.run.predict([rows[row] for row in part]).answers
            for row, text in zip(part, written, strict=True):
                found[row] = prompts.meant(self.card, self.options, text, batch[row])
        return [found[row] for row in range(len(rows))]
