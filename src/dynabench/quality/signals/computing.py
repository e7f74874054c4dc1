"""Computing the signals of examples in the worker: a few examples in each transaction, each example once."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from dynabench.collection.near_duplicates import NearBand
from dynabench.collection.tables import Example, ExampleSource
from dynabench.collection.writing_facts import WritingFacts
from dynabench.kit.db import now
from dynabench.quality.signals import measuring, queries
from dynabench.quality.signals.detector import load_detector
from dynabench.quality.signals.measuring import MeasuredSignal
from dynabench.quality.signals.tables import Signal, SignalKind
from dynabench.rounds import plan
from dynabench.rounds import service as rounds
from dynabench.rounds.plan import parse_plan
from dynabench.rounds.tables import Round
from dynabench.stats.minhash import band_keys, shingle_hashes
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Text

SOME = 20
"""Examples in one transaction."""


def compute_some(session: Session, task_id: str) -> int:
    """Compute the signals of the next examples of a task; return how many examples there were.

    Signals and the mark of the example are one transaction, so a crash repeats or loses nothing.
    """
    rows = session.execute(queries.unchecked_facts(task_id, SOME)).all()
    pairs_stored = {tuple(row) for row in session.execute(queries.signals_of([facts.example_id for facts, *_ in rows]))}
    for facts, example, round_, language in rows:
        config = rounds.config_of(session, example.version_id)
        for signal in _measure(session, facts, example, round_, config, language):
            about = example if signal.other_id is None or signal.other_id < example.id else None
            _store(session, task_id, about or session.get_one(Example, signal.other_id), example, signal, pairs_stored)
        facts.checked_at = now()
    session.flush()
    return len(rows)


def _store(
    session: Session, task_id: str, about: Example, example: Example, signal: MeasuredSignal, pairs_stored: set[Any]
) -> None:
    """Store a signal about the later of two examples, once for each kind."""
    if about.id != example.id:
        pairs_stored |= {tuple(row) for row in session.execute(queries.signals_of([about.id]))}
    if (about.id, signal.kind) in pairs_stored:
        return
    pairs_stored.add((about.id, signal.kind))
    other_id = signal.other_id if about.id == example.id else example.id
    session.add(
        Signal(
            task_id=task_id,
            round_id=about.round_id,
            example_id=about.id,
            person_id=about.author_id,
            kind=signal.kind,
            value=signal.value,
            threshold=signal.threshold,
            other_id=other_id,
            facts=signal.facts,
        )
    )
    session.flush()


def _measure(
    session: Session, facts: WritingFacts, example: Example, round_: Round, config: TaskConfig, language: str
) -> Iterator[MeasuredSignal]:
    text = written_text(example, config)
    characters = len(text) if example.edit_distance is None else example.edit_distance
    by_person = example.source != ExampleSource.PROGRAM
    alone = by_person and config.chat is None and not _is_assisted(round_, example, config)
    if alone and example.attempt == 1 and (speed := measuring.measure_speed(characters, example.seconds)):
        yield speed
    if alone and (paste := measuring.measure_paste(characters, facts.typed, facts.pasted)):
        yield paste
    if by_person and example.start == "blank":
        yield from _copies(session, facts.task_id, example, text, config)
    if alone and example.start == "blank" and (guess := _model_text(round_, facts, text, language)):
        yield guess
    if facts.device and session.scalar(queries.device_signal(facts.task_id, facts.person_id)) is None:
        people = session.scalar(queries.people_on_device(facts.task_id, facts.device)) or 0
        if device := measuring.measure_device(people):
            yield device


def _is_assisted(round_: Round, example: Example, config: TaskConfig) -> bool:
    return "assistant" in config.features or plan.offers_assistant(round_.arms, example.arm)


def written_text(example: Example, config: TaskConfig) -> str:
    """Return what the author wrote into text fields, all together."""
    parts = [example.input.get(field.name) for field in config.input if isinstance(field, Text)]
    return "\n".join(part for part in parts if isinstance(part, str))


def _copies(
    session: Session, task_id: str, example: Example, text: str, config: TaskConfig
) -> Iterator[MeasuredSignal]:
    if not text:
        return
    hashes = shingle_hashes(text)
    bands = sorted(set(band_keys(hashes).tolist()))
    matches: list[MeasuredSignal] = []
    for other in session.scalars(queries.likely_copies(task_id, bands, example.author_id)):
        other_text = written_text(other, config)
        measured = measuring.measure_copy(text, hashes, other_text, shingle_hashes(other_text))
        if measured is not None:
            kind, value = measured
            matches.append(MeasuredSignal(kind, value, measuring.NEAR, {}, other.id))
    missing = set(bands).difference(session.scalars(queries.known_bands(task_id, bands, example.id)))
    if missing:
        session.execute(
            insert(NearBand),
            [{"task_id": task_id, "band": band, "example_id": example.id} for band in sorted(missing)],
        )
    matches.sort(key=lambda signal: (signal.kind != SignalKind.COPY, -signal.value, signal.other_id))
    yield from matches[:1]


def _model_text(round_: Round, facts: WritingFacts, text: str, language: str) -> MeasuredSignal | None:
    rule = parse_plan(round_.plan).model_text
    if rule == "allowed" or facts.model_written:
        return None
    name, detector = load_detector()
    if language and language not in detector.languages:
        return None
    score = detector.score(text)
    if score is None or score < detector.threshold:
        return None
    return MeasuredSignal(SignalKind.MODEL_TEXT, round(score, 3), detector.threshold, {"detector": name})
