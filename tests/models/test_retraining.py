"""Training on mixes: the same model however often it is killed, the best evaluation kept, weights, cards."""

import hashlib
import json
import os
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from dynabench.kit.errors import Conflict, Invalid
from dynabench.models import catalog, model_check, spec
from dynabench.models.training import mixing, scoring
from dynabench.models.training.learning import Checkpoints, Course, DevelopmentResult
from dynabench.models.training.mixing import MixPart
from dynabench.models.training.rows import TrainingQuestion, TrainingRow
from dynabench.models.training.run import retrain
from dynabench.tasks import shipped_tasks
from tests.models.mixes import mix, rows

pytestmark = pytest.mark.release

ROOT = Path(__file__).parents[2]
METHODS = ("ngram", "head", "lora")


def trained(folder, home, killed_at=None):
    """Run the program in a process of its own; killed with the step that is told `killed_at`-th, counted for itself."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "DYNABENCH_HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "tests.models.mixes", str(folder)]
    answer = []
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            answer.append(line)
            if (
                killed_at is not None
                and len([item for item in answer if item.startswith(killed_at[0])]) == killed_at[1]
            ):
                process.kill()
                break
    assert killed_at is not None or process.returncode == 0
    return answer


def weights(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*.safetensors"))
    }


@pytest.mark.release
def test_a_run_that_is_killed_again_and_again_ends_in_the_same_models(tmp_path):
    steps = trained(tmp_path / "calm", tmp_path / "home")
    rng = random.Random(8)
    points = {}
    for method in (rng.choice(METHODS[:2]), "lora"):
        points[method] = (method, rng.randint(1, sum(line.startswith(method) for line in steps)))
        trained(tmp_path / "rough", tmp_path / "rough-home", points[method])
    trained(tmp_path / "rough", tmp_path / "rough-home")
    assert weights(tmp_path / "rough") == weights(tmp_path / "calm"), points
    for method in METHODS:
        assert spec.version(tmp_path / "rough" / method) == spec.version(tmp_path / "calm" / method)
        assert catalog.open_model(tmp_path / "calm" / method).card.name == f"tiny-{method}"
    assert not list((tmp_path / "rough").glob(".*.part"))


def test_a_model_has_a_card_a_record_and_passes_the_check(tmp_path, monkeypatch):
    out = tmp_path / "model"
    row = rows(16, 4)[0]
    leaking = MixPart("leaks", [TrainingRow({"statement": row.inputs["statement"].upper()}, row.label), *rows(8, 9)])
    details = retrain(mix(parts=[*mix().parts, leaking]), out, name="tiny", method="ngram", seed=3)
    card = (out / "README.md").read_text()
    assert "| round 2 | CC-BY-4.0 | 40 | 1.5 |" in card
    assert "1 training rows were dropped" in card
    assert "| round 2 test |" in card
    assert "license: other" in card
    assert details.summary.endswith("n-grams of characters and words, trained on round 1, round 2 and leaks.")
    assert details.scores["dev"].accuracy > 0.9
    record = json.loads((out / "training.json").read_text())
    assert [source["dropped"] for source in record["sources"]] == [0, 0, 1]
    report = model_check.check(
        out,
        next(shipped_task.config for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment"),
        seconds=0.05,
    )
    assert report.passed, report
    again = retrain(mix(parts=[*mix().parts, leaking]), out, name="tiny", method="ngram", seed=3)
    assert again == details
    with pytest.raises(Conflict):
        retrain(mix(), out, name="tiny", method="ngram", seed=4)


def test_weights_decide_how_often_an_epoch_has_a_row():
    parts = [MixPart("a", rows(10, 1), 2.5), MixPart("b", rows(20, 2), 0.5), MixPart("c", rows(5, 3))]
    for number in range(3):
        drawn = Counter(mixing.epoch(parts, 0, number))
        counter = Counter(part for part, _ in drawn.elements())
        assert counter == {0: 25, 1: 10, 2: 5}
        assert {drawn[0, row] for row in range(10)} == {2, 3}
    assert mixing.epoch(parts, 0, 1) == mixing.epoch(parts, 0, 1) != mixing.epoch(parts, 0, 2)
    assert mixing.shares(parts) == {"a": 25 / 40, "b": 10 / 40, "c": 5 / 40}


def test_a_source_of_large_weight_wins_where_sources_disagree(tmp_path):
    texts = [{"statement": f"The film number {number}"} for number in range(20)]
    reply = {label: [TrainingRow(text, label) for text in texts] for label in ("positive", "negative")}
    for heavy, light in (("positive", "negative"), ("negative", "positive")):
        parts = [MixPart("heavy", reply[heavy], 5.0), MixPart("light", reply[light])]
        retrain(mix(parts=parts, dev=rows(8, 5), tests={}), tmp_path / heavy, name="tiny", method="ngram")
        [output] = catalog.open_model(tmp_path / heavy).predict([{"statement": "The film"}])
        assert output.answer["label"] == heavy


def test_nothing_like_what_is_held_out_is_trained_on():
    held = rows(6, 7)
    ready = mixing.guarded(mix(parts=[MixPart("a", [*rows(10, 1), *held])], held=held), 0)
    assert ready.dropped == {"a": 6}
    assert not {row.inputs["statement"] for row in ready.mix.parts[0].rows} & {row.inputs["statement"] for row in held}
    with pytest.raises(Invalid, match="No rows are left"):
        mixing.guarded(mix(parts=[MixPart("a", held)], held=held), 0)
    question = TrainingQuestion({"question": "Who?", "passage": "Ada wrote it."}, ("Ada",), 0)
    request = mixing.Mix("qa", ("question", "passage"), "answer", (), [MixPart("a", [question])], held=[question])
    with pytest.raises(Invalid, match="No rows are left"):
        mixing.guarded(request, 0)


def test_without_a_development_set_groups_of_rows_are_kept_back():
    ready = mixing.guarded(mix(parts=[MixPart("a", rows(50, 1) * 2)], dev=()), 0)
    assert ready.kept_back
    assert len(ready.mix.dev) == 10
    assert not {repr(row.inputs) for row in ready.mix.dev} & {repr(row.inputs) for row in ready.mix.parts[0].rows}


def test_learning_ends_when_patience_does_and_keeps_the_first_of_the_best():
    course = Course(2)
    scores = [0.5, 0.7, 0.7, 0.6]
    for place, score in enumerate(scores):
        assert not course.over
        course.add(place, DevelopmentResult(score, -1.0))
    assert course.over
    assert course.best == (1, DevelopmentResult(0.7, -1.0))
    assert Course.of(2, course.as_rows()) == course


def test_an_adapter_stops_early_goes_on_from_another_and_keeps_its_best(tmp_path):
    other = {"positive": "negative", "negative": "neutral", "neutral": "positive"}
    stubborn = [TrainingRow(row.inputs, other[row.label]) for row in rows(24, 3)]
    first = tmp_path / "first"
    retrain(mix(12, dev=stubborn, tests={}), first, name="first", epochs=12, patience=1)
    record = json.loads((first / "training.json").read_text())
    assert record["stopped"]
    assert record["evaluations"][-1]["at"] < 12
    second = retrain(mix(8, tests={}), tmp_path / "second", name="second", base=str(first), epochs=1)
    assert "first" in (tmp_path / "second" / "README.md").read_text()
    assert second.kind == "adapter"
    turned = replace(mix(8), labels=("negative", "neutral", "positive"))
    with pytest.raises(Invalid, match="other inputs"):
        retrain(turned, tmp_path / "third", name="third", base=str(first))


def test_all_weights_are_trained_and_served_as_a_model_of_transformers(tmp_path):
    details = retrain(mix(8, tests={}), tmp_path / "full", name="full", method="full", epochs=0.5)
    assert details.kind == "transformers"
    assert str(Path.home()) not in (tmp_path / "full" / "config.json").read_text()
    assert catalog.open_model(tmp_path / "full").predict([{"statement": "Good."}])[0].probabilities


def test_spans_are_learnt_over_the_shared_encoder_alone(tmp_path):
    texts = [f"House {number}: it is red inside." for number in range(4, 16)]
    training_questions = [
        TrainingQuestion({"query": "Which colour?", "text": text}, ("red",), text.index("red")) for text in texts
    ]
    qa = mixing.Mix(
        "mine", ("query", "text"), "answer", (), [MixPart("a", training_questions[:8])], dev=training_questions[8:]
    )
    assert retrain(qa, tmp_path / "qa", name="qa", method="head", epochs=1).kind == "extractor"
    start = catalog.BUILTIN / "qa-minilm" / "adapter" / "adapter_model.safetensors"
    assert (tmp_path / "qa" / "adapter" / start.name).read_bytes() == start.read_bytes()
    for method in ("full", "ngram"):
        with pytest.raises(Invalid, match="lora or head"):
            retrain(qa, tmp_path / method, name="qa", method=method)
        assert not (tmp_path / method).exists()
    with pytest.raises(Invalid, match="other inputs"):
        retrain(qa, tmp_path / "other", name="qa", base=str(catalog.BUILTIN / "nli-minilm"))


def test_what_another_run_left_is_no_checkpoint(tmp_path):
    Checkpoints(tmp_path, "one").keep(b"state")
    assert Checkpoints(tmp_path, "one").load() == b"state"
    assert Checkpoints(tmp_path, "two").load() is None


def test_the_spread_over_seeds_is_that_of_the_scores(tmp_path):
    retrains = [retrain(mix(8), tmp_path / str(seed), name="tiny", method="ngram", seed=seed) for seed in (0, 1)]
    values = [first.scores["dev"].accuracy for first in retrains]
    dev = scoring.spread_over_seeds(retrains)["dev"]
    assert (dev.least, dev.most, dev.seeds) == (min(values), max(values), 2)
