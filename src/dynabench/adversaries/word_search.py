"""The search over words: leave out each word to find those that matter, then change words in that order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dynabench.adversaries.perturbations.transformation import Edit, SourceWord, apply_edits, words
from dynabench.adversaries.protocol import (
    AttackCandidate,
    AttackContext,
    AttackedModel,
    Budget,
    BudgetSpent,
    MeteredTarget,
    ask_within_budget,
    changeable_fields,
    confidence,
    is_wrong,
)
from dynabench.models.protocol import ModelOutput

MAX_TOKENS = 256
"""Tokens of a text that are compared; the encoder was trained on no more."""
BATCH = 32


def cosines(text: str, others: Sequence[str]) -> list[float]:
    """Return the cosine between the embeddings of `text` and of each of `others`, from -1 to 1."""
    if not others:
        return []
    return [float(cosine) for cosine in embeddings(others) @ _text_vector(text)]


def embeddings(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return unit vectors, shape (texts, width): the mean of the encoder's states over a text's tokens."""
    return np.concatenate([_encode(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)])


def word_vectors(tokens: Sequence[int]) -> NDArray[np.float32]:
    """Return the encoder's input embeddings of these tokens, without their text; unit vectors, a row each."""
    table = _encoder().get_input_embeddings().weight.detach().numpy()[list(tokens)]
    return np.asarray(table / np.linalg.norm(table, axis=1, keepdims=True))


@lru_cache(64)
def _text_vector(text: str) -> NDArray[np.float32]:
    return np.asarray(_encode([text])[0])


def _encode(texts: Sequence[str]) -> NDArray[np.float32]:
    from dynabench.models import encoder

    model = _encoder()
    import torch

    pieces = [encoding.ids[:MAX_TOKENS] for encoding in encoder.tokenizer().encode_batch(list(texts))]
    width = max(map(len, pieces))
    tokens = torch.tensor([ids + [0] * (width - len(ids)) for ids in pieces])
    mask = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids in pieces])
    with torch.inference_mode():
        states = model(input_ids=tokens, attention_mask=mask).last_hidden_state
        mean = (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        vectors: NDArray[np.float32] = torch.nn.functional.normalize(mean, dim=1).numpy()
    return vectors


@cache
def _encoder() -> Any:
    from dynabench.models import encoder

    return encoder.load()


FIRST = 128
"""Words of a text that may change; the sentence encoder compares little more of it."""


@dataclass(frozen=True)
class WordPlace:
    """The word `at` of a field."""

    field: str
    at: int


@dataclass(frozen=True)
class TextDraft:
    """Inputs, of which the words of some fields may be replaced; `new_words` holds them by place."""

    inputs: Mapping[str, Any]
    words_by_field: Mapping[str, Sequence[SourceWord]]
    new_words: Mapping[WordPlace, str] = field(default_factory=dict)

    @classmethod
    def from_context(cls, context: AttackContext, fields: Sequence[str] = ()) -> Self:
        """Return a draft of the context's inputs, in which `changeable_fields` may change."""
        names = changeable_fields(context, fields)
        return cls(context.inputs, {name: words(context.inputs[name]) for name in names})

    @property
    def places(self) -> list[WordPlace]:
        """Return the words that may be replaced: the first of each field, no names."""
        return [
            WordPlace(name, at)
            for name, field_words in self.words_by_field.items()
            for at, word in enumerate(field_words[:FIRST])
            if not word.may_be_name
        ]

    @property
    def size(self) -> int:
        """Return the number of words in all fields that may change."""
        return sum(map(len, self.words_by_field.values()))

    def word(self, place: WordPlace) -> SourceWord:
        """Return the original's word at a place."""
        return self.words_by_field[place.field][place.at]

    def current_words(self, name: str) -> list[str]:
        """Return the current words of a field."""
        return [self.new_words.get(WordPlace(name, at), word.text) for at, word in enumerate(self.words_by_field[name])]

    def replace_word(self, place: WordPlace, new: str) -> "TextDraft":
        """Return the draft with another word at a place."""
        return replace(self, new_words={**self.new_words, place: new})

    def restore_word(self, place: WordPlace) -> "TextDraft":
        """Return the draft with the original's word at a place."""
        return replace(self, new_words={other: new for other, new in self.new_words.items() if other != place})

    @property
    def changed_texts(self) -> dict[str, str]:
        """Return the texts of the fields that differ from the original's."""
        texts = {}
        for name in {place.field for place in self.new_words}:
            edits = [
                Edit(w.start, w.end, new)
                for p, new in self.new_words.items()
                if p.field == name
                for w in (self.word(p),)
            ]
            if edited := apply_edits(self.inputs[name], edits):
                texts[name] = edited.text
        return texts

    @property
    def current_inputs(self) -> dict[str, Any]:
        """Return the current inputs."""
        return {**self.inputs, **self.changed_texts}

    def without(self, place: WordPlace) -> dict[str, Any]:
        """Return the inputs without the word, to measure its importance."""
        word, text = self.word(place), self.inputs[place.field]
        end = word.end + 1 if text[word.end : word.end + 1] == " " else word.end
        return {**self.inputs, place.field: text[: word.start] + text[end:]}


Replacements = Callable[[Sequence[str], int], list[str]]
"""Return the possible replacements, for the words of a text and the place of one."""


@dataclass(frozen=True)
class ChangeLimits:
    """The limits of a changed text.

    `similarity` is the least cosine between each changed field and its original; `share` the part of all words that may
    change, of which one always may.
    """

    similarity: float
    share: float

    def most(self, size: int) -> int:
        """Return how many of `size` words may change."""
        return max(1, int(self.share * size))


def search_words(
    context: AttackContext,
    target: AttackedModel,
    budget: Budget,
    replacements: Replacements,
    limits: ChangeLimits,
    fields: Sequence[str] = (),
) -> Iterator[AttackCandidate]:
    """Yield at most one candidate: the one that fools the target, else the one that it was least sure of.

    Nothing where no right answer is known, the target is wrong already, or no word can be changed.
    """
    if not context.answer:
        return
    search = _Search(
        context, MeteredTarget(target, budget), replacements, limits, TextDraft.from_context(context, fields)
    )
    with suppress(BudgetSpent):
        search.run(context.answer)
    if search.best.new_words:
        yield search.candidate(context.answer)


class _Search:
    """One context's search; `best` is where it stands, so that it can end at any call."""

    def __init__(
        self,
        context: AttackContext,
        metered: MeteredTarget,
        replacements: Replacements,
        limits: ChangeLimits,
        draft: TextDraft,
    ) -> None:
        self.context, self.metered, self.replacements, self.limits = context, metered, replacements, limits
        self.best, self.similarity = draft, 1.0
        self.output: ModelOutput | None = None

    def run(self, answer: Mapping[str, Any]) -> None:
        """Search until the target errs or all words were tried; raise `BudgetSpent`."""
        self.output = self.metered.ask([self.best.inputs])[0]
        if is_wrong(self.output, answer):
            return
        for place in self._order_by_importance(answer):
            if len(self.best.new_words) >= self.limits.most(self.best.size):
                return
            if self._change_word(place, answer):
                self._restore_unneeded_words(answer)
                return

    def candidate(self, answer: Mapping[str, Any]) -> AttackCandidate:
        """Return the best draft as a candidate."""
        assert self.output is not None
        new, size = self.best.new_words, self.best.size
        facts = {
            "similarity": round(self.similarity, 4),
            "changed": len(new),
            "words": size,
            "edits": [[self.best.word(place).text, new_word] for place, new_word in new.items()],
        }
        return AttackCandidate(
            self.context.uid, self.best.current_inputs, answer, self.output, is_wrong(self.output, answer),
            self.metered.queries, facts=facts,
        )  # fmt: skip

    def _order_by_importance(self, answer: Mapping[str, Any]) -> list[WordPlace]:
        """The places that can be changed, the one first without which the target is least sure of the right answer."""
        field_words = {name: self.best.current_words(name) for name in self.best.words_by_field}
        places = [place for place in self.best.places if self.replacements(field_words[place.field], place.at)]
        outputs = ask_within_budget(self.metered, [self.best.without(place) for place in places])
        weighed = [(confidence(output, answer), at) for at, output in enumerate(outputs)]
        return [places[at] for _, at in sorted(weighed)]

    def _change_word(self, place: WordPlace, answer: Mapping[str, Any]) -> bool:
        """Put the best word at a place; true where the target errs now. The text stays where no word helps."""
        options = [
            self.best.replace_word(place, new)
            for new in self.replacements(self.best.current_words(place.field), place.at)
        ]
        attempts = self._ask_near_drafts(options)
        fooling = [attempt for attempt in attempts if is_wrong(attempt[2], answer)]
        if fooling:
            self.best, self.similarity, self.output = max(fooling, key=lambda attempt: attempt[1])
            return True
        before = confidence(self.output, answer) if self.output else 1.0
        least = min(attempts, key=lambda attempt: confidence(attempt[2], answer), default=None)
        if least is not None and confidence(least[2], answer) < before:
            self.best, self.similarity, self.output = least
        return False

    def _ask_near_drafts(self, drafts: Sequence[TextDraft]) -> list[tuple[TextDraft, float, ModelOutput]]:
        """The drafts near enough to the original, with their similarity and, within the budget, their outputs."""
        with_similarity = zip(drafts, self._similarities(drafts), strict=True)
        near_drafts = [(draft, cosine) for draft, cosine in with_similarity if cosine >= self.limits.similarity]
        outputs = ask_within_budget(self.metered, [draft.current_inputs for draft, _ in near_drafts])
        return [(draft, cosine, output) for (draft, cosine), output in zip(near_drafts, outputs, strict=False)]

    def _restore_unneeded_words(self, answer: Mapping[str, Any]) -> None:
        """Restore words whose change is not needed to fool the target."""
        while len(self.best.new_words) > 1:
            simpler_drafts = [self.best.restore_word(place) for place in self.best.new_words]
            attempts = [attempt for attempt in self._ask_near_drafts(simpler_drafts) if is_wrong(attempt[2], answer)]
            if not attempts:
                return
            self.best, self.similarity, self.output = max(attempts, key=lambda attempt: attempt[1])

    def _similarities(self, drafts: Sequence[TextDraft]) -> list[float]:
        """For each draft the least cosine of a changed field and its original."""
        changed_by_draft, least = [draft.changed_texts for draft in drafts], [1.0] * len(drafts)
        for name in self.best.words_by_field:
            texts = list(
                dict.fromkeys(texts_of_draft[name] for texts_of_draft in changed_by_draft if name in texts_of_draft)
            )
            cosine_by_text = dict(zip(texts, cosines(self.best.inputs[name], texts), strict=True))
            least = [
                min(lowest, cosine_by_text.get(texts_of_draft.get(name, ""), 1.0))
                for lowest, texts_of_draft in zip(least, changed_by_draft, strict=True)
            ]
        return least
