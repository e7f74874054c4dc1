"""Language models as adversaries, asked over the OpenAI-compatible chat interface, in several ways.

`zero-shot` asks for an example that models get wrong, `few-shot` shows the round's successes first, `iterate` tells it
what the target answered and asks again, `paraphrase` has a text that the target reads rightly said in other words.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeGuard, get_args, runtime_checkable

from dynabench.adversaries.protocol import (
    AttackCandidate,
    AttackContext,
    AttackedModel,
    Budget,
    BudgetSpent,
    MeteredTarget,
)
from dynabench.adversaries.word_search import cosines
from dynabench.kit.errors import Invalid
from dynabench.models.backends.served.answers import object_schema
from dynabench.models.protocol import ModelCard, ModelOutput

Strategy = Literal["zero-shot", "few-shot", "iterate", "paraphrase"]
Json = Mapping[str, Any]
SHOTS = 5
"""Successes that are shown."""
TEXT: Json = {"type": "string"}
ANOTHER: Json = {"role": "user", "content": "Write another of the same shape, which says something else."}
_DECODER = json.JSONDecoder()


@runtime_checkable
class InformedAdversary(Protocol):
    """An adversary that gets the task's config and the successes so far before it begins."""

    def inform(self, task: Json, successes: Sequence[AttackContext]) -> None:
        """Take the config of `task` as the API returns it, and the examples that fooled its targets so far."""
        ...


@dataclass
class LanguageModel:
    """A language model at `url` called `model`; what its tokens cost is in dollars per million.

    `tries` are requests for one context. `token` names the environment variable `DYNABENCH_TOKEN_<token>`. `about` says
    what the task is, where no platform does; `fields` are the inputs that are written, `answer` is the answer's field.
    `similarity` is the cosine that a paraphrase keeps at least. `tally` counts `requests`, and of these the answers
    that were `unreadable`, `repeated` or, of paraphrases, `unlike`.
    """

    url: str
    model: str
    strategy: Strategy = "zero-shot"
    token: str = ""
    tries: int = 4
    temperature: float = 0.9
    max_tokens: int = 300
    price_in: float = 0.0
    price_out: float = 0.0
    seconds: float = 60.0
    about: str = ""
    fields: Sequence[str] = ()
    answer: str = "label"
    similarity: float = 0.7
    successes: Sequence[AttackContext] = field(default=(), repr=False)
    tally: Counter[str] = field(default_factory=Counter, init=False, repr=False)

    name = "language-model"

    def __post_init__(self) -> None:
        if self.strategy not in get_args(Strategy):
            raise Invalid({"strategy": f"Choose one of {', '.join(get_args(Strategy))}."})
        self._chat = _open_chat(self)
        self._seen_keys: set[str] = set()

    @property
    def version(self) -> str:
        """Return the strategy and the model; another of either counts as another program."""
        return f"{self.strategy} {self.model}"[:60].strip()

    def inform(self, task: Json, successes: Sequence[AttackContext]) -> None:
        """See `Informed`."""
        instructions = task.get("instructions") or {}
        tips = "; ".join(instructions.get("tips") or ())
        about = str(instructions.get("create") or task.get("description") or "")
        self.about = self.about or (f"{about}\n\nWhat tends to work: {tips}." if tips else about)
        self.fields = self.fields or [item["name"] for item in task["input"]]
        self.answer = str(task["answer"][0]["name"]) if task["answer"] else self.answer
        self.successes = self.successes or successes

    def close(self) -> None:
        """Close all connections."""
        self._chat.close()

    def propose(self, context: AttackContext, target: AttackedModel, budget: Budget) -> Iterator[AttackCandidate]:
        """Yield up to `tries` candidates. Texts that are no new example cost, are counted and are skipped."""
        metered = target if isinstance(target, MeteredTarget) else MeteredTarget(target, budget)
        fields = self.fields or [name for name in context.inputs if name not in context.values]
        answer = context.answer or self._draw_answer(context, metered.labels)
        if answer is None or not fields or (self.strategy == "paraphrase" and not context.inputs):
            return
        messages: list[Json] = [{"role": "user", "content": self._request(context, fields, answer)}]
        earlier = [{name: start.inputs.get(name) for name in fields} for start in (context, *self.successes)]
        copied = [dict.fromkeys(fields, value) for value in context.values.values()]
        self._seen_keys |= {_comparison_key(inputs) for inputs in (*earlier, *copied)}
        cost = 0.0
        try:
            for number in range(self.tries):
                text, price = self.write(messages, fields)
                cost += price
                metered.pay(price)
                texts = parse_fields(text, fields)
                facts: dict[str, Any] = {"strategy": self.strategy, "model": self.model, "try": number + 1}
                if texts is not None:
                    messages = [*messages[:1], {"role": "assistant", "content": text}, ANOTHER]
                if not self._is_usable(texts, context, facts):
                    continue
                inputs = {**context.values, **texts}
                (output,) = metered.ask([inputs])
                yield AttackCandidate(context.uid, inputs, answer, output, is_fooled(output, answer), 1, cost, facts)
                cost = 0.0
                if self.strategy == "iterate":
                    messages = [*messages[:2], _reply_to_answer(output, answer)]
        except BudgetSpent:
            return

    def _is_usable(
        self, texts: Json | None, context: AttackContext, facts: dict[str, Any]
    ) -> TypeGuard[dict[str, str]]:
        """The texts are a new example, and a paraphrase is near enough to its original. Counts the outcome."""
        self.tally["requests"] += 1
        if texts is None:
            self.tally["unreadable"] += 1
            return False
        inputs_key = _comparison_key({**context.values, **texts})
        if inputs_key in self._seen_keys or _comparison_key(texts) in self._seen_keys:
            self.tally["repeated"] += 1
            return False
        self._seen_keys.add(inputs_key)
        if self.strategy != "paraphrase":
            return True
        similarity = min(cosines(str(context.inputs.get(name, "")), [text])[0] for name, text in texts.items())
        facts["similarity"] = round(similarity, 4)
        self.tally["unlike"] += similarity < self.similarity
        return similarity >= self.similarity

    def write(self, messages: Sequence[Json], fields: Sequence[str]) -> tuple[str, float]:
        """Return the model's text and its cost. Raise `Unavailable` where it does not answer."""
        text, cost = self._chat.compose(messages, object_schema(dict.fromkeys(fields, TEXT)))
        return str(text), float(cost)

    def _request(self, context: AttackContext, fields: Sequence[str], answer: Json) -> str:
        shape = json.dumps(dict.fromkeys(fields, "..."))
        right = ", ".join(f"{name}: {value}" for name, value in answer.items())
        parts = [f"You write test examples that people find easy and a model gets wrong.\n\n{self.about}".strip()]
        if context.values:
            parts.append("It is about this:\n" + _lines(context.values))
        if self.strategy == "few-shot" and self.successes:
            examples = "\n\n".join(
                _lines({**success.inputs, **(success.answer or {})}) for success in self.successes[:SHOTS]
            )
            parts.append(f"These fooled the model before:\n\n{examples}")
        if self.strategy == "paraphrase":
            original = _lines({name: context.inputs[name] for name in fields if name in context.inputs})
            parts.append(f"Say this in other words. What it means, and that {right} is right, must stay:\n{original}")
        else:
            parts.append(
                f"Write one new example for which {right} is right beyond doubt, and the model says otherwise."
            )
        parts.append(f"Answer with one JSON object of this shape and nothing else: {shape}")
        return "\n\n".join(parts)

    def _draw_answer(self, context: AttackContext, labels: Sequence[str]) -> dict[str, Any] | None:
        """An answer for a context that asks for none: one of the labels, always the same for a context."""
        if not labels:
            return None
        place = int.from_bytes(hashlib.sha256(context.uid.encode()).digest()[:4], "big") % len(labels)
        return {self.answer: labels[place]}


def _open_chat(adversary: LanguageModel) -> Any:
    from dynabench.models.backends.served.openai import ChatModel, ChatOptions

    card = ModelCard(adversary.model, "0", "", "openai", ("request",), "text", returns="text")
    options = ChatOptions(
        url=adversary.url,
        model=adversary.model,
        token=adversary.token,
        prompt="{request}",
        max_tokens=adversary.max_tokens,
        temperature=adversary.temperature,
        price_in=adversary.price_in,
        price_out=adversary.price_out,
        cache=False,
    )
    return ChatModel(card, options, adversary.seconds)


def parse_fields(text: str, fields: Sequence[str]) -> dict[str, str] | None:
    """Return the fields of the JSON object in a model's text; None where there is none, or several."""
    objects: dict[str, dict[str, str]] = {}
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        if isinstance(value, dict) and set(value) == set(fields):
            objects[json.dumps(value, sort_keys=True)] = value
        at = text.find("{", end)
    if len(objects) != 1:
        return None
    [item] = objects.values()
    values = {name: item[name].strip() for name in fields if isinstance(item[name], str)}
    return values if len(values) == len(fields) and all(map(_has_words, values.values())) else None


def _has_words(text: str) -> bool:
    """The text has words, unlike the dots that stand for it in a request."""
    return any(map(str.isalnum, text))


def _comparison_key(inputs: Json) -> str:
    """A key that ignores punctuation, spaces and case."""
    return json.dumps({name: re.findall(r"\w+", str(inputs[name]).casefold()) for name in sorted(inputs)})


def is_fooled(output: ModelOutput, answer: Json) -> bool:
    """Return whether a target is fooled: by the platform's word, else where its answer differs from the right one."""
    fooled = output.extras.get("fooled")
    if isinstance(fooled, bool):
        return fooled
    return any(output.answer[name] != value for name, value in answer.items() if name in output.answer)


def _reply_to_answer(output: ModelOutput, answer: Json) -> dict[str, str]:
    highest = max((output.probabilities or {}).values(), default=None)
    certainty = f" ({highest:.0%} sure)" if highest is not None else ""
    answer_text = ", ".join(map(str, output.answer.values()))
    right = ", ".join(map(str, answer.values()))
    return {
        "role": "user",
        "content": f"The model answered {answer_text}{certainty}; {right} is what you say is right. Write another, "
        "better example of the same shape, which the model gets wrong. Answer with the JSON object alone.",
    }


def _lines(values: Json) -> str:
    return "\n".join(f"{name}: {value}" for name, value in values.items())
