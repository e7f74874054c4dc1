"""The meaning-preserving transformations as an adversary: a beam search over chains of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from dynabench.adversaries.perturbations import Transformation, find_transformations, generator, names_on_axis
from dynabench.adversaries.protocol import (
    Adversary,
    Budget,
    BudgetSpent,
    Candidate,
    Context,
    MeteredTarget,
    Target,
    ask_within_budget,
    changeable_fields,
    confidence,
    is_wrong,
)
from dynabench.adversaries.search.word_search import cosines as text_cosines
from dynabench.models.protocol import Output


@dataclass(frozen=True)
class _State:
    texts: Mapping[str, str]
    path: tuple[str, ...] = ()
    similarity: float = 1.0
    output: Output | None = field(default=None, compare=False)


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

    def propose(self, context: Context, target: Target, budget: Budget) -> Iterator[Candidate]:
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
            yield Candidate(context.uid, inputs, context.answer, best.output, fooled, metered.queries, facts=facts)

    def _search(self, context: Context, metered: MeteredTarget, answer: Mapping[str, Any]) -> Iterator[_State]:
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
