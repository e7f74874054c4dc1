"""The meaning-preserving transformations as an adversary: a beam search over chains of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dynabench.adversaries.perturbations import Transformation, find, generator, of
from dynabench.adversaries.proposing import Adversary, Budget, Candidate, Context, Metered, Spent, Target
from dynabench.adversaries.search import similarity
from dynabench.adversaries.search.asking import some, sure, wrong
from dynabench.adversaries.search.drafts import changeable
from dynabench.models.protocol import Output


@dataclass(frozen=True)
class _State:
    texts: Mapping[str, str]
    path: tuple[str, ...] = ()
    near: float = 1.0
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
        self._chosen = find(each for name in transformations for each in (of(name) or [name]))
        self._least, self._width, self._depth, self._draws = similarity, width, depth, draws
        self._seed, self._fields = seed, tuple(fields)

    def propose(self, context: Context, target: Target, budget: Budget) -> Iterator[Candidate]:
        """At most one candidate: the one that fools the target, else the one that it was least sure of."""
        if not context.answer:
            return
        metered, best = Metered(target, budget), _State({})
        with suppress(Spent):
            for state in self._search(context, metered, context.answer):
                best = state
        if best.output is not None and best.path:
            facts = {"similarity": round(best.near, 4), "transformations": list(best.path)}
            fooled = wrong(best.output, context.answer)
            inputs = {**context.inputs, **best.texts}
            yield Candidate(context.uid, inputs, context.answer, best.output, fooled, metered.queries, facts=facts)

    def _search(self, context: Context, metered: Metered, answer: Mapping[str, Any]) -> Iterator[_State]:
        """Ever better states; the last one is the result."""
        original = {name: context.inputs[name] for name in changeable(context, self._fields)}
        first = metered.ask([context.inputs])[0]
        if wrong(first, answer):
            return
        beam, seen, least = [_State(original, output=first)], {tuple(original.values())}, 2.0
        for _ in range(self._depth):
            asked = list[_State]()
            for state in beam:
                made = self._next(context.uid, original, state, seen, metered.left)
                outputs = some(metered, [{**context.inputs, **each.texts} for each in made])
                asked += [
                    _State(each.texts, each.path, each.near, out) for each, out in zip(made, outputs, strict=False)
                ]
            fooling = [state for state in asked if state.output and wrong(state.output, answer)]
            if fooling:
                yield max(fooling, key=lambda state: state.near)
                return
            beam = sorted(asked, key=lambda state: sure(state.output, answer) if state.output else 1.0)[: self._width]
            if beam and beam[0].output and (now := sure(beam[0].output, answer)) < least:
                least = now
                yield beam[0]

    def _next(
        self, uid: str, original: Mapping[str, str], state: _State, seen: set[tuple[str, ...]], most: int | None
    ) -> list[_State]:
        """The state's continuations that are new and near enough to the original, of the first `most` that are made."""
        made = list[_State]()
        for one in self._chosen:
            for draw in range(self._draws):
                texts = _applied(one, state, f"{uid}:{'/'.join(state.path)}:{draw}", self._seed)
                if texts is None or tuple(texts.values()) in seen:
                    continue
                seen.add(tuple(texts.values()))
                made.append(_State(texts, (*state.path, one.name)))
        made = made[:most]
        nears = [1.0] * len(made)
        for name, text in original.items():
            cosines = similarity.cosines(text, [each.texts[name] for each in made])
            nears = [min(pair) for pair in zip(nears, cosines, strict=True)]
        near = zip(made, nears, strict=True)
        return [_State(each.texts, each.path, cosine) for each, cosine in near if cosine >= self._least]


def _applied(one: Transformation, state: _State, uid: str, seed: int) -> dict[str, str] | None:
    changed = one.apply(state.texts, generator(seed, uid, one.name))
    return {**state.texts, **{name: edited.text for name, edited in changed.items()}} if changed else None
