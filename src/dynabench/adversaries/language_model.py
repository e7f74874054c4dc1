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

from dynabench.adversaries.proposing import Budget, Candidate, Context, Metered, Spent, Target
from dynabench.adversaries.search.similarity import cosines
from dynabench.errors import Invalid
from dynabench.models.backends.served.written import of_fields
from dynabench.models.protocol import Card, Output

Strategy = Literal["zero-shot", "few-shot", "iterate", "paraphrase"]
Json = Mapping[str, Any]
SHOTS = 5
"""Successes that are shown."""
TEXT: Json = {"type": "string"}
ANOTHER: Json = {"role": "user", "content": "Write another of the same shape, which says something else."}
_DECODER = json.JSONDecoder()


@runtime_checkable
class Informed(Protocol):
    """An adversary that is told before it begins what the task is about, and what fooled its targets so far."""

    def inform(self, task: Json, successes: Sequence[Context]) -> None:
        """`task` is the config as the platform tells it."""
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
    successes: Sequence[Context] = field(default=(), repr=False)
    tally: Counter[str] = field(default_factory=Counter, init=False, repr=False)

    name = "language-model"

    def __post_init__(self) -> None:
        if self.strategy not in get_args(Strategy):
            raise Invalid({"strategy": f"Choose one of {', '.join(get_args(Strategy))}."})
        self._chat = _chat(self)
        self._known: set[str] = set()

    @property
    def version(self) -> str:
        """The strategy and the model, which differ as two programs do."""
        return f"{self.strategy} {self.model}"[:60].strip()

    def inform(self, task: Json, successes: Sequence[Context]) -> None:
        """See `Informed`."""
        told = task.get("instructions") or {}
        self.about = self.about or str(told.get("create") or task.get("description") or "")
        self.fields = self.fields or [each["name"] for each in task["input"]]
        self.answer = str(task["answer"][0]["name"]) if task["answer"] else self.answer
        self.successes = self.successes or successes

    def close(self) -> None:
        """Close all connections."""
        self._chat.close()

    def propose(self, context: Context, target: Target, budget: Budget) -> Iterator[Candidate]:
        """Up to `tries` candidates. What it writes that is no new example costs, is counted and is passed over."""
        metered = target if isinstance(target, Metered) else Metered(target, budget)
        fields = self.fields or [name for name in context.inputs if name not in context.values]
        answer = context.answer or self._drawn(context, metered.labels)
        if answer is None or not fields or (self.strategy == "paraphrase" and not context.inputs):
            return
        messages: list[Json] = [{"role": "user", "content": self._asked(context, fields, answer)}]
        shown = [{name: each.inputs.get(name) for name in fields} for each in (context, *self.successes)]
        copied = [dict.fromkeys(fields, value) for value in context.values.values()]
        self._known |= {_key(each) for each in (*shown, *copied)}
        cost = 0.0
        try:
            for number in range(self.tries):
                text, price = self.write(messages, fields)
                cost += price
                metered.pay(price)
                written = parsed(text, fields)
                facts: dict[str, Any] = {"strategy": self.strategy, "model": self.model, "try": number + 1}
                if written is not None:
                    messages = [*messages[:1], {"role": "assistant", "content": text}, ANOTHER]
                if not self._fits(written, context, facts):
                    continue
                inputs = {**context.values, **written}
                (said,) = metered.ask([inputs])
                yield Candidate(context.uid, inputs, answer, said, errs(said, answer), 1, cost, facts)
                cost = 0.0
                if self.strategy == "iterate":
                    messages = [*messages[:2], _told(said, answer)]
        except Spent:
            return

    def _fits(self, written: Json | None, context: Context, facts: dict[str, Any]) -> TypeGuard[dict[str, str]]:
        """Whether a text is an example, a new one, and where it says one in other words near enough; counts it."""
        self.tally["requests"] += 1
        if written is None:
            self.tally["unreadable"] += 1
            return False
        whole = _key({**context.values, **written})
        if whole in self._known or _key(written) in self._known:
            self.tally["repeated"] += 1
            return False
        self._known.add(whole)
        if self.strategy != "paraphrase":
            return True
        near = min(cosines(str(context.inputs.get(name, "")), [text])[0] for name, text in written.items())
        facts["similarity"] = round(near, 4)
        self.tally["unlike"] += near < self.similarity
        return near >= self.similarity

    def write(self, messages: Sequence[Json], fields: Sequence[str]) -> tuple[str, float]:
        """What the model writes, and what that cost. Raises `Unavailable` where it does not answer."""
        text, cost = self._chat.compose(messages, of_fields(dict.fromkeys(fields, TEXT)))
        return str(text), float(cost)

    def _asked(self, context: Context, fields: Sequence[str], answer: Json) -> str:
        shape = json.dumps(dict.fromkeys(fields, "..."))
        right = ", ".join(f"{name}: {value}" for name, value in answer.items())
        parts = [f"You write test examples that people find easy and a model gets wrong.\n\n{self.about}".strip()]
        if context.values:
            parts.append("It is about this:\n" + _lines(context.values))
        if self.strategy == "few-shot" and self.successes:
            shown = "\n\n".join(_lines({**each.inputs, **(each.answer or {})}) for each in self.successes[:SHOTS])
            parts.append(f"These fooled the model before:\n\n{shown}")
        if self.strategy == "paraphrase":
            given = _lines({name: context.inputs[name] for name in fields if name in context.inputs})
            parts.append(f"Say this in other words. What it means, and that {right} is right, must stay:\n{given}")
        else:
            parts.append(
                f"Write one new example for which {right} is right beyond doubt, and the model says otherwise."
            )
        parts.append(f"Answer with one JSON object of this shape and nothing else: {shape}")
        return "\n\n".join(parts)

    def _drawn(self, context: Context, labels: Sequence[str]) -> dict[str, Any] | None:
        """An answer to write for where none is asked for: one of the labels, the same each time for a context."""
        if not labels:
            return None
        place = int.from_bytes(hashlib.sha256(context.uid.encode()).digest()[:4], "big") % len(labels)
        return {self.answer: labels[place]}


def _chat(of: LanguageModel) -> Any:
    from dynabench.models.backends.served.openai import ChatModel, Options

    card = Card(of.model, "0", "", "openai", ("request",), "text", returns="text")
    options = Options(
        url=of.url,
        model=of.model,
        token=of.token,
        prompt="{request}",
        max_tokens=of.max_tokens,
        temperature=of.temperature,
        price_in=of.price_in,
        price_out=of.price_out,
        cache=False,
    )
    return ChatModel(card, options, of.seconds)


def parsed(text: str, fields: Sequence[str]) -> dict[str, str] | None:
    """The fields that a model wrote as a JSON object, alone or in its talk; None where there is none, or several."""
    found: dict[str, dict[str, str]] = {}
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        if isinstance(value, dict) and set(value) == set(fields):
            found[json.dumps(value, sort_keys=True)] = value
        at = text.find("{", end)
    if len(found) != 1:
        return None
    [one] = found.values()
    values = {name: one[name].strip() for name in fields if isinstance(one[name], str)}
    return values if len(values) == len(fields) and all(map(_words, values.values())) else None


def _words(text: str) -> bool:
    """Whether a text says anything, unlike the dots that stand for it in a request."""
    return any(map(str.isalnum, text))


def _key(inputs: Json) -> str:
    """What is the same for the same words, however they are pointed, spaced and written large."""
    return json.dumps({name: re.findall(r"\w+", str(inputs[name]).casefold()) for name in sorted(inputs)})


def errs(output: Output, answer: Json) -> bool:
    """Whether a target is fooled: as the platform says, else where it answers otherwise in a field that both have."""
    told = output.extras.get("fooled")
    if isinstance(told, bool):
        return told
    return any(output.answer[name] != value for name, value in answer.items() if name in output.answer)


def _told(said: Output, answer: Json) -> dict[str, str]:
    sure = max((said.probabilities or {}).values(), default=None)
    how = f" ({sure:.0%} sure)" if sure is not None else ""
    got = ", ".join(map(str, said.answer.values()))
    right = ", ".join(map(str, answer.values()))
    return {
        "role": "user",
        "content": f"The model answered {got}{how}; {right} is what you say is right. Write another, better example of "
        "the same shape, which the model gets wrong. Answer with the JSON object alone.",
    }


def _lines(values: Json) -> str:
    return "\n".join(f"{name}: {value}" for name, value in values.items())
