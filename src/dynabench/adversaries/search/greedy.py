"""The search: leave out each word to see what matters, then change words in that order until the target errs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dynabench.adversaries.proposing import Budget, Candidate, Context, Metered, Spent, Target
from dynabench.adversaries.search import similarity
from dynabench.adversaries.search.asking import some, sure, wrong
from dynabench.adversaries.search.drafts import Draft, Place
from dynabench.models.protocol import Output

Instead = Callable[[Sequence[str], int], list[str]]
"""Given the words of a text and the place of one: what may stand there instead."""


@dataclass(frozen=True)
class Limits:
    """What a changed text must keep.

    `similarity` is the least cosine between each changed field and its original; `share` the part of all words that may
    change, of which one always may.
    """

    similarity: float
    share: float

    def most(self, size: int) -> int:
        """Words of `size` that may change."""
        return max(1, int(self.share * size))


def greedy(
    context: Context, target: Target, budget: Budget, instead: Instead, limits: Limits, fields: Sequence[str] = ()
) -> Iterator[Candidate]:
    """At most one candidate: the one that fools the target, else the one that it was least sure of.

    Nothing where no right answer is known, the target is wrong already, or no word can be changed.
    """
    if not context.answer:
        return
    search = _Search(context, Metered(target, budget), instead, limits, Draft.of(context, fields))
    with suppress(Spent):
        search.run(context.answer)
    if search.best.new:
        yield search.candidate(context.answer)


class _Search:
    """One context's search; `best` is where it stands, so that it can end at any call."""

    def __init__(self, context: Context, metered: Metered, instead: Instead, limits: Limits, draft: Draft) -> None:
        self.context, self.metered, self.instead, self.limits = context, metered, instead, limits
        self.best, self.similarity = draft, 1.0
        self.output: Output | None = None

    def run(self, answer: Mapping[str, Any]) -> None:
        """Search until the target errs, or nothing is left to try; raises `Spent`."""
        self.output = self.metered.ask([self.best.inputs])[0]
        if wrong(self.output, answer):
            return
        for place in self._order(answer):
            if len(self.best.new) >= self.limits.most(self.best.size):
                return
            if self._change(place, answer):
                self._fewer(answer)
                return

    def candidate(self, answer: Mapping[str, Any]) -> Candidate:
        """What was found."""
        assert self.output is not None
        new, size = self.best.new, self.best.size
        facts = {
            "similarity": round(self.similarity, 4),
            "changed": len(new),
            "words": size,
            "edits": [[self.best.word(place).text, said] for place, said in new.items()],
        }
        return Candidate(
            self.context.uid, self.best.read, answer, self.output, wrong(self.output, answer),
            self.metered.queries, facts=facts,
        )  # fmt: skip

    def _order(self, answer: Mapping[str, Any]) -> list[Place]:
        """The places that can be changed, the one first without which the target is least sure of the right answer."""
        said = {name: self.best.said(name) for name in self.best.found}
        places = [place for place in self.best.places if self.instead(said[place.field], place.at)]
        outputs = some(self.metered, [self.best.without(place) for place in places])
        weighed = [(sure(output, answer), at) for at, output in enumerate(outputs)]
        return [places[at] for _, at in sorted(weighed)]

    def _change(self, place: Place, answer: Mapping[str, Any]) -> bool:
        """Put the best word there; whether the target errs now. Leaves the text as it was where nothing helps."""
        options = [self.best.put(place, new) for new in self.instead(self.best.said(place.field), place.at)]
        tried = self._tried(options)
        fooling = [each for each in tried if wrong(each[2], answer)]
        if fooling:
            self.best, self.similarity, self.output = max(fooling, key=lambda each: each[1])
            return True
        before = sure(self.output, answer) if self.output else 1.0
        least = min(tried, key=lambda each: sure(each[2], answer), default=None)
        if least is not None and sure(least[2], answer) < before:
            self.best, self.similarity, self.output = least
        return False

    def _tried(self, drafts: Sequence[Draft]) -> list[tuple[Draft, float, Output]]:
        """Those near enough to the original, with how near, and what the target says to as many as can be asked."""
        nears = zip(drafts, self._nears(drafts), strict=True)
        kept = [(draft, near) for draft, near in nears if near >= self.limits.similarity]
        outputs = some(self.metered, [draft.read for draft, _ in kept])
        return [(draft, near, output) for (draft, near), output in zip(kept, outputs, strict=False)]

    def _fewer(self, answer: Mapping[str, Any]) -> None:
        """Take back changes that the target errs without."""
        while len(self.best.new) > 1:
            shorter = [self.best.back(place) for place in self.best.new]
            tried = [each for each in self._tried(shorter) if wrong(each[2], answer)]
            if not tried:
                return
            self.best, self.similarity, self.output = max(tried, key=lambda each: each[1])

    def _nears(self, drafts: Sequence[Draft]) -> list[float]:
        """For each draft the least cosine of a changed field and its original."""
        changed, found = [draft.changed for draft in drafts], [1.0] * len(drafts)
        for name in self.best.found:
            texts = list(dict.fromkeys(now[name] for now in changed if name in now))
            near = dict(zip(texts, similarity.cosines(self.best.inputs[name], texts), strict=True))
            found = [min(before, near.get(now.get(name, ""), 1.0)) for before, now in zip(found, changed, strict=True)]
        return found
