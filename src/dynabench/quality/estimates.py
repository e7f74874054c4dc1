"""Estimates from votes: accuracy, confusion and weight of each validator, agreement of each field, effect of weights.

Pure functions of votes that were read before; `quality.service` reads and stores. Votes of owners and experts who
decided are known labels, and are no votes of validators.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dynabench.evaluate import load
from dynabench.stats.dawid_skene import CrowdEstimates, VoteTable, fit_dawid_skene, fit_one_coin, vote_weight
from dynabench.stats.rates import Rate
from dynabench.stats.verdict import LABELS, Verdict, Vote, verdict
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Field, Number, Rating, YesNo

NAMES = tuple(sorted(LABELS))
FEW_EXAMPLES = 10
"""Examples with two answers from which an agreement is computed."""


@dataclass(frozen=True)
class CastVote:
    """One vote that stands, as it was read."""

    id: int
    example_id: int
    person_id: int
    vote: str
    by_owner: bool
    blind_answer: Mapping[str, Any] | None
    values: Mapping[str, Any]
    verdict: str


@dataclass(frozen=True)
class ValidatorEstimate:
    """One validator: expected share of right votes, `weight` of a vote, and `confusion` by true label and vote.

    `evidence` is the expected number of examples with each true label among those that the validator voted on.
    """

    person_id: int
    votes: int
    accuracy: Rate
    weight: float
    confusion: dict[str, dict[str, float]]
    evidence: dict[str, float]


@dataclass(frozen=True)
class FieldAgreement:
    """Krippendorff's alpha of one field; None where it is not defined. `answers` on `examples` with two or more."""

    field: str
    label: str
    scale: str
    alpha: float | None
    low: float | None
    high: float | None
    examples: int
    answers: int


@dataclass(frozen=True)
class RuleEffect:
    """Changes that a rule would make: `verdicts` of `examples`, `reopened` ones, and `moves` by old and new verdict."""

    examples: int
    verdicts: int
    reopened: int
    moves: dict[str, int]


@dataclass(frozen=True)
class Estimates:
    """All estimates from some votes; `new_weight` is that of a validator without votes."""

    votes: int
    examples: int
    validators: tuple[ValidatorEstimate, ...]
    agreement: tuple[FieldAgreement, ...]
    weighted_effect: RuleEffect | None
    plain_effect: RuleEffect | None
    new_weight: float

    def document(self) -> dict[str, Any]:
        """Return the estimates as JSON."""
        return asdict(self)


def estimate(votes: Sequence[CastVote], config: TaskConfig, *, with_effect: bool = True) -> Estimates:
    """Return the estimates from votes in the order in which they were cast."""
    own = [vote for vote in votes if not vote.by_owner]
    table = VoteTable.of([(vote.example_id, vote.person_id, vote.vote) for vote in own], NAMES)
    decided = {vote.example_id: vote.vote for vote in votes if vote.by_owner}
    coin = fit_one_coin(table, decided)
    validators = _validators(coin, fit_dawid_skene(table, decided))
    weights = {validator.person_id: validator.weight for validator in validators}
    new_weight = round(vote_weight(coin.average_accuracy, len(NAMES)), 4)
    return Estimates(
        votes=len(own),
        examples=len({vote.example_id for vote in own}),
        validators=tuple(validators),
        agreement=tuple(_agreements(own, config)),
        weighted_effect=rule_effect(votes, config, weights, new_weight) if with_effect else None,
        plain_effect=rule_effect(votes, config) if with_effect else None,
        new_weight=new_weight,
    )


def _validators(coin: CrowdEstimates, full: CrowdEstimates) -> list[ValidatorEstimate]:
    columns = zip(
        *(coin.table.rater_names, coin.votes, coin.accuracy_rates(), coin.weights()),
        *(full.confusion, full.evidence),
        strict=True,
    )
    return [
        ValidatorEstimate(
            person_id=int(str(person)),
            votes=int(count),
            accuracy=rate,
            weight=round(float(weight), 4),
            confusion={
                true: {cast: round(float(cell), 4) for cast, cell in zip(NAMES, row, strict=True)}
                for true, row in zip(NAMES, matrix, strict=True)
            },
            evidence={true: round(float(count), 2) for true, count in zip(NAMES, evidence, strict=True)},
        )
        for person, count, rate, weight, matrix, evidence in columns
    ]


def _agreements(votes: Sequence[CastVote], config: TaskConfig) -> Iterable[FieldAgreement]:
    yield _agreement("vote", "", "nominal", [(vote.example_id, vote.vote) for vote in votes])
    blind = [(vote.example_id, vote.blind_answer) for vote in votes if vote.blind_answer is not None]
    extra = [(vote.example_id, vote.values) for vote in votes if vote.values]
    for prefix, fields, rows in (("answer", config.answer, blind), ("ask", config.validation.ask, extra)):
        for field in fields:
            scale = scale_of(field)
            present = [(example, values) for example, values in rows if values.get(field.name) is not None]
            answers = [(example, _comparable(values[field.name])) for example, values in present]
            if scale is not None and answers:
                yield _agreement(f"{prefix}.{field.name}", str(field.label), scale, answers)


def scale_of(field: Field) -> str | None:
    """Return the scale on which answers to a field differ; None for fields whose answers do not compare as wholes."""
    if isinstance(field, Rating):
        return "ordinal"
    if isinstance(field, Number):
        return "interval"
    return "nominal" if isinstance(field, Choice | YesNo) else None


def _comparable(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _agreement(name: str, label: str, scale: str, answers: Sequence[tuple[int, Any]]) -> FieldAgreement:
    by_example: dict[int, list[Any]] = defaultdict(list)
    for example, answer in answers:
        by_example[example].append(answer)
    rows = [row for row in by_example.values() if len(row) > 1]
    alpha = low = high = None
    if len(rows) >= FEW_EXAMPLES:
        try:
            result = load("krippendorff_alpha", level=scale).compute(ratings=rows, interval=0.95)
        except ValueError:  # all answers are equal
            pass
        else:
            span = result["interval"]["krippendorff_alpha"]
            alpha, low, high = result["krippendorff_alpha"], span["low"], span["high"]
    return FieldAgreement(name, label, scale, alpha, low, high, len(rows), sum(map(len, rows)))


def rule_effect(
    votes: Sequence[CastVote],
    config: TaskConfig,
    weights: Mapping[int, float] | None = None,
    new_weight: float | None = None,
) -> RuleEffect:
    """Return what verdicts would change if each vote had the weight of its validator, or none (the plain rule)."""
    by_example: dict[int, list[CastVote]] = defaultdict(list)
    for vote in votes:
        by_example[vote.example_id].append(vote)
    moves: Counter[str] = Counter()
    rule, reopened = config.validation, 0
    for cast in by_example.values():
        ballots = [Vote(vote.vote, vote.by_owner, (weights or {}).get(vote.person_id, new_weight)) for vote in cast]
        old, new = cast[0].verdict, str(verdict(ballots, rule.votes, rule.adjudicate_up_to))
        if new != old:
            moves[f"{old} {new}"] += 1
            reopened += new == Verdict.PENDING
    return RuleEffect(len(by_example), moves.total(), reopened, dict(moves.most_common()))
