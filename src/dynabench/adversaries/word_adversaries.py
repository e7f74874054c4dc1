"""Adversaries by search: words of nearly the same meaning, typing errors, and chains of transformations."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np

from dynabench.adversaries import english_words
from dynabench.adversaries.english_words import fixed_words
from dynabench.adversaries.perturbations import find_transformations, names_on_axis
from dynabench.adversaries.perturbations.transformation import NEGATIONS, Transformation, generator, match_case
from dynabench.adversaries.protocol import (
    Adversary,
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
from dynabench.adversaries.word_search import ChangeLimits, cosines, search_words, word_vectors
from dynabench.adversaries.word_search import cosines as text_cosines
from dynabench.models.protocol import ModelOutput

Words = Literal["synonyms", "neighbours", "both"]
WINDOW = 5
"""Words to either side that tell the part of speech."""
MIN_COSINE = 0.45
"""The least cosine between the encoder's embeddings of two words that count as neighbours."""
MAX_REPLACEMENTS = 24
"""Words tried in one place."""


class Substitution(Adversary):
    """Word-importance search over synonyms of a lexicon, or over neighbours in the encoder's own embeddings.

    Keeps function words, negations, quantities, names and whom a text is about; the part of speech and form of each
    word; at least `similarity` (cosine of the shared sentence encoder between the text and its original); and all but
    the `share` of words. `alone` is the least cosine of two words read alone, below which are synonyms
    in a rare sense (*run* and *lead*); `rare` is how often a million sentences of news must have a new word.
    """

    name = "substitution"
    version = "1"

    def __init__(
        self,
        words: Words = "synonyms",
        similarity: float = 0.85,
        share: float = 0.25,
        alone: float = 0.55,
        rare: int = 5,
        fields: Sequence[str] = (),
    ) -> None:
        self._words, self._alone, self._rare = words, alone, rare
        self._limits, self._fields = ChangeLimits(similarity, share), tuple(fields)

    def propose(self, context: AttackContext, target: AttackedModel, budget: Budget) -> Iterator[AttackCandidate]:
        """Yield the text that fools the target, or else the nearest to it."""
        return search_words(context, target, budget, self._replacements, self._limits, self._fields)

    def _replacements(self, words: Sequence[str], at: int) -> list[str]:
        """Return words that can stand in the place of `words[at]`."""
        start = max(0, at - WINDOW)
        candidates = find_replacements(tuple(words[start : at + WINDOW + 1]), at - start, self._words, self._alone)
        return [new for new in candidates if english_words.word_frequencies().get(new.lower(), 0) >= self._rare]


@lru_cache(16384)
def find_replacements(window: tuple[str, ...], at: int, source: Words, alone: float) -> tuple[str, ...]:
    """Return words of the same part of speech and form as `window[at]`, in the order of the source."""
    word = window[at]
    if word.lower() in fixed_words():
        return ()
    tags = english_words.tag_words(window)
    part = tags[at].partition("|")[0]
    if part not in english_words.OPEN:
        return ()
    candidates = list[str]()
    for new in _similar_words(word, part, source):
        fits = (
            new.isalpha() and new.lower() not in fixed_words() and new.lower() != word.lower() and new not in candidates
        )
        if not fits or (at and not english_words.article_fits(window[at - 1], new)):
            continue
        if english_words.tag_words((*window[:at], new, *window[at + 1 :])) == tags:
            candidates.append(new)
    similarities = cosines(word.lower(), [new.lower() for new in candidates])
    return tuple(new for new, cosine in zip(candidates, similarities, strict=True) if cosine >= alone)[
        :MAX_REPLACEMENTS
    ]


def _similar_words(word: str, part: str, source: Words) -> Iterator[str]:
    base = english_words.lemma(word, part)
    if source != "neighbours":
        for other in english_words.synonyms().get(base, ()):
            if other != base and (new := english_words.inflect_like(other, word, part)):
                yield match_case(word, new)
    if source != "synonyms":
        for new in nearest_words(word.lower()):
            other = english_words.lemma(new, part)
            if (
                other != base
                and english_words.inflect_like(other, word, part) == new
                and not english_words.are_opposites(base, other)
            ):
                yield match_case(word, new)


@lru_cache(8192)
def nearest_words(word: str, most: int = 2 * MAX_REPLACEMENTS) -> tuple[str, ...]:
    """Return the words nearest to `word` in the encoder's token embeddings; none where it is not one token."""
    names, vectors, places = _vocabulary()
    if word not in places:
        return ()
    cosines = vectors @ vectors[places[word]]
    order = np.argsort(-cosines)[1 : most + 1]
    return tuple(names[at] for at in order if cosines[at] >= MIN_COSINE)


@cache
def _vocabulary() -> tuple[list[str], Any, dict[str, int]]:
    """The encoder's tokens that are words of English, their unit embeddings, shape (words, width), and their places."""
    from dynabench.models import encoder

    tokens = encoder.tokenizer().get_vocab()
    names = sorted(
        word for word in tokens if len(word) > 2 and word.isalpha() and word in english_words.english_words()
    )
    vectors = word_vectors([tokens[word] for word in names])
    return names, vectors, {word: at for at, word in enumerate(names)}


KINDS = ("swapped_letters", "dropped_letters", "doubled_letters", "keyboard_typos")
MIN_LENGTH = 5


class Typos(Adversary):
    """One typing error in each of few words: letters swapped, left out, doubled, or a key beside.

    Only words of five letters and more, never their first and last letter, no negation, and no word becomes another
    one. `draws` is how often each kind of error is tried in a word.
    """

    name = "typos"
    version = "1"

    def __init__(
        self, similarity: float = 0.7, share: float = 0.25, draws: int = 4, seed: int = 0, fields: Sequence[str] = ()
    ) -> None:
        self._draws, self._seed = draws, seed
        self._limits, self._fields = ChangeLimits(similarity, share), tuple(fields)
        self._kinds = find_transformations(KINDS)

    def propose(self, context: AttackContext, target: AttackedModel, budget: Budget) -> Iterator[AttackCandidate]:
        """Yield the text that fools the target, or else the nearest to it."""
        return search_words(context, target, budget, self._misspellings, self._limits, self._fields)

    def _misspellings(self, words: Sequence[str], at: int) -> list[str]:
        word = words[at]
        if len(word) < MIN_LENGTH or word.lower() in NEGATIONS or not word.isascii():
            return []
        misspellings = list[str]()
        for kind in self._kinds:
            rng = generator(self._seed, word, kind.name)
            for _ in range(self._draws):
                edited_texts = kind.apply({"": word.lower()}, rng)
                if edited_texts and edited_texts[""].text not in english_words.english_words():
                    misspellings.append(word[0] + edited_texts[""].text[1:])
        return list(dict.fromkeys(misspellings))


@dataclass(frozen=True)
class _State:
    texts: Mapping[str, str]
    path: tuple[str, ...] = ()
    similarity: float = 1.0
    output: ModelOutput | None = field(default=None, compare=False)


class Perturb(Adversary):
    """Chains of transformations until the target errs: of each chain's continuations the `width` best are followed.

    `transformations` are names or an axis; chains have at most `depth` links, each drawn `draws` times. Texts stay as
    near to the original as `similarity` says (cosine of the shared sentence encoder).
    """

    name = "perturb"
    version = "1"

    def __init__(
        self,
        transformations: Sequence[str] = ("robustness",),
        similarity: float = 0.7,
        width: int = 3,
        depth: int = 3,
        draws: int = 1,
        seed: int = 0,
        fields: Sequence[str] = (),
    ) -> None:
        self._transformations = find_transformations(
            member for name in transformations for member in (names_on_axis(name) or [name])
        )
        self._min_similarity, self._width, self._depth, self._draws = similarity, width, depth, draws
        self._seed, self._fields = seed, tuple(fields)

    def propose(self, context: AttackContext, target: AttackedModel, budget: Budget) -> Iterator[AttackCandidate]:
        """At most one candidate: the one that fools the target, else the one that it was least sure of."""
        if not context.answer:
            return
        metered, best = MeteredTarget(target, budget), _State({})
        with suppress(BudgetSpent):
            for state in self._search(context, metered, context.answer):
                best = state
        if best.output is not None and best.path:
            facts = {"similarity": round(best.similarity, 4), "transformations": list(best.path)}
            fooled = is_wrong(best.output, context.answer)
            inputs = {**context.inputs, **best.texts}
            yield AttackCandidate(
                context.uid, inputs, context.answer, best.output, fooled, metered.queries, facts=facts
            )

    def _search(self, context: AttackContext, metered: MeteredTarget, answer: Mapping[str, Any]) -> Iterator[_State]:
        """Ever better states; the last one is the result."""
        original = {name: context.inputs[name] for name in changeable_fields(context, self._fields)}
        first = metered.ask([context.inputs])[0]
        if is_wrong(first, answer):
            return
        beam, seen, least = [_State(original, output=first)], {tuple(original.values())}, 2.0
        for _ in range(self._depth):
            answered = list[_State]()
            for state in beam:
                new_states = self._continuations(context.uid, original, state, seen, metered.queries_left)
                outputs = ask_within_budget(metered, [{**context.inputs, **new.texts} for new in new_states])
                with_outputs = [replace(new, output=output) for new, output in zip(new_states, outputs, strict=False)]
                fooling = [new for new in with_outputs if new.output and is_wrong(new.output, answer)]
                if fooling:
                    yield max(fooling, key=lambda new: new.similarity)
                    return
                answered += with_outputs
            beam = sorted(answered, key=lambda state: confidence(state.output, answer) if state.output else 1.0)[
                : self._width
            ]
            if beam and beam[0].output and (current := confidence(beam[0].output, answer)) < least:
                least = current
                yield beam[0]

    def _continuations(
        self, uid: str, original: Mapping[str, str], state: _State, seen: set[tuple[str, ...]], most: int | None
    ) -> list[_State]:
        """The state's continuations that are new and near enough to the original, of the first `most` that are made."""
        new_states = list[_State]()
        for transformation in self._transformations:
            for draw in range(self._draws):
                texts = _apply_to_state(transformation, state, f"{uid}:{'/'.join(state.path)}:{draw}", self._seed)
                if texts is None or tuple(texts.values()) in seen:
                    continue
                seen.add(tuple(texts.values()))
                new_states.append(_State(texts, (*state.path, transformation.name)))
        new_states = new_states[:most]
        least_cosines = [1.0] * len(new_states)
        for name, text in original.items():
            cosines = text_cosines(text, [new_state.texts[name] for new_state in new_states])
            least_cosines = [min(pair) for pair in zip(least_cosines, cosines, strict=True)]
        states = [replace(new, similarity=cosine) for new, cosine in zip(new_states, least_cosines, strict=True)]
        return [state for state in states if state.similarity >= self._min_similarity]


def _apply_to_state(transformation: Transformation, state: _State, uid: str, seed: int) -> dict[str, str] | None:
    edited_texts = transformation.apply(state.texts, generator(seed, uid, transformation.name))
    return {**state.texts, **{name: edited.text for name, edited in edited_texts.items()}} if edited_texts else None
