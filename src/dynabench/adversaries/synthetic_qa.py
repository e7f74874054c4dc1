"""Questions about a passage that no person wrote: an answer is chosen, a question made of it, and models must agree.

In the manner of roundtrip consistency (Alberti et al., ACL 2019) with several readers (Bartolo et al., EMNLP 2021): a
question is kept where enough of them find the answer that it was made for. It fools where the target does not.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from dynabench.adversaries.language_model import LanguageModel, parse_fields
from dynabench.adversaries.protocol import (
    AttackCandidate,
    AttackContext,
    AttackedModel,
    Budget,
    BudgetSpent,
    MeteredTarget,
)
from dynabench.adversaries.synthetic_answers import PassageAnswer, find_answers
from dynabench.adversaries.synthetic_questions import contains_answer, make_question
from dynabench.kit.errors import Invalid
from dynabench.models import catalog
from dynabench.models.protocol import Model, ModelOutput
from dynabench.tasks.words import answer_words, texts_of, word_f1

LONGEST = 20_000
"""Characters of a passage; longer ones are passed over."""
FOOLED = 0.4
"""Below this word F1 the target is fooled, as the shipped task `qa` has it."""
STEP = 8
"""Questions asked at once."""
CHARACTERS = 300
"""Of a question at most."""

_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which no file and no model takes."""


@dataclass
class GenerationCounts:
    """Counts of passages, answers, questions, and questions that were kept."""

    passages: int = 0
    answers: int = 0
    questions: int = 0
    kept: int = 0


@dataclass(frozen=True)
class QuestionDraft:
    """A question that waits for judgement, its answer, and its facts."""

    text: str
    chosen: PassageAnswer
    facts: Mapping[str, Any]


class Judge:
    """A model that answers questions about passages, whatever its fields are called."""

    def __init__(self, model: Model) -> None:
        card = model.card
        if len(card.inputs) != 2 or card.returns not in ("spans", "text"):
            raise Invalid({"judges": f"{card.name} does not answer a question about a passage."})
        self.model = model

    @classmethod
    def open(cls, name: str) -> "Judge":
        """Return a judge by an installed model's name or a folder; raise `NotFound` for an unknown name."""
        folder = Path(name) if Path(name).is_dir() else catalog.entry(name).folder
        return cls(catalog.open_model(folder))

    def answers(self, passage: str, questions: Sequence[str]) -> list[str]:
        """Return one text for each question."""
        card = self.model.card
        inputs = [dict(zip(card.inputs, (text, passage), strict=True)) for text in questions]
        return [_answer_text(output, card.answer) for output in self.model.predict(inputs)] if inputs else []


@dataclass
class SyntheticQa:
    """Makes questions about a context's passage, keeps those that models agree on, and says which fool the target.

    `judges` are models beside the target, by name or folder, as a list or with commas between; `agree` of them and the
    target must answer with a word F1 of `f1` or more against the chosen answer. At most `most` answers of a passage
    are asked for, drawn with `seed`. With `cloze` off, only questions in the usual order of words are made. With `url`
    and `model` a language model writes the questions, over the chat interface; what it costs is in dollars per million
    tokens. `question`, `passage` and `answer` are the fields' names.
    """

    judges: Sequence[str] | str = ()
    agree: int = 1
    f1: float = 0.8
    most: int = 40
    seed: int = 0
    cloze: bool = True
    url: str = ""
    model: str = ""
    token: str = ""
    temperature: float = 0.7
    price_in: float = 0.0
    price_out: float = 0.0
    question: str = "question"
    passage: str = "passage"
    answer: str = "answer"
    tally: GenerationCounts = field(init=False, default_factory=GenerationCounts)

    name = "synthetic-qa"

    def __post_init__(self) -> None:
        if not all(isinstance(number, int | float) for number in (self.agree, self.f1, self.most)):
            raise Invalid({"options": "`agree`, `f1` and `most` are numbers."})
        names = self.judges if isinstance(self.judges, list | tuple) else str(self.judges).split(",")
        self._judges = [Judge.open(name.strip()) for name in names if name.strip()]
        if not 0 <= self.agree <= len(self._judges) + 1:
            raise Invalid({"agree": f"0 to {len(self._judges) + 1}: the target and the judges beside it."})
        if not 0 < self.f1 <= 1 or self.most < 1:
            raise Invalid({"f1": "`f1` is above 0 and at most 1, `most` 1 or more."})
        if bool(self.url) != bool(self.model):
            raise Invalid({"url": "A language model needs both its `url` and its name, `model`."})
        self._writer = self._language_model() if self.url else None

    @property
    def version(self) -> str:
        """Return the version: the rules, or the model that writes the questions."""
        return f"1 {self.model or 'rules'}"[:60]

    def inform(self, task: Mapping[str, Any], successes: Sequence[AttackContext]) -> None:
        """Take the names of the fields from a task that is a question about a passage; see `Informed`."""
        answer = task["answer"][0]
        if answer.get("of"):
            self.question, self.passage = str(task["input"][0]["name"]), str(answer["of"])
            self.answer = str(answer["name"])

    def close(self) -> None:
        """Close all connections."""
        if self._writer is not None:
            self._writer.close()

    def propose(self, context: AttackContext, target: AttackedModel, budget: Budget) -> Iterator[AttackCandidate]:
        """Yield the questions that enough models agree on, in the order they were drawn."""
        metered = target if isinstance(target, MeteredTarget) else MeteredTarget(target, budget)
        passage = {**context.inputs, **context.values}.get(self.passage)
        if not isinstance(passage, str) or not 0 < len(passage) <= LONGEST or _HALF.search(passage):
            return
        self.tally.passages += 1
        drafts = self._drafts(passage, context.uid, metered)
        queries, cost = metered.queries, metered.cost
        try:
            while batch := list(islice(drafts, STEP)):
                for candidate in self._agreed_candidates(context, passage, batch, metered):
                    yield replace(candidate, queries=metered.queries - queries, cost=metered.cost - cost)
                    queries, cost = metered.queries, metered.cost
        except BudgetSpent:
            return

    def _drafts(self, passage: str, uid: str, metered: MeteredTarget) -> Iterator[QuestionDraft]:
        """Questions to be judged, each once, as many as there is money for."""
        possible = list(find_answers(passage))
        sample = Random(f"{self.seed}:{uid}").sample(possible, min(len(possible), self.most))
        seen: set[str] = set()
        for chosen in sample:
            self.tally.answers += 1
            try:
                draft = (
                    self._question_by_model(passage, chosen, metered)
                    if self._writer
                    else self._question_by_rules(passage, chosen)
                )
            except BudgetSpent:
                return
            key = " ".join(answer_words(draft.text)) if draft else ""
            if draft is not None and key and key not in seen:
                seen.add(key)
                self.tally.questions += 1
                yield draft

    def _question_by_rules(self, passage: str, chosen: PassageAnswer) -> QuestionDraft | None:
        question = make_question(passage, chosen, self.cloze)
        if question is None or len(question.text) > CHARACTERS:
            return None
        return QuestionDraft(question.text, chosen, {"kind": chosen.kind, "generator": "rules", "form": question.form})

    def _question_by_model(self, passage: str, chosen: PassageAnswer, metered: MeteredTarget) -> QuestionDraft | None:
        """The language model's question; None, and paid for, where it is no question or contains the answer."""
        assert self._writer is not None
        answer = passage[chosen.start : chosen.end]
        sentence = passage[chosen.sentence[0].start : chosen.sentence[-1].end]
        request = (
            f"Passage:\n{passage}\n\nWrite one question about this passage whose only right answer is {answer!r}, as "
            f"it stands in this sentence: {sentence}\nThe question must not contain the answer and must be understood "
            'without the passage. Answer with one JSON object and nothing else: {"question": "..."}'
        )
        text, cost = self._writer.write([{"role": "user", "content": request}], ("question",))
        metered.pay(cost)
        question = (parse_fields(text, ("question",)) or {}).get("question", "")
        if (
            not question.endswith("?")
            or len(question) > CHARACTERS
            or _HALF.search(question)
            or contains_answer(question, answer)
        ):
            return None
        return QuestionDraft(question, chosen, {"kind": chosen.kind, "generator": self.model})

    def _agreed_candidates(
        self, context: AttackContext, passage: str, drafts: Sequence[QuestionDraft], metered: MeteredTarget
    ) -> Iterator[AttackCandidate]:
        """The candidates on which enough judges agree. The target is asked where its vote can still decide."""
        votes = [0] * len(drafts)
        for judge in self._judges:
            for number, model_answer in enumerate(judge.answers(passage, [draft.text for draft in drafts])):
                votes[number] += self._agrees(model_answer, passage, drafts[number])
        for draft, others in zip(drafts, votes, strict=True):
            if others + 1 < self.agree:
                continue
            inputs = {**context.values, self.question: draft.text, self.passage: passage}
            (output,) = metered.ask([inputs])
            model_answer = _answer_text(output, self.answer)
            total = others + self._agrees(model_answer, passage, draft)
            if total < self.agree:
                continue
            self.tally.kept += 1
            span = draft.chosen.span(passage)
            facts = {**draft.facts, "votes": total, "judges": len(self._judges) + 1}
            fooled = word_f1(model_answer, str(span["text"])) < FOOLED
            yield AttackCandidate(context.uid, inputs, {self.answer: [span]}, output, fooled, facts=facts)

    def _agrees(self, model_answer: str, passage: str, draft: QuestionDraft) -> bool:
        return word_f1(model_answer, passage[draft.chosen.start : draft.chosen.end]) >= self.f1

    def _language_model(self) -> LanguageModel:
        return LanguageModel(
            self.url,
            self.model,
            token=self.token,
            temperature=self.temperature,
            price_in=self.price_in,
            price_out=self.price_out,
        )


def _answer_text(output: ModelOutput, field_name: str) -> str:
    return " ".join(texts_of(output.answer.get(field_name)))
