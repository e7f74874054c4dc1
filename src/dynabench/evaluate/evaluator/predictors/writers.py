"""Predictors that use language models: generation, and zero-shot classification.

Source: Brown et al., Language models are few-shot learners (2020), section 2.4, for the normalisations.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from dynabench.evaluate.evaluator.predictors.base import NetworkPredictor, PredictedBatch

NEW_TOKENS = 256


class TextWriter(NetworkPredictor):
    """Text that the model writes, greedily unless `generation` says otherwise; sampling repeats for the same seed."""

    generation: Mapping[str, Any] = {}
    task = ""
    seed = 0

    def settings(self) -> dict[str, Any]:
        """Return the options of `generate`: the model's own for the task, then the caller's."""
        model_options = (getattr(self.model.config, "task_specific_params", None) or {}).get(self.task, {})
        model_options = {name: value for name, value in model_options.items() if name != "prefix"}
        caller_options = {
            name: value for name, value in self.generation.items() if name not in ("src_lang", "tgt_lang")
        }
        options: dict[str, Any] = {"do_sample": False, **model_options, **caller_options}
        config = self.model.generation_config
        lengths = {"max_new_tokens", "max_length"} & options.keys()
        # 20 was the default of older versions and does not count
        if not lengths and config.max_new_tokens is None and config.max_length in (None, 20):
            options["max_new_tokens"] = NEW_TOKENS
        if self.processor.pad_token_id is None and config.pad_token_id is None:
            options.setdefault("pad_token_id", self._pad_id())
        return options

    def answer_settings(self) -> list[str]:
        """Return the options as texts, for the fingerprint of the answers."""
        return [f"{name}={value!r}" for name, value in sorted({**self.generation, **self.settings()}.items())]

    def seeded(self) -> AbstractContextManager[Any]:
        """Return a context with separate random numbers while the model samples, which keeps those of the caller."""
        if not self.settings().get("do_sample"):
            return nullcontext()
        import torch

        return torch.random.fork_rng(devices=[self.device] if str(self.device).startswith("cuda") else [])

    def sizes(self, encoded: Sequence[Any]) -> list[int]:
        """Tokens."""
        return [len(row["input_ids"]) for row in encoded]

    def generated(self, batch: dict[str, Any], rows: list[Any], **more_options: Any) -> list[list[list[int]]]:
        """Return for each row the written sequences, up to their end."""
        import torch

        settings = {**self.settings(), **more_options}
        with self.seeded():
            if settings.get("do_sample"):
                torch.manual_seed(self.seed + rows[0]["number"])
            sequences = self.model.generate(**batch, **settings).tolist()
        per_row = len(sequences) // len(rows)
        return [sequences[place : place + per_row] for place in range(0, len(sequences), per_row)]

    def ended(self, ids: list[int]) -> list[int]:
        """Return the tokens up to and with the first that ends a text, without padding."""
        ends = self.model.generation_config.eos_token_id
        stops = {ends} if isinstance(ends, int) else set(ends or ())
        for place, token in enumerate(ids):
            if token in stops:
                return ids[: place + 1]
        pad = self.processor.pad_token_id
        while ids and ids[-1] == pad:
            ids = ids[:-1]
        return ids


class PromptContinuer(TextWriter):
    """A decoder alone: each answer is the prompt with what follows it (`return_full_text=False`: without it)."""

    auto = "AutoModelForCausalLM"

    def encode(self, inputs: Sequence[Any]) -> list[dict[str, Any]]:
        """Tokenize the prompts. Raises ValueError for a prompt that leaves no room to write."""
        rows = self.encoded(list(inputs), truncation=False, max_length=None)
        limit = self.limit()
        for number, (row, text) in enumerate(zip(rows, inputs, strict=True)):
            row.update(text=text, number=number)
            size = len(row["input_ids"])
            if not size or (limit is not None and size >= limit):
                raise ValueError(f"row {number} has {size} tokens, the model reads up to {limit}; shorten or drop it")
        return rows

    def settings(self) -> dict[str, Any]:
        """See `TextWriter`."""
        return {name: value for name, value in super().settings().items() if name != "return_full_text"}

    def predict(self, rows: list[Any]) -> PredictedBatch:
        """Return a list of texts for each row: one, or `num_return_sequences`."""
        batch = self.padded(rows, "left")
        width = batch["input_ids"].shape[1]
        whole = self.generation.get("return_full_text", True)
        answers, tokens = [], 0
        for row, sequences in zip(rows, self.generated(batch, rows), strict=True):
            new = [self.ended(ids[width:]) for ids in sequences]
            tokens += sum(map(len, new))
            answers.append([self._text(row, ids, whole) for ids in new])
        return PredictedBatch(answers, tokens)

    def _text(self, row: dict[str, Any], new: list[int], whole: bool) -> str:
        """The text of new tokens behind the prompt's: alone they could lose the space that they begin with."""
        prompt = self.processor.decode(row["input_ids"], skip_special_tokens=True)
        continuation: str = self.processor.decode(row["input_ids"] + new, skip_special_tokens=True)[len(prompt) :]
        return str(row["text"]) + continuation if whole else continuation


class EncoderDecoderWriter(TextWriter):
    """An encoder with a decoder: each answer is the text that it writes."""

    auto = "AutoModelForSeq2SeqLM"

    def encode(self, inputs: Sequence[Any]) -> list[dict[str, Any]]:
        """Tokenize texts with the prefix that the model's configuration has for this task; long texts are cut."""
        task_options = (getattr(self.model.config, "task_specific_params", None) or {}).get(self.task, {})
        prefix = task_options.get("prefix") or getattr(self.model.config, "prefix", None) or ""
        source = self._language("src_lang")
        if source is not None:
            self.processor.src_lang = source
        rows = self.encoded([prefix + text for text in inputs])
        return [{**row, "number": number} for number, row in enumerate(rows)]

    def predict(self, rows: list[Any]) -> PredictedBatch:
        """One text a row."""
        target = self._language("tgt_lang")
        more = {} if target is None else {"forced_bos_token_id": self.processor.convert_tokens_to_ids(target)}
        written = self.generated(self.padded(rows), rows, **more)
        new = [self.ended(sequences[0][1:]) for sequences in written]  # the first token starts the decoder
        texts = [self.processor.decode(ids, skip_special_tokens=True) for ids in new]
        return PredictedBatch(texts, sum(map(len, new)))

    def _language(self, name: str) -> str | None:
        """A language that the given settings name, for tokenizers of many."""
        return self.generation.get(name) if hasattr(self.processor, name) else None


NORMALIZATIONS = ("sum", "token", "byte", "unconditional")


class LikelihoodClassifier(NetworkPredictor):
    """A language model that scores each row's classes by their log-likelihood after its prompt.

    `normalization` is "sum" (as they are), "token" or "byte" (divided by the class's tokens or UTF-8 bytes), or
    "unconditional" (minus the class's log-likelihood after no prompt).
    """

    auto = "AutoModelForCausalLM"
    normalization = "sum"
    together = 16

    def answer_settings(self) -> str:
        """Return the normalization."""
        return self.normalization

    def sizes(self, encoded: Sequence[Any]) -> list[int]:
        """Return the characters of prompt and classes."""
        return [len(row["text"]) + sum(map(len, row["classes"])) for row in encoded]

    def predict(self, rows: list[Any]) -> PredictedBatch:
        """Return a list of scores for each row, one a class."""
        from dynabench.evaluate.networks.language_models import log_likelihoods

        prompts = [row["text"] for row in rows for _ in row["classes"]]
        classes = [text for row in rows for text in row["classes"]]
        likelihoods = log_likelihoods(self.model, self.processor, prompts, classes, self.together)
        scores = np.asarray(likelihoods.log_probabilities, float)
        if self.normalization == "token":
            scores = scores / likelihoods.tokens
        elif self.normalization == "byte":
            scores = scores / likelihoods.bytes
        elif self.normalization == "unconditional":
            alone = list(dict.fromkeys(classes))
            prior = log_likelihoods(self.model, self.processor, [""] * len(alone), alone, self.together)
            prior_of = dict(zip(alone, np.asarray(prior.log_probabilities, float).tolist(), strict=True))
            scores = scores - np.array([prior_of[text] for text in classes])
        parts = np.split(scores, np.cumsum([len(row["classes"]) for row in rows])[:-1])
        return PredictedBatch([part.tolist() for part in parts], int(likelihoods.tokens.sum()))
