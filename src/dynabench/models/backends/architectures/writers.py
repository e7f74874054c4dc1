"""Causal language models and models with an encoder and a decoder."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch

from dynabench.evaluate.evaluator.predictors.writers import EncoderDecoderWriter, LikelihoodClassifier, PromptContinuer
from dynabench.kit.errors import Invalid
from dynabench.models import runtime
from dynabench.models.backends.architectures import base, gradients, prompts
from dynabench.models.backends.architectures.base import Architecture, computed, portions, refuse
from dynabench.models.backends.base import output
from dynabench.models.backends.transformers import TransformersOptions
from dynabench.models.protocol import Attribution, Inputs, Message, ModelCard, ModelOutput
from dynabench.models.spec import Spec

TOKEN_SETTINGS = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
)


def settings(model: Any, max_new_tokens: int) -> dict[str, Any]:
    """Return the arguments for `generate`, and drop the folder's settings for sampling, beams and lengths.

    Otherwise a folder could make every answer as slow, or as random, as it likes.
    """
    import transformers

    own = model.generation_config
    token_ids = {name: _read_setting(own, model.config, name) for name in TOKEN_SETTINGS}
    make: Any = transformers.GenerationConfig
    model.generation_config = make(**{name: value for name, value in token_ids.items() if value is not None})
    if getattr(model.config, "task_specific_params", None):
        model.config.task_specific_params = None
    return {"max_new_tokens": max_new_tokens, "return_full_text": False, "num_beams": 1}


def _read_setting(own: Any, config: Any, name: str) -> Any:
    setting = getattr(own, name, None)
    return getattr(config, name, None) if setting is None else setting


UNREAD = "\N{REPLACEMENT CHARACTER}"
"""What a tokenizer decodes to while a character of several tokens is not complete."""


def written(model: Any, tokenizer: Any, prompt: Sequence[int], max_tokens: int) -> Iterator[str]:
    """Yield the text that the model finds likeliest after the prompt, piece by piece.

    The text ends at the model's end mark, or after `max_tokens` tokens.
    """
    ends = model.generation_config.eos_token_id
    stops = {ends} if isinstance(ends, int) else set(ends or ())
    ids, past, new, yielded_text = list(prompt), None, list[int](), ""
    for _ in range(max_tokens):
        token, past = _next(model, ids, past)
        if token in stops:
            break
        new.append(token)
        ids = [token]
        text = tokenizer.decode(new, skip_special_tokens=True)
        if len(text) > len(yielded_text) and not text.endswith(UNREAD):
            yield text[len(yielded_text) :]
            yielded_text = text
    rest = tokenizer.decode(new, skip_special_tokens=True)[len(yielded_text) :]
    if rest:
        yield rest


def _next(model: Any, ids: Sequence[int], past: Any) -> tuple[int, Any]:
    """The likeliest token after `ids`, and what the model keeps of all that it has read."""
    runtime.use_threads(len(ids))
    with torch.inference_mode():
        model_output = model(input_ids=torch.tensor([ids], device=model.device), past_key_values=past, use_cache=True)
    return int(model_output.logits[0, -1].argmax()), model_output.past_key_values


NORMALISATIONS = {"raw": "sum", "token": "token", "byte": "byte"}


class Continues(PromptContinuer):
    """Continues prompts; in a chat, the template has written the special tokens already."""

    chat = False

    def encoded(self, *texts: Sequence[str] | None, **options: Any) -> list[dict[str, Any]]:
        """See `Network`."""
        return super().encoded(*texts, **{"add_special_tokens": not self.chat, **options})


class CausalLanguageModel(Architecture):
    """A prompt in; the text behind it, or the log-likelihood of each label behind it, out.

    Decoding is greedy. Likelihoods compare as they are, per token or per byte (Brown et al., NeurIPS 2020, section
    2.4).
    """

    auto = "AutoModelForCausalLM"
    predictor = Continues
    room = 4096

    def __init__(self, card: ModelCard, details: Spec, options: TransformersOptions, parts: base.Parts) -> None:
        super().__init__(card, details, options, parts)
        template = getattr(self.run.processor, "chat_template", None)
        message = "The tokenizer has no chat template; set chat: false, or add chat_template.jinja to the folder."
        refuse(options.chat and not template, **{"options.chat": message})
        self.run.chat = options.chat
        self.run.generation = settings(self.model, options.max_new_tokens)
        self.prompt = prompts.Prompt(options.prompt, card)
        self.system = prompts.Prompt(options.system, card, "options.system")
        self.chooser = LikelihoodClassifier(self.model, self.run.processor, self.run.device)
        self.chooser.normalization = NORMALISATIONS[options.normalisation]

    @classmethod
    def fits(cls, card: ModelCard, options: TransformersOptions) -> None:
        """See `Architecture`."""
        prompts.fits(card, options)
        refuse(not options.prompt, **{"options.prompt": "Say what the model is asked, with {field} for each input."})
        refuse(bool(options.system) and not options.chat, **{"options.system": "Only a chat has a system's turn."})
        wrong = options.answer == "likelihood" and card.returns != "label"
        refuse(wrong, **{"options.answer": "Only labels can be compared by likelihood."})

    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """See `Architecture`; raises `Invalid` for a prompt that leaves no room to answer."""
        text = self.render_prompt(self.escape_inputs(inputs))
        more = (
            max(map(self._tokens, self.choices)) if self.options.answer == "likelihood" else self.options.max_new_tokens
        )
        limit = self.run.limit()
        row = self.run.encoded([text], truncation=False, max_length=None)[0]
        size = len(row["input_ids"])
        if not size or (limit is not None and size + more > limit):
            message = (
                f"The prompt has {size} tokens; with {more} for the answer the model reads {limit}. Shorten the text."
            )
            raise Invalid({self.card.inputs[-1]: message})
        return {**row, "text": text, "number": 0}, size + more

    def render_prompt(self, texts: Mapping[str, str]) -> str:
        """The whole prompt around the texts, in a chat with the template's marks."""
        prompt = self.prompt.fill(texts)
        if not self.options.chat:
            return prompt
        system = self.system.fill(texts)
        turns = [{"role": "system", "content": system}] if system else []
        turns.append({"role": "user", "content": prompt})
        return self._rendered(turns)

    def _rendered(self, turns: Sequence[Mapping[str, str]]) -> str:
        """Turns as the chat template writes them, up to where the model begins."""
        try:
            rendered = self.run.processor.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # a template is a program of its author's, and raises what it likes
            raise Invalid({"options.chat": f"The chat template cannot be filled: {error}"}) from error
        return str(rendered)

    def escape_inputs(self, inputs: Inputs) -> dict[str, str]:
        """The inputs without anything that the tokenizer would take for a mark of its own."""
        return {name: prompts.harmless(inputs[name], self.marks) for name in self.card.inputs}

    @cached_property
    def marks(self) -> list[str]:
        """The texts that the tokenizer reads as its own special tokens, sorted."""
        tokenizer = self.run.processor
        return sorted({*tokenizer.all_special_tokens, *getattr(tokenizer, "get_added_vocab", dict)()})

    @cached_property
    def choices(self) -> dict[str, str]:
        """For each label the text that is tried after the prompt: what `options.labels` says means it, or itself."""
        text_by_label = {name: text for text, name in self.options.labels.items()}
        space = "" if self.options.chat or self.options.prompt[-1:].isspace() else " "
        return {text_by_label.get(name, f"{space}{name}"): name for name in self.card.labels}

    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[ModelOutput]:
        """See `Architecture`."""
        if self.options.answer == "likelihood":
            return self._likeliest(rows)
        more = self.options.max_new_tokens
        sizes = [len(row["input_ids"]) + more for row in rows]
        outputs: dict[int, ModelOutput] = {}
        for part in portions(sizes, self.room):
            with computed(len(part), sizes[part[0]]):
                written = self.run.predict([rows[row] for row in part]).answers
            for row, texts in zip(part, written, strict=True):
                outputs[row] = prompts.meant(self.card, self.options, texts[0], batch[row])
        return [outputs[row] for row in range(len(rows))]

    def converse(self, messages: Sequence[Message], max_tokens: int) -> Generator[str, None, None]:
        """See `Architecture`."""
        refuse(not self.options.chat, model=f"{self.card.name} does not converse: its folder says chat: false.")
        system = self.options.system
        turns = [{"role": "system", "content": system}] if system and messages[0]["role"] != "system" else []
        turns += [
            {"role": message["role"], "content": prompts.harmless(message["content"], self.marks)}
            for message in messages
        ]
        ids = self.run.encoded([self._rendered(turns)], truncation=False, max_length=None)[0]["input_ids"]
        limit = self.run.limit()
        if limit is not None and len(ids) + max_tokens > limit:
            problem = f"The conversation has {len(ids)} tokens; with {max_tokens} to come the model reads {limit}."
            raise Invalid({"messages": f"{problem} Begin a new one."})
        yield from written(self.model, self.run.processor, ids, max_tokens)

    def _likeliest(self, rows: Sequence[Any]) -> list[ModelOutput]:
        texts = list(self.choices)
        order = [list(self.card.labels).index(self.choices[text]) for text in texts]
        outputs = []
        for row in rows:
            with computed(len(texts), len(row["input_ids"])):
                [scores] = self.chooser.predict([{"text": row["text"], "classes": texts}]).answers
            logits = np.zeros(len(order))
            logits[order] = scores
            outputs.append(output(self.card, logits))
        return outputs

    def _tokens(self, text: str) -> int:
        return len(self.run.processor(text, add_special_tokens=False)["input_ids"])

    def explain(self, inputs: Inputs, label: str, method: str) -> Attribution | None:
        """Towards the log-probability of the text that was written; of labels, against the likeliest of the others."""
        if method not in gradients.METHODS:
            return None
        row, _ = self.encode(inputs)
        if self.card.returns != "label":
            refuse(label != self.card.answer, label=f"It is {self.card.answer}.")
            targets = [self.answer([row], [inputs])[0].extras["generated"]]
        else:
            refuse(label not in self.card.labels, label=f"One of {', '.join(self.card.labels)}.")
            chances = self._likeliest([row])[0].probabilities or {}
            rival = max((name for name in self.card.labels if name != label), key=lambda name: chances[name])
            texts = {name: text for text, name in self.choices.items()}
            targets = [texts[label], texts[rival]]
        return gradients.explain_text(
            self.twin, self.run.processor, self._prompted(inputs, row), targets, label, method
        )

    def _prompted(self, inputs: Inputs, row: Mapping[str, Any]) -> gradients.Prompted:
        texts = self.escape_inputs(inputs)
        text, starts = gradients.places(self.render_prompt(gradients.marked(texts)), self.prompt.order)
        if text != row["text"]:  # the template trims what stands in it
            text = row["text"]
            starts = {
                name: max(text.find(input_text.strip()) - len(input_text) + len(input_text.lstrip()), 0)
                for name, input_text in texts.items()
            }
        encoding = self.run.encoded([text], truncation=False, max_length=None, return_offsets_mapping=True)[0]
        placed_texts = {name: input_text for name, input_text in texts.items() if name in starts}
        return gradients.Prompted(text, encoding["input_ids"], encoding["offset_mapping"], inputs, placed_texts, starts)


class TextToText(Architecture):
    """Reads the prompt, or the only input as it is; decoding is greedy."""

    auto = "AutoModelForSeq2SeqLM"
    predictor = EncoderDecoderWriter

    def __init__(self, card: ModelCard, details: Spec, options: TransformersOptions, parts: base.Parts) -> None:
        super().__init__(card, details, options, parts)
        self.prompt = prompts.Prompt(options.prompt or f"{{{card.inputs[0]}}}", card)
        generation_settings = settings(self.model, options.max_new_tokens)
        self.run.generation = {name: value for name, value in generation_settings.items() if name != "return_full_text"}

    @classmethod
    def fits(cls, card: ModelCard, options: TransformersOptions) -> None:
        """See `Architecture`."""
        prompts.fits(card, options)
        wrong = len(card.inputs) > 1 and not options.prompt
        refuse(wrong, **{"options.prompt": "Say how the inputs become one text, with {field} for each."})
        refuse(options.chat, **{"options.chat": "A text2text model has no chat."})

    def encode(self, inputs: Inputs) -> tuple[Any, int]:
        """See `Architecture`; what exceeds the model is cut."""
        marks = self.run.processor.all_special_tokens
        prompt = self.prompt.fill({name: prompts.harmless(inputs[name], marks) for name in self.card.inputs})
        row = self.run.encode([prompt])[0]
        return row, len(row["input_ids"]) + self.options.max_new_tokens

    def answer(self, rows: Sequence[Any], batch: Sequence[Inputs]) -> list[ModelOutput]:
        """See `Architecture`."""
        outputs: dict[int, ModelOutput] = {}
        sizes = [len(row["input_ids"]) + self.options.max_new_tokens for row in rows]
        for part in portions(sizes, self.room):
            with computed(len(part), sizes[part[0]]):
                written = self.run.predict([rows[row] for row in part]).answers
            for row, text in zip(part, written, strict=True):
                outputs[row] = prompts.meant(self.card, self.options, text, batch[row])
        return [outputs[row] for row in range(len(rows))]
