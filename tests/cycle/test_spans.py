"""A turn of a task whose answers are spans of passages: every step of it, on real questions."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from dynabench.benchmark.evaluations import row_scores
from dynabench.benchmark.evaluations.tables import Evaluation
from dynabench.cycle import deciding, durable, round_steps, service, training
from dynabench.cycle.tables import CycleCandidate
from dynabench.kit import errors
from dynabench.models import catalog
from dynabench.models.training import mixing
from dynabench.models.training.rows import TrainingQuestion
from dynabench.rounds import contexts
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context
from dynabench.tasks import shipped_tasks
from tests.cycle import world
from tests.evaluate import real
from tests.scoring.conftest import by_hand, place

__all__ = ["by_hand", "place"]
pytestmark = [pytest.mark.release, pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)]
TARGET = "qa-minilm"
QA = next(shipped_task for shipped_task in shipped_tasks() if shipped_task.config.id == "qa")
SHARES = {"train": 0.5, "dev": 0.2, "test": 0.3, "hidden": 0.0, "disjoint": ["contexts"]}
PLAN: dict[str, Any] = {
    "candidates": [{"name": "head", "method": "head", "epochs": 1}],
    "promote": {"by": "fooling", "surely": False, "most_lost": 1},
    "release": SHARES,
}


def questions(passages: int) -> list[tuple[str, str, dict[str, Any]]]:
    """Passages with a question of each kind that people asked, and the answer as it is marked."""
    short = [first for first in real.paragraphs(30) if len(first["context"]) < 420][:passages]
    result = []
    for paragraph in short:
        for question in paragraph["qas"][:3]:
            answer = question["answers"][0]
            start = answer["answer_start"]
            span = {"start": start, "end": start + len(answer["text"]), "text": answer["text"]}
            result.append((paragraph["context"], question["question"], span))
    return result


def collected(database, passages: int) -> None:
    """An open round against the shipped extractor, with what it answers to real questions."""
    card = catalog.entry(TARGET).card
    rows = questions(passages)

    def begin(session):
        rounds.save_task(session, None, QA.source)
        texts = list(dict.fromkeys(passage for passage, _, _ in rows))
        values = [contexts.ContextRow(number, {"passage": text}) for number, text in enumerate(texts, start=1)]
        contexts.add_contexts(session, QA.config.id, QA.config, values)
        world.open_round(session, QA.config.id, card)
        result = session.scalars(select(Context).where(Context.task_id == QA.config.id))
        return {item.values["passage"]: item.id for item in result}

    known_values = database.write(begin)
    model = catalog.open_model(catalog.entry(TARGET).folder)
    outputs = model.predict([{"question": question, "passage": passage} for passage, question, _ in rows])
    written = []
    for (passage, question, span), output in zip(rows, outputs, strict=True):
        claimed = {"answer": [span]}
        fooled = QA.config.fooled_by(output.answer, claimed)
        written.append(
            world.AnsweredExample(known_values[passage], {"question": question}, claimed, dict(output.answer), fooled)
        )
    database.write(world.write, QA.config.id, written)


def test_a_turn_trains_compares_and_promotes_models_that_mark_spans(database, settings, by_hand):
    collected(database, 16)
    turn = world.start(database, world.plan(**PLAN), task="qa")
    database.write(round_steps.close_round, turn, 1)
    durable.write_release(database, settings, turn, 1)

    released = database.read(lambda s: training.ancestor_releases(s, settings, service.find_turn(s, "qa", turn)))
    mix = training.build_mix(settings, QA.config, released, [])
    assert (mix.spans, mix.inputs) == (True, ("question", "passage"))
    [learnt], [tested] = mix.parts, mix.tests.values()
    assert all(isinstance(row, TrainingQuestion) for row in (*learnt.rows, *mix.dev, *tested))
    assert not {row.passage for row in learnt.rows} & {row.passage for row in (*mix.dev, *tested)}
    assert mixing.guarded(mix, 0).dropped == {"round-1": 0}

    assert training.train_candidate(database, settings, turn, 1, 0, lambda answer: None) == "ready"
    [candidate] = database.read(lambda s: list(s.scalars(select(CycleCandidate))))
    entry = catalog.entry(candidate.name, candidate.version)
    record = json.loads((entry.folder / "training.json").read_text())
    assert record["base"] == f"{TARGET}@{catalog.entry(TARGET).version}"
    assert entry.card.kind == "extractor"

    present = database.write(training.present_submissions, turn, 1)
    database.write(deciding.queue_evaluations, [*present.values(), candidate.submission_id])
    evaluations = database.read(lambda s: {e.submission_id: e.id for e in s.scalars(select(Evaluation))})
    assert len(evaluations) == 2
    for evaluation in evaluations.values():
        by_hand(evaluation)
    deciding.decide_turn(database, settings, turn, 1)
    report = world.turn(database, settings, task="qa").report
    caught = row_scores.read_row_scores(settings, evaluations[candidate.submission_id])[1]
    [fooled] = deciding.fooling_masks(settings, released)
    assert fooled.any()
    [figures] = report.candidates
    assert (figures.figure.n, figures.figure.value) == (fooled.sum(), pytest.approx(caught[fooled].mean()))
    assert report.rounds[0].n == len(tested)

    number = database.write(round_steps.next_round, settings, turn, 1)
    after = database.read(lambda s: [target.model for target in rounds.round_of(s, "qa", number).targets])
    assert after == (report.promoted or [TARGET])


def test_ways_of_learning_that_find_no_spans_and_tasks_that_nothing_is_trained_for_are_refused(database):
    collected(database, 2)
    with pytest.raises(errors.Invalid) as wrong:
        world.start(database, world.plan(candidates=[{"name": "ngram", "method": "ngram"}]), task="qa")
    assert "lora, head" in wrong.value.fields["candidates.method"]
    unfit = {shipped_task.config.id: service.unfit_reason(shipped_task.config) for shipped_task in shipped_tasks()}
    assert not any(unfit[task] for task in ("qa", "nli", "hate", "sentiment"))
    assert "chosen from a list" in service.unfit_reason(QA.config.model_copy(update={"answer": QA.config.input}))
