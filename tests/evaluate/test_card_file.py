"""Cards in YAML files: which file a module's card is read from, what it may hold, and errors that name file and key."""

from pathlib import Path

import pytest
import yaml

from dynabench import evaluate
from dynabench.evaluate import card as card_file
from dynabench.evaluate import loading
from dynabench.evaluate.card import Card, CardExample, Output, read_card

HALVED = '''
from dynabench.evaluate.columns import Numbers
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums


class Halved(Metric):
    """Half the mean."""

    columns = {"predictions": Numbers()}

    def update(self, predictions):
        return Sums(predictions)

    def formula(self, total):
        return {"half": total[..., 0] / total[..., -1] / 2}
'''
CARD = """
description: >-
  Half the mean
  of the predictions.
formula: m / 2
inputs: {predictions: numbers}
outputs:
  half: {text: half the mean, range: [0, null], better: lower}
examples:
  - title: Two
    inputs: {predictions: [2, 4.0]}
    result: {half: 1.5}
  - title: None
    inputs: {predictions: []}
    error: nothing to compute
limits: None.
citation: Ours.
"""


@pytest.fixture
def halved(tmp_path: Path) -> Path:
    (tmp_path / "halved.py").write_text(HALVED)
    (tmp_path / "halved.yaml").write_text(CARD)
    return tmp_path / "halved.py"


def test_a_module_has_the_card_in_the_file_beside_it(halved):
    module = evaluate.load(str(halved))
    assert module.card == Card(
        "Half the mean of the predictions.",
        "m / 2",
        {"predictions": "numbers"},
        (Output("half", "half the mean", 0, None, "lower"),),
        (
            CardExample("Two", {"predictions": [2, 4.0]}, {"half": 1.5}),
            CardExample("None", {"predictions": []}, error="nothing to compute"),
        ),
        "None.",
        "Ours.",
    )
    assert type(module).card is module.card, "it is read once"


def test_a_file_is_read_when_the_card_is_first_asked_for(halved):
    halved.with_suffix(".yaml").write_text("no card")
    module = evaluate.load(str(halved))
    assert module.compute(predictions=[2, 4]) == {"half": 1.5}
    with pytest.raises(ValueError, match="no card"):
        _ = module.card


def test_a_subclass_has_the_card_of_its_base_class_or_one_of_its_own():
    base = loading.find_module("accuracy")

    class Same(base):
        """Has no card."""

    class Other(base):
        """Has a card in Python."""

        card = Card("Other.", "x", {}, (), (), "All.", "None.")

    assert Same.card == base.card
    assert Other.card.description == Other(None).card.description == "Other."


def test_a_module_without_a_card_says_which_file_is_missing(halved):
    halved.with_suffix(".yaml").unlink()
    with pytest.raises(AttributeError, match=r"halved\.yaml"):
        _ = evaluate.load(str(halved)).card


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("formula: m / 2\n", "", "the key 'formula' is missing"),
        ("limits: None.", "limits: None.\nlimit: None.", "unknown key 'limit'"),
        ("limits: None.", "limits: None.\nlimits: None.", "the key 'limits' stands twice"),
        ("limits: None.", "limits: 3", "limits: give a text, not 3"),
        ("limits: None.", "limits: ''", "limits: give a text"),
        ("limits: None.", "limits: [", "line"),
        ("citation: Ours.", "citation: Ours.\ntasks: translation", "tasks: give a list"),
        ("citation: Ours.", "citation: Ours.\nincludes: [no.yaml]", r"no\.yaml: .*No such file"),
        ("{predictions: numbers}", "[numbers]", "inputs: give a mapping"),
        ("{predictions: numbers}", "{predictions: null}", "inputs: predictions: give a text"),
        ("range: [0, null]", "range: [0]", "outputs: half: range"),
        ("range: [0, null]", "range: ['0', 1]", "outputs: half: range"),
        ("better: lower", "better: low", "outputs: half: better: give higher or lower"),
        ("better: lower", "best: lower", "outputs: half: unknown key 'best'"),
        ("text: half the mean, ", "", "outputs: half: the key 'text' is missing"),
        ("    result: {half: 1.5}", "    results: {half: 1.5}", "examples: 1: unknown key 'results'"),
        ("    result: {half: 1.5}", "    result: [1.5]", "examples: 1: result: give a mapping"),
        ("  - title: None\n    inputs", "  - inputs", "examples: 2: the key 'title' is missing"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_the_key(tmp_path, old, new, message):
    path = tmp_path / "wrong.yaml"
    assert old in CARD
    path.write_text(CARD.replace(old, new))
    with pytest.raises(ValueError, match=message) as refused:
        read_card(path)
    assert str(refused.value).startswith((f"{path}: ", f"{card_file.PACKAGE / 'no.yaml'}: "))


def test_entries_add_to_those_of_included_files_and_other_fields_replace_theirs(tmp_path):
    card = yaml.safe_load(CARD) | {"includes": ["card_parts/correlations.yaml"], "options": {"half": "of what"}}
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(card | {"tasks": ["regression"]}))
    read, correlation = read_card(path), loading.find_module("pearsonr").card
    assert dict(read.options) == {**correlation.options, "half": "of what"}
    assert list(read.inputs) == list(correlation.inputs)
    assert read.inputs["predictions"] == "numbers"
    assert read.tasks == ("regression",)
    assert read.formula == "m / 2"


def test_a_wrong_part_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(card_file, "PACKAGE", tmp_path)
    (tmp_path / "part.yaml").write_text("tasks: translation")
    (tmp_path / "mine.yaml").write_text(CARD + "includes: [part.yaml]")
    with pytest.raises(ValueError, match=r"part\.yaml: tasks: give a list"):
        read_card(tmp_path / "mine.yaml")


@pytest.mark.release
def test_every_part_is_shared_by_cards():
    names = [
        name
        for folder in loading.FOLDERS
        for path in (card_file.PACKAGE / folder).glob("*.yaml")
        for name in yaml.safe_load(path.read_text(encoding="utf-8")).get("includes", [])
    ]
    parts = [f"card_parts/{path.name}" for path in (card_file.PACKAGE / "card_parts").iterdir()]
    assert parts
    assert [part for part in parts if names.count(part) < 2] == []


def test_inspect_copies_the_cards_of_all_modules_in_the_file(tmp_path):
    evaluate.inspect_evaluation_module("precision", str(tmp_path))
    for name, cls in (("precision", "Precision"), ("recall", "Recall"), ("f1", "F1")):
        module = evaluate.load(f"{tmp_path / 'precision.py'}:{cls}")
        assert (module.name, module.card) == (name, loading.find_module(name).card)
    with pytest.raises(ValueError, match=r"name one of .*Precision, .*Recall, .*F1"):
        evaluate.load(str((tmp_path / "precision.py").rename(tmp_path / "several.py")))
    with pytest.raises(ValueError, match="has no class Absent"):
        evaluate.load(f"{tmp_path / 'several.py'}:Absent")


def test_every_module_has_a_card_file_of_its_own_and_no_card_is_without_a_module():
    for folder, kind in loading.FOLDERS.items():
        cards = {path.stem for path in (card_file.PACKAGE / folder).glob("*.yaml")}
        assert cards == {name for its, name in loading.builtin_modules() if its == kind}
        assert cards == {loading.find_module(name, kind).name_of() for name in cards}
