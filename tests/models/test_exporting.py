import random
from functools import cache

import pytest
import torch
import yaml

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, encoder, exporting, kinds, spec
from dynabench.models.backends import pieces
from dynabench.models.backends.onnx_graph import Graph
from dynabench.models.backends.pieces import Plain
from dynabench.models.backends.pool import Pool
from dynabench.models.catalog import BUILTIN
from dynabench.models.training import recipes, rows
from tests.large_data import folder_with

from .conftest import export
from .texts import HARD

pytestmark = [pytest.mark.release, pytest.mark.xdist_group("exported")]  # with the contract of what is exported

SST3 = "sst3/test.jsonl.gz"
MODELS = ("sentiment-minilm", "qa-minilm")
EQUAL = {"sentiment-minilm": 0.9, "qa-minilm": 0.75}
"""Shares of answers that int8 leaves as they are, at least."""


@pytest.fixture(scope="session")
def tested():
    """Some test rows of a shipped model, drawn at random."""

    def inputs(name, count):
        recipe = recipes.load(name)
        result = [row.inputs for row in rows.read_source(recipe.test[0], folder_with(*recipe.test[0].files), recipe)]
        return random.Random(3).sample(result, count)

    return inputs


@cache
def in_fp32(name):
    """A shipped model as its export computes; served, it may be rounded where that changes no answer."""
    return kinds.kind(spec.card(BUILTIN / name).kind).opener().load(BUILTIN / name, Pool("fp32"))


@pytest.mark.models
@pytest.mark.parametrize("name", MODELS)
def test_an_export_answers_as_the_model_does_on_rows_it_is_tested_on(name, exported, tested):
    inputs = tested(name, 6 if name == "qa-minilm" else 40)
    answers = exporting.compare_answers(in_fp32(name), catalog.open_model(exported(name)), inputs)
    assert (answers.equal, answers.differing) == (1.0, ())
    assert answers.largest < 1e-4


@pytest.mark.models
@pytest.mark.parametrize("name", EQUAL)
def test_an_export_reads_words_and_emoji_as_the_model_does(name, exported):
    model, again = in_fp32(name), catalog.open_model(exported(name))
    texts = [*(text[:200] for text in HARD), "😡 my flight was 🤮 again", "👍🏽 it works"]
    batch = [dict.fromkeys(model.card.inputs, text) for text in texts]
    answers = exporting.compare_answers(model, again, batch)
    assert (answers.equal, answers.largest) == (1.0, pytest.approx(0, abs=1e-4))


@pytest.mark.models
@pytest.mark.parametrize("name", EQUAL)
def test_in_8_bits_it_is_a_quarter_of_the_size_and_answers_much_the_same(name, exported, tested):
    folder = exported(name, int8=True)
    assert spec.card(folder).size_bytes < spec.card(exported(name)).size_bytes / 3
    inputs = tested(name, 12 if name == "qa-minilm" else 60)
    answers = exporting.compare_answers(catalog.open_model(exported(name)), catalog.open_model(folder), inputs)
    assert EQUAL[name] <= answers.equal <= 1
    assert answers.largest < 0.5


@pytest.mark.models
def test_in_8_bits_an_answer_does_not_depend_on_who_else_is_in_the_batch(exported, tested):
    model = catalog.open_model(exported("sentiment-minilm", int8=True))
    inputs = tested("sentiment-minilm", 12)
    assert model.predict(inputs) == [model.predict([first])[0] for first in inputs]
    model.close()


def test_the_folder_says_where_it_comes_from_and_keeps_licence_labels_and_limits(exported):
    content, source = spec.read(exported("sentiment-minilm")), spec.read(BUILTIN / "sentiment-minilm")
    for name in ("task", "inputs", "answer", "labels", "licence", "data", "max_length"):
        assert getattr(content, name) == getattr(source, name)
    assert spec.version(BUILTIN / "sentiment-minilm") in content.summary
    assert content.scores == {}


@pytest.mark.models
def test_the_command_tells_how_far_answers_agree_and_how_quick_both_are(exported):
    folder = exported("sentiment-minilm")
    answer = exported.outputs[folder.name]
    assert (answer["name"], answer["version"]) == ("sentiment-minilm", spec.version(folder))
    assert (answer["rows"], answer["equal"], answer["differing"]) == (12, 1.0, [])
    assert min(*answer["first"].values(), *answer["second"].values()) > 0
    assert sorted(file.name for file in folder.iterdir()) == [
        "README.md",
        "model.onnx",
        "model.yaml",
        "tokenizer.json",
    ]
    card = (folder / "README.md").read_text()
    assert f"sentiment-minilm {spec.version(BUILTIN / 'sentiment-minilm')} as ONNX." in card
    assert "Of 12 inputs: 100.0% of the answers are the same" in card


@pytest.mark.models
def test_below_the_floor_nothing_is_kept(exported, tmp_path):
    file = folder_with(SST3) / SST3
    words = [exported("sentiment-minilm"), tmp_path / "out" / "small", "--int8", "--data", file, "--rows", 150]
    result = export(*words, "--column", "statement=text", "--floor", 1)
    assert result.exit_code == 1
    assert "of 150 answers are the same, below 100.0%: nothing is kept" in str(result.exception)
    assert "sentiment-minilm" in result.stdout
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("nli-ngram", [], "no network to export"),
        ("nobody", [], "There is no model 'nobody'"),
        ("sentiment-minilm", ["--column", "x"], "INPUT=COLUMN"),
    ],
)
def test_what_cannot_be_exported_is_refused_with_the_reason(name, more, message, tmp_path):
    result = export(name, tmp_path / "new", *more)
    assert result.exit_code == 1
    assert message in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_whose_name_no_model_may_have_is_refused_at_once(tmp_path):
    assert "the model's name" in str(export("sentiment-minilm", tmp_path / "My Model").exception)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    (tmp_path / "kept").write_text("mine")
    assert "is there already" in str(export("sentiment-minilm", tmp_path).exception)
    assert (tmp_path / "kept").read_text() == "mine"


def test_data_that_is_none_is_refused_before_anything_is_exported(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "noise.jsonl").write_bytes(bytes(range(256)))
    (tmp_path / "empty.jsonl").write_text("")
    card = spec.card(BUILTIN / "sentiment-minilm")
    with pytest.raises(Invalid, match="no column 'statement'; --column"):
        exporting.read_inputs(tmp_path / "rows.jsonl", card, {}, 5)
    with pytest.raises(Invalid, match="no file of JSON lines"):
        exporting.read_inputs(tmp_path / "noise.jsonl", card, {}, 5)
    assert exporting.read_inputs(tmp_path / "rows.jsonl", card, {"statement": "text"}, 5) == [{"statement": "a"}]
    assert exporting.read_inputs(tmp_path / "empty.jsonl", card, {}, 5) == []


def test_samples_are_texts_of_the_task_for_every_input():
    for name in (*MODELS, "nli-minilm"):
        card = spec.card(BUILTIN / name)
        result = exporting.task_samples(card, 30)
        assert len(result) == 30
        assert result == exporting.task_samples(card, 30)
        assert all(set(row) == set(card.inputs) and all(row.values()) for row in result)


SIZES = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}


def network(folder, cls, architecture, names=(), **card):
    """A folder of a small BERT of transformers, its weights at their random start."""
    from transformers import AutoTokenizer, BertConfig

    torch.manual_seed(5)
    named = {"id2label": dict(enumerate(names)), "label2id": {name: at for at, name in enumerate(names)}}
    cls(BertConfig(**SIZES, initializer_range=0.5, **(named if names else {}))).save_pretrained(folder)
    AutoTokenizer.from_pretrained(str(encoder.find())).save_pretrained(folder)
    answer = {"name": "small", "kind": "transformers", "licence": "CC0-1.0", "options": {"architecture": architecture}}
    answer["options"] |= card.pop("options", {})
    (folder / "model.yaml").write_text(yaml.safe_dump(answer | card))
    return folder


def test_a_transformers_folder_keeps_its_answers_and_the_order_of_its_labels(tmp_path, tested):
    from transformers import BertForSequenceClassification

    card = {"task": "nli", "inputs": ["premise", "hypothesis"], "answer": "label", "max_length": 40}
    card |= {"labels": ["entailment", "neutral", "contradiction"], "options": {"labels": {"no": "contradiction"}}}
    names = ("no", "Entailment", "NEUTRAL")
    source = network(tmp_path / "theirs", BertForSequenceClassification, "text-classification", names, **card)
    assert export(source, tmp_path / "ours", "--rows", 3).exit_code == 0
    inputs = [*tested("nli-minilm", 40), {"premise": "word " * 90, "hypothesis": "other " * 31}]
    answers = exporting.compare_answers(catalog.open_model(source), catalog.open_model(tmp_path / "ours"), inputs)
    assert (answers.equal, answers.largest) == (1.0, pytest.approx(0, abs=1e-4))
    assert len({prediction.answer["label"] for prediction in catalog.open_model(source).predict(inputs)}) > 1


def test_a_transformers_reader_says_of_each_piece_what_it_said_before(tmp_path):
    from transformers import BertForQuestionAnswering

    card = {"task": "qa", "inputs": ["question", "passage"], "answer": "answer"}
    source = network(tmp_path / "theirs", BertForQuestionAnswering, "question-answering", **card)
    (tmp_path / "ours").mkdir()
    exporting.write(source, tmp_path / "ours", "ours")
    own, graph = BertForQuestionAnswering.from_pretrained(source).eval(), Graph(tmp_path / "ours", {})
    row = Plain(pieces.tokenizer(tmp_path / "ours"), 64).texts("Who was it?", "It was Ada, of course.")
    ids, types = (torch.tensor([item]) for item in (row.ids, row.types))
    with torch.inference_mode():
        answer = own(input_ids=ids, token_type_ids=types, attention_mask=torch.ones_like(ids))
    ((start, end),) = graph.run([row], ["start_logits", "end_logits"])
    assert start == pytest.approx(answer.start_logits[0].numpy(), abs=1e-4)
    assert end == pytest.approx(answer.end_logits[0].numpy(), abs=1e-4)
