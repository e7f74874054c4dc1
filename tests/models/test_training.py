import gzip
import json
import random
from typing import get_args

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Conflict, Invalid, NotFound
from dynabench.models import catalog, spec
from dynabench.models.training import recipes, rows, run, scoring

WORDS = {"positive": ["good", "great", "fine"], "neutral": ["plain", "usual", "average"], "negative": ["bad", "poor"]}


def sentence(label, number, rng):
    return f"The {rng.choice(WORDS[label])} film number {number}"


@pytest.fixture
def folder(tmp_path):
    rng = random.Random(1)
    data = tmp_path / "data"
    data.mkdir()
    for name, count in [("test", 30), ("train", 90)]:
        start = 0 if name == "train" else 1000
        lines = [{"text": sentence(label, start + i, rng), "gold": label} for i in range(count // 3) for label in WORDS]
        if name == "train":
            known_values = next(read_objects(data / "test.jsonl.gz"))[1]["text"]
            lines.append({"text": f"{known_values.upper()} !!", "gold": "positive"})
            lines.append({"text": "dropped, for it has no known label", "gold": "mixed"})
        with gzip.open(data / f"{name}.jsonl.gz", "wt") as file:
            file.write("\n".join(json.dumps(line) for line in lines))
    test = [row["text"] for _number, row in read_objects(data / "test.jsonl.gz")]
    with (data / "phrases.jsonl").open("w") as file:
        phrase = " ".join(test[0].split()[:4])
        file.writelines(json.dumps({"text": text, "gold": "positive"}) + "\n" for text in (phrase, "great film"))
    return data


def recipe(kind, **changes):
    source = {"columns": {"statement": "text"}, "label": "gold", "licence": "CC0-1.0"}
    raw = {
        "name": f"tiny-{kind}",
        "task": "sentiment",
        "kind": kind,
        "summary": "Tiny.",
        "inputs": ["statement"],
        "labels": list(WORDS),
        "licence": "CC0-1.0",
        "limits": "Knows eight words.",
        "held_out": 0.1,
        "train": [
            {"name": "train", "files": ["train.*"], **source},
            {"name": "phrases", "files": ["phrases.jsonl"], "only_among": ["positive", "negative"], **source},
        ],
        "test": [{"name": "test", "files": ["test.*"], **source}],
        "adapter": {"rank": 2, "epochs": 1, "batch": 16},
        "ngram": {"bits": 12, "strength": 10},
    }
    return recipes.Recipe.model_validate(raw | changes)


def test_rows_that_occur_in_a_test_set_are_dropped_however_they_are_written(folder):
    prepared = rows.prepare(recipe("ngram"), folder)
    assert prepared.overlap == 2
    assert prepared.counts == {"train": 90, "phrases": 1}
    texts = {row.inputs["statement"] for row in prepared.train + prepared.dev}
    assert not [text for text in texts if "!!" in text]
    assert not texts & {row.inputs["statement"] for row in prepared.tests["test"]}


def test_development_rows_are_whole_groups_that_training_never_sees(folder):
    prepared = rows.prepare(recipe("ngram"), folder)
    assert len(prepared.dev) == 9
    assert not {row.inputs["statement"] for row in prepared.dev} & {row.inputs["statement"] for row in prepared.train}
    assert all(not row.among for row in prepared.dev)


def test_a_linear_model_is_trained_evaluated_and_described(folder, tmp_path):
    stages = []
    out = tmp_path / "out"
    details = run.train_recipe(
        recipe("ngram"), folder, out, 3, progress=lambda stage, share, remark: stages.append(stage)
    )
    assert details.scores["test"].accuracy > 0.9
    assert spec.read(out) == details
    assert details.seed == 3
    card = (out / "README.md").read_text()
    assert "| test |" in card
    assert "2 training rows were dropped" in card
    assert list(dict.fromkeys(stages)) == ["reading", "training", "dev", "test"]
    twice = tmp_path / "twice"
    run.train_recipe(recipe("ngram"), folder, twice, 3)
    assert (twice / "ngram.safetensors").read_bytes() == (out / "ngram.safetensors").read_bytes()
    with pytest.raises(Conflict):
        run.train_recipe(recipe("ngram"), folder, out, 3)


def test_a_model_below_its_floor_is_kept_and_refused(folder, tmp_path):
    with pytest.raises(run.BelowFloor, match="test"):
        run.train_recipe(recipe("ngram", floor={"test": 1.1}), folder, tmp_path / "out", 3)
    assert catalog.open_model(tmp_path / "out").card.name == "tiny-ngram"


def test_a_floor_may_name_macro_f1_and_a_bare_number_is_accuracy(folder, tmp_path):
    both = recipe("ngram", floor={"test": {"accuracy": 0.1, "macro_f1": 1.1}})
    assert recipe("ngram", floor={"test": 0.5}).floor["test"] == recipes.Floor(accuracy=0.5)
    with pytest.raises(run.BelowFloor, match="test: macro F1") as caught:
        run.train_recipe(both, folder, tmp_path / "out", 3)
    assert "accuracy" not in str(caught.value)


@given(st.text(max_size=60), st.integers(0, 9))
def test_a_text_and_its_copies_fall_on_one_side_of_a_split(text, seed):
    place = rows.split_place(rows.TrainingRow({"statement": text}, "x"), seed)
    assert 0 <= place < 1
    assert rows.split_place(rows.TrainingRow({"statement": f"  {text} !"}, "y"), seed) == place


def test_parts_of_one_file_make_up_the_whole_and_stay_when_the_seed_changes(folder):
    def texts(part, seed=0):
        source = {"name": "train", "files": ["train.*"], "columns": {"statement": "text"}, "label": "gold"}
        created = recipe("ngram", seed=seed, split_seed=4)
        result = rows.read_source(recipes.RecipeSource.model_validate(source | {"part": part}), folder, created)
        return [row.inputs["statement"] for row in result]

    test, rest, whole = texts((0, 0.3)), texts((0.3, 1)), texts(None)
    assert sorted(test + rest) == sorted(whole)
    assert 0.15 < len(test) / len(whole) < 0.45
    assert texts((0, 0.3), seed=9) == test


def test_a_source_can_be_repeated_in_training_only(folder):
    raw = recipe("ngram").model_dump()
    raw["train"][0]["repeat"] = 3
    thrice, once = rows.prepare(recipes.Recipe.model_validate(raw), folder), rows.prepare(recipe("ngram"), folder)
    assert len(thrice.train) == 3 * len(once.train) - 2  # the two-way phrase is not repeated
    assert [row.inputs for row in thrice.dev] == [row.inputs for row in once.dev]
    assert thrice.counts == once.counts


def test_texts_that_differ_in_an_emoji_are_no_copies_of_each_other():
    seen = rows.TestTextIndex([rows.TrainingRow({"statement": "You are 😀"}, "x")])
    assert rows.TrainingRow({"statement": "you are 😀!"}, "x") in seen
    assert rows.TrainingRow({"statement": "You are 😡"}, "x") not in seen


def test_a_training_row_whose_twin_is_held_out_is_dropped(folder):
    held_out = next(read_objects(folder / "test.jsonl.gz"))[1]["text"]
    pairs = [("one edit away", f"{held_out}!"), ("another film altogether", "nowhere to be found")]
    with (folder / "twins.jsonl").open("w") as file:
        file.writelines(json.dumps({"text": a, "gold": "positive", "other": b}) + "\n" for a, b in pairs)
    raw = recipe("ngram").model_dump()
    raw["train"] = [raw["train"][0] | {"name": "twins", "files": ["twins.jsonl"]}]
    assert rows.prepare(recipes.Recipe.model_validate(raw), folder).counts == {"twins": 2}
    raw["train"][0]["twin"] = {"statement": "other"}
    prepared = rows.prepare(recipes.Recipe.model_validate(raw), folder)
    assert (prepared.counts, prepared.overlap) == ({"twins": 1}, 1)
    assert [row.inputs["statement"] for row in prepared.train + prepared.dev] == ["another film altogether"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RT @some_body: Fish &amp;amp; chips https://example.org/x", "@user Fish & chips"),
        ("Well &#128514; @a, @b http://t.co/\u2026", "Well 😂 @user, @user"),
        ("START with ART at noon", "START with ART at noon"),
    ],
)
def test_tweets_are_read_as_what_somebody_wrote(text, expected):
    assert rows.plain_tweet(text) == expected


def two_way(**changes):
    raw = recipe("ngram", labels=["positive", "negative"], **changes).model_dump()
    raw["train"] = raw["train"][:1]
    return recipes.Recipe.model_validate(raw)


def test_a_threshold_is_chosen_on_development_rows_and_lies_in_the_weights(folder, tmp_path):
    run.train_recipe(two_way(), folder, tmp_path / "plain", 3)
    moved = tmp_path / "moved"
    run.train_recipe(two_way(), folder, moved, 3)
    inputs = [{"statement": "The good film"}]
    before = catalog.open_model(moved).predict(inputs)[0].probabilities
    scoring.shift_bias(moved, "ngram", 1.0)
    after = catalog.open_model(moved).predict(inputs)[0].probabilities
    odds = [np.log(item["positive"] / item["negative"]) for item in (before, after)]
    assert odds[1] - odds[0] == pytest.approx(1.0, abs=1e-3)
    back = scoring.calibrate(moved, {"dev": rows.prepare(two_way(), folder).tests["test"]})
    assert back < 0.5
    with pytest.raises(Invalid, match="two labels"):
        run.train_recipe(recipe("ngram", calibrate="mean"), folder, tmp_path / "three", 3)


@given(st.floats(-2, 2), st.integers(0, 99))
def test_the_chosen_threshold_undoes_a_shift_of_all_odds(shift, seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(200) < 0.3
    odds = np.where(truth, 1.0, -1.0) * (0.5 + rng.random(200))
    result = scoring.best_shift([odds + shift], [truth])
    assert abs(result + shift) <= 0.6
    assert np.all((odds + shift + result > 0) == truth)


def test_a_threshold_may_serve_the_worst_set_instead_of_the_mean():
    rng = np.random.default_rng(0)
    easy, hard = (rng.random(4000) < 0.5 for _ in range(2))
    odds = [np.where(easy, 1.0, -1.0) + rng.normal(0, 0.3, 4000), np.where(hard, 2.0, 1.0) + rng.normal(0, 1.5, 4000)]
    mean, least = (scoring.best_shift(odds, [easy, hard], aim) for aim in ("mean", "least"))
    assert abs(mean) < abs(least)
    assert scoring.best_shift(odds[1:], [hard]) == scoring.best_shift(odds[1:], [hard], "least")


@pytest.mark.release
@pytest.mark.models
def test_an_adapter_is_trained_evaluated_and_served_from_its_folder(folder, tmp_path):
    out = tmp_path / "out"
    details = run.train_recipe(recipe("adapter"), folder, out, 3, minutes=2)
    assert set(details.scores) == {"dev", "test"}
    config = json.loads((out / "adapter" / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "sentence-transformers/all-MiniLM-L6-v2"
    model = catalog.open_model(out)
    assert set(model.predict([{"statement": "A good film"}])[0].probabilities) == set(WORDS)
    model.close()


def test_absent_data_and_unknown_recipes_are_named(tmp_path):
    with pytest.raises(NotFound, match="no file in"):
        rows.prepare(recipe("ngram"), tmp_path)
    with pytest.raises(NotFound, match="nli-minilm"):
        recipes.load("nobody")


def test_every_shipped_model_has_its_recipe_and_no_shipped_recipe_trains_on_what_may_not_be_shipped():
    shipped = {path.name for path in catalog.BUILTIN.iterdir() if spec.read(path).kind in get_args(recipes.Kind)}
    assert {path.stem for path in recipes.FOLDER.glob("*.yaml")} == shipped
    for name in shipped:
        files = [file for source in recipes.load(name).train for file in source.files]
        assert not [f for f in files if "cad_imdb" in f or "tweeteval" in f or "cad_nli/dev" in f or "/test" in f]
        assert yaml.safe_load((recipes.FOLDER / f"{name}.yaml").read_text())["name"] == name
