"""A round's examples as measures take them: texts, labels, what models said, votes, words that were marked."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from dynabench.collection import folding
from dynabench.collection.attributions import marked_words_overlap
from dynabench.collection.projections import SOURCES
from dynabench.collection.tables import Example, Prediction, StoredAttribution
from dynabench.insight.data_measurements import tables
from dynabench.insight.data_measurements.sample import (
    ConditionCounts,
    EarlierRound,
    Embed,
    MarkedWords,
    RoundSample,
    SampledExample,
    TargetAnswer,
)
from dynabench.kit.language import _
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round, RoundState
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Field, Spans, Text, YesNo

MOST, MOST_EARLIER, ROUNDS = 5_000, 1_000, 5
"""Examples of a round, and of each of the few rounds before it, that are looked at; drawn at random from more."""
AT_ONCE = 500
MARKS = 2_000
THIRDS = (_("first third"), _("middle"), _("last third"))
LETTERS = 4  # of a word of an explanation that counts as naming a word of the example
WRITER_KINDS = {"person": _("annotators"), "expert": _("experts"), "owner": _("owners")}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class MeasuredFields:
    """The measured fields of a task: text that people write, text they get, and the answer as a label."""

    written: tuple[Field, ...]
    context: tuple[Field, ...]
    answer: Field | None

    @classmethod
    def from_config(cls, config: TaskConfig) -> "MeasuredFields":
        """The shape of a config."""
        text_fields = tuple(field for field in config.model_context if isinstance(field, Text))
        answer = config.answer[0] if config.answer else None
        return cls(tuple(field for field in config.input if isinstance(field, Text)), text_fields, answer)

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label in the order of the field."""
        if isinstance(self.answer, Choice):
            return tuple(self.answer.label_of(value) for value in self.answer.values)
        if isinstance(self.answer, YesNo):
            return (_("yes"), _("no"))
        return THIRDS if self.places else ()

    @property
    def places(self) -> bool:
        """Return whether the answer is marked in the context, so that its place there is its label."""
        return isinstance(self.answer, Spans) and self.answer.of in {field.name for field in self.context}

    def label(self, answer: Mapping[str, Any], context: Mapping[str, Any]) -> str | None:
        """The label of an answer; None where it has none."""
        field, value = self.answer, answer.get(self.answer.name) if self.answer else None
        if value is None:
            return None
        if isinstance(field, Choice):
            return field.label_of(value) if isinstance(value, str) else None
        if isinstance(field, YesNo):
            flag = field.flag(value)
            return None if flag is None else _("yes") if flag else _("no")
        if isinstance(field, Spans) and self.places:
            text = context.get(field.of)
            if isinstance(text, str) and text and isinstance(value, list) and value:
                return THIRDS[min(int(3 * value[0]["start"] / len(text)), 2)]
        return None


def read_sample(session: Session, round_: Round, embed: Embed | None = None) -> RoundSample:
    """The sample of a round, the same each time as long as its examples are the same."""
    shape = MeasuredFields.from_config(rounds.config_of(session, round_.version_id))
    ids = list(session.scalars(tables.measurable_examples(round_.id)))
    chosen = _drawn(ids, MOST, round_.seed)
    words = _marked(session, round_, set(chosen))
    rows = tuple(row for row in _rows(session, shape, chosen, words))
    return RoundSample(
        rows=rows,
        total=len(ids),
        fields={field.name: field.label for field in shape.written},
        labels=shape.labels,
        context=", ".join(field.label for field in shape.context),
        of_place=shape.places,
        groups=_groups(session, round_),
        earlier=_earlier(session, round_),
        embed=embed,
        seed=round_.seed,
    )


def _drawn(ids: Sequence[int], most: int, seed: int) -> list[int]:
    if len(ids) <= most:
        return list(ids)
    return sorted(np.random.default_rng(seed).choice(np.array(ids), most, replace=False).tolist())


def _earlier(session: Session, round_: Round) -> tuple[EarlierRound, ...]:
    """The rounds before, the oldest first, without what models and people said."""
    before = [item for item in session.scalars(round_queries.rounds(round_.task_id)) if item.number < round_.number]
    chosen = sorted((item for item in before if item.state != RoundState.DRAFT), key=lambda item: item.number)[-ROUNDS:]
    earlier_rounds = []
    for item in chosen:
        shape = MeasuredFields.from_config(rounds.config_of(session, item.version_id))
        ids = _drawn(list(session.scalars(tables.measurable_examples(item.id))), MOST_EARLIER, item.seed)
        earlier_rounds.append(EarlierRound(item.number, tuple(_plain_rows(session, shape, ids))))
    return tuple(earlier_rounds)


def _plain_rows(session: Session, shape: MeasuredFields, ids: Sequence[int]) -> list[SampledExample]:
    rows = []
    for at in range(0, len(ids), AT_ONCE):
        for example, context in session.execute(tables.examples(ids[at : at + AT_ONCE])):
            rows.append(_row(shape, example, context))
        session.expunge_all()
    return rows


def _rows(
    session: Session, shape: MeasuredFields, ids: Sequence[int], words: Mapping[int, MarkedWords]
) -> list[SampledExample]:
    rows = []
    for at in range(0, len(ids), AT_ONCE):
        some = ids[at : at + AT_ONCE]
        by_example: dict[int, list[Prediction]] = defaultdict(list)
        votes: dict[int, list[str]] = defaultdict(list)
        for prediction in session.scalars(tables.predictions(some)):
            by_example[prediction.example_id].append(prediction)
        for id, vote in session.execute(tables.votes(some)):
            votes[id].append(vote)
        for example, context in session.execute(tables.examples(some)):
            answers = tuple(
                _target_answer(shape, example, target_prediction) for target_prediction in by_example[example.id]
            )
            rows.append(_row(shape, example, context, answers, tuple(votes[example.id]), words.get(example.id)))
        session.expunge_all()
    return rows


def _row(
    shape: MeasuredFields,
    example: Example,
    context: Context,
    answers: tuple[TargetAnswer, ...] = (),
    votes: tuple[str, ...] = (),
    words: MarkedWords | None = None,
) -> SampledExample:
    texts = {field.name: _text(example.input.get(field.name)) for field in shape.written}
    context_text = "\n".join(filter(None, (_text(context.values.get(field.name)) for field in shape.context)))
    return SampledExample(
        example.author_id, texts, context_text, shape.label(example.answer, context.values), answers, votes, words
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _target_answer(shape: MeasuredFields, example: Example, prediction: Prediction) -> TargetAnswer:
    name = shape.answer.name if shape.answer else ""
    answer, claimed = prediction.answer.get(name), example.answer.get(name)
    shares = prediction.probabilities or {}

    def share(value: object) -> float | None:
        probability = shares.get(value) if isinstance(value, str) else None
        return float(probability) if isinstance(probability, int | float) else None

    return TargetAnswer(
        prediction.model, str(answer), prediction.errs, share(answer), share(claimed) if shares else None
    )


def _marked(session: Session, round_: Round, chosen: set[int]) -> dict[int, MarkedWords]:
    """Words that authors marked, or that their explanations repeat, against what the first target looked at."""
    if not round_.targets:
        return {}
    config = rounds.config_of(session, round_.version_id)
    spans = [field for field in config.ask if isinstance(field, Spans)]
    explained_fields = [] if spans else [field.name for field in config.ask if isinstance(field, Text)]
    marked_by_example = {}
    for marks, words in session.execute(tables.marked_words(round_.id, round_.targets[0].model, MARKS)):
        if marks.example_id not in chosen:
            continue
        counts_of_example = [
            marked_words_overlap(marks.values[field.name], words.fields[field.of])
            for field in spans
            if marks.values.get(field.name) and field.of in words.fields
        ] or _repeated(" ".join(_text(marks.values.get(name)) for name in explained_fields), words)
        if counts_of_example:
            sums = [
                sum(getattr(word_counts, name) for word_counts in counts_of_example)
                for name in ("marked", "shared", "chance")
            ]
            marked_by_example[marks.example_id] = MarkedWords(*sums)
    session.expunge_all()
    return marked_by_example


def _repeated(explanation: str, words: StoredAttribution) -> list[Any]:
    """The overlap of the words of an example that its explanation repeats."""
    named = {word for word in _WORD.findall(explanation.lower()) if len(word) >= LETTERS}
    repeated = []
    for field in words.fields.values() if named else ():
        spans = [word for word in field if word["text"].lower() in named]
        if spans:
            repeated.append(marked_words_overlap(spans, field))
    return repeated


def _groups(session: Session, round_: Round) -> dict[str, tuple[ConditionCounts, ...]]:
    """Counts by start, source and arm, where a model was asked; programs are left out."""
    counts = folding.read(session, round_.id, ["all", "start", "arm"])
    people = [SOURCES.index(source) for source in WRITER_KINDS]
    groups_by_name: dict[str, list[ConditionCounts]] = defaultdict(list)
    for (name, value), rows in sorted(counts.items(), key=lambda pair: pair[0]):
        if name == "all":
            for source, label in WRITER_KINDS.items():
                groups_by_name["source"].append(_group(label, rows, [SOURCES.index(source)]))
        else:
            label = folding.STARTS.get(value, value) if name == "start" else value
            groups_by_name[name].append(_group(label, rows, people))
    return {name: tuple(group for group in groups if group.examples.sum()) for name, groups in groups_by_name.items()}


def _group(name: str, rows: folding.Rows, kinds: Sequence[int]) -> ConditionCounts:
    chosen = rows[np.isin(rows["kind"], kinds)]
    people, place = np.unique(chosen["person"], return_inverse=True)
    known_counts = np.bincount(place, chosen["examples"] - chosen["unknown"], len(people))
    right = np.bincount(place, chosen["validated"], len(people))
    return ConditionCounts(name, people.astype(np.int64), right.astype(np.int64), known_counts.astype(np.int64))
