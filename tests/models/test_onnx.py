import asyncio

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models import catalog, spec
from dynabench.models.backends.onnx import OnnxModel
from dynabench.models.client import Host
from dynabench.models.protocol import Attributable
from dynabench.models.validity import Broken

from .graphs import ENDS, GOOD, QUESTIONS, SENTIMENT, graph, scores, write
from .texts import HARD


@pytest.fixture(scope="module")
def sentiment(tmp_path_factory):
    return OnnxModel.open(write(tmp_path_factory.mktemp("onnx") / "words", graph(GOOD)))


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    model = graph(ENDS, "spans", outputs=("start_logits", "end_logits"))
    return OnnxModel.open(write(tmp_path_factory.mktemp("onnx") / "reader", model, QUESTIONS, max_length=24))


def label(model, text):
    return model.predict([{"statement": text}])[0].answer["label"]


def test_a_graph_and_a_tokenizer_are_a_model_that_explains_itself(sentiment):
    assert isinstance(sentiment, Attributable)
    assert [label(sentiment, text) for text in ("the good film", "a bad film", "plain")] == SENTIMENT["labels"]
    output = sentiment.predict([{"statement": "good"}])[0]
    assert output.probabilities["positive"] == pytest.approx(np.exp(9) / (np.exp(9) + 2), abs=1e-6)
    words = sentiment.attribute({"statement": "the good film"}, "positive", "occlusion").fields["statement"]
    assert max(words, key=lambda word: word.weight).text == "good"


@pytest.mark.parametrize("text", HARD)
def test_any_text_gets_an_answer(sentiment, reader, text):
    assert sum(sentiment.predict([{"statement": text}])[0].probabilities.values()) == pytest.approx(1, abs=1e-5)
    for span in reader.predict([{"question": text, "passage": text}])[0].answer["answer"]:
        assert text[span["start"] : span["end"]] == span["text"]


def test_answers_do_not_depend_on_who_else_is_in_the_batch(sentiment):
    batch = [{"statement": text} for text in [*HARD, "good", "the bad film is plain"] * 3]
    assert sentiment.predict(batch) == [sentiment.predict([inputs])[0] for inputs in batch]


SOME = st.lists(st.sampled_from(["the", "is", "a", "日", "é", "e\u0301", "😡", "unknown", "\n", "  "]), max_size=80)


@given(SOME, SOME)
def test_a_span_is_where_the_passage_has_it_however_long_the_passage(reader, before, after):
    passage = " ".join([*before, "ship", *after])
    (answer,) = reader.predict([{"question": "a film", "passage": passage}])[0].answer["answer"]
    assert answer["text"] == "ship"
    assert passage[answer["start"] : answer["end"]] == "ship"


def test_an_answer_of_several_words_begins_and_ends_where_the_graph_says(reader, tmp_path):
    inputs = {"question": "is", "passage": "the 😡 good  é film is plain"}
    (answer,) = reader.predict([inputs])[0].answer["answer"]
    assert answer == {"start": 6, "end": 18, "text": "good  é film"}
    together = OnnxModel.open(write(tmp_path / "one", graph(ENDS, "spans"), QUESTIONS))
    assert together.predict([inputs])[0].answer == {"answer": [answer]}


def test_a_graph_for_so_many_pieces_or_one_text_at_a_time_is_served_as_it_is(sentiment, tmp_path):
    fixed = OnnxModel.open(write(tmp_path / "fixed", graph(GOOD, shape=(1, 16))))
    batch = [{"statement": text} for text in ("good", "the bad film", "plain " * 40)]
    assert [prediction.answer for prediction in fixed.predict(batch)] == [
        first.answer for first in sentiment.predict(batch)
    ]
    fixed.close()


def test_names_numbers_and_case_are_as_the_options_say(tmp_path):
    names = {"names": ("x", "y"), "outputs": ("z",), "kind": TensorProto.INT32}
    folder = write(
        tmp_path / "own", graph(GOOD, **names), options={"ids": "x", "mask": "y", "scores": "z", "lower": True}
    )
    assert label(OnnxModel.open(folder), "GOOD film, İstanbul") == "positive"
    with pytest.raises(Invalid, match="options ids, mask and types"):
        OnnxModel.open(write(tmp_path / "unsaid", graph(GOOD, **names)))
    with pytest.raises(Invalid, match="no input 'q'; it has x, y"):
        OnnxModel.open(write(tmp_path / "wrong", graph(GOOD, **names), options={"ids": "q", "mask": "y"}))
    with pytest.raises(Invalid, match="no output 'q'; it has z"):
        OnnxModel.open(write(tmp_path / "out", graph(GOOD, **names), options={"ids": "x", "mask": "y", "scores": "q"}))


def test_probabilities_of_a_graph_are_taken_as_they_are(tmp_path):
    table = scores(good=(0.7, 0.2, 0.1), bad=(0.1, 0.9, 0.0), plain=(0.2, 0.3, 0.5))
    model = OnnxModel.open(write(tmp_path / "p", graph(table), options={"probabilities": True}))
    assert model.predict([{"statement": "good"}])[0].probabilities == pytest.approx(
        {"positive": 0.7, "negative": 0.2, "neutral": 0.1}
    )


def with_node(op, domain="", **attributes):
    model = graph(GOOD)
    model.graph.node.append(helper.make_node(op, ["input_ids"], ["more"], domain=domain, **attributes))
    return model


def with_all_memory():
    """Scores to which the sum of a hundred billion numbers is added."""
    model = graph(GOOD, outputs=("some",))
    model.graph.initializer.append(numpy_helper.from_array(np.array([10**7, 10**7], np.int64), "huge"))
    model.graph.node.append(helper.make_node("ConstantOfShape", ["huge"], ["zeros"]))
    model.graph.node.append(helper.make_node("ReduceSum", ["zeros"], ["nothing"], keepdims=0))
    model.graph.node.append(helper.make_node("Add", ["some", "nothing"], ["logits"]))
    model.graph.output[0].name = "logits"
    return model


def with_scores_of_all_texts_together():
    model = graph(GOOD)
    model.graph.node[-1].input[1] = "first"
    model.graph.initializer.append(numpy_helper.from_array(np.array([0], np.int64), "first"))
    return model


def with_function():
    model = graph(GOOD)
    node = helper.make_node("Identity", ["x"], ["y"])
    model.functions.append(helper.make_function("own", "F", ["x"], ["y"], [node], [helper.make_opsetid("", 17)]))
    return model


def with_weights_at(place):
    model = graph(GOOD)
    onnx.external_data_helper.set_external_data(model.graph.initializer[0], place)
    model.graph.initializer[0].ClearField("raw_data")
    return model


def within_a_branch(inner):
    """The node `inner` within an If."""
    model = graph(GOOD)
    value = helper.make_tensor_value_info("v", TensorProto.INT64, None)
    branch = helper.make_graph([inner], "branch", [], [value])
    model.graph.initializer.append(numpy_helper.from_array(np.array(True), "yes"))
    model.graph.node.append(helper.make_node("If", ["yes"], ["more"], then_branch=branch, else_branch=branch))
    return model


OUTSIDE = numpy_helper.from_array(np.zeros(3, np.int64), "o")
OUTSIDE.data_location = TensorProto.EXTERNAL
OUTSIDE.external_data.add(key="location", value="../../other")

HOSTILE = {
    "nothing": (b"", "no ONNX file"),
    "noise": (bytes(range(256)) * 8, "no ONNX file"),
    "truncated": (graph(GOOD).SerializeToString()[:150], "no ONNX file|cannot load"),
    "a pickle": (b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94.", "no ONNX file"),
    "own operators": (with_node("Evil", "ai.example"), "ai.example:Evil"),
    "own operators in a branch": (within_a_branch(helper.make_node("Evil", [], ["v"], domain="x.y")), "x.y:Evil"),
    "functions": (with_function(), "inline"),
    "a loop": (with_node("Loop"), "never end"),
    "more memory than there is": (with_all_memory(), "cannot load|failed"),
    "weights above": (with_weights_at("../secret.data"), "outside the folder"),
    "weights anywhere": (with_weights_at("/etc/passwd"), "outside the folder"),
    "weights of a constant above": (
        within_a_branch(helper.make_node("Constant", [], ["v"], value=OUTSIDE)),
        "outside the folder",
    ),
    "weights nowhere": (with_weights_at("gone.data"), "which the folder lacks"),
    "an operator that is none": (with_node("NoSuchThing"), "cannot load"),
    "too few scores": (graph(GOOD[:, :2]), r"shape \(texts, 2\).*needed: \(texts, 3\)"),
    "scores by piece": (graph(GOOD, "spans"), "needed: .*positive, negative, neutral"),
    "scores of all texts together": (with_scores_of_all_texts_together(), "of 2 texts it gave .* must be theirs"),
    "always NaN": (graph(GOOD * np.nan), "no numbers"),
    "two outputs of no known name": (graph(ENDS, "spans", outputs=("a", "b")), "outputs are a, b"),
    "three dimensions": (graph(GOOD, shape=("texts", "pieces", 4)), "two dimensions|cannot load"),
    "a fixed number of texts": (graph(GOOD, shape=(8, "pieces")), "dynamic axes"),
    "hardly any pieces": (graph(GOOD, shape=(1, 4)), "16 are needed"),
    "numbers of another kind": (graph(GOOD[:300], kind=TensorProto.UINT8), "takes|cannot load"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_graph_that_is_none_is_refused_with_the_reason(name, tmp_path):
    model, answer = HOSTILE[name]
    with pytest.raises(Invalid, match=answer):
        OnnxModel.open(write(tmp_path / "hostile", model))


def test_a_link_out_of_the_folder_holds_no_weights(tmp_path):
    (tmp_path / "outside").write_bytes(GOOD.tobytes())
    folder = write(tmp_path / "linked", with_weights_at("w.data"))
    (folder / "w.data").symlink_to(tmp_path / "outside")
    with pytest.raises(Invalid, match="outside the folder"):
        OnnxModel.open(folder)


def test_weights_beside_the_graph_are_read(tmp_path):
    folder = write(tmp_path / "beside", with_weights_at("model.onnx.data"))
    (folder / "model.onnx.data").write_bytes(GOOD.tobytes())
    assert label(OnnxModel.open(folder), "a bad film") == "negative"


def test_what_the_folder_lacks_or_holds_too_much_is_said(tmp_path):
    folder = write(tmp_path / "m", graph(GOOD))
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(Invalid, match=r"tokenizer.json: It cannot be read"):
        OnnxModel.open(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(Invalid, match=r"tokenizer.json: The folder lacks it"):
        OnnxModel.open(folder)
    (folder / "weights.pkl").write_bytes(b"")
    with pytest.raises(Invalid, match=r"weights\.pkl"):
        spec.read(folder)
    (folder / "weights.pkl").unlink()
    (folder / "model.onnx").unlink()
    (folder / "tokenizer.json").write_text(write(tmp_path / "n", graph(GOOD)).joinpath("tokenizer.json").read_text())
    with pytest.raises(Invalid, match=r"model.onnx: The folder lacks it"):
        OnnxModel.open(folder)


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ({"inputs": ["a", "b", "c"]}, "one or two texts"),
        ({"images": ["statement"]}, "one or two texts"),
        ({"labels": [], "returns": "spans"}, "two inputs"),
        ({"labels": [], "returns": "text"}, "returns a label"),
        ({"options": {"reader": "words"}}, "BERT's vocabulary"),
        ({"options": {"command": "rm"}}, "command"),
        ({"options": {"threads": 4000}}, "threads"),
    ],
)
def test_a_card_that_no_graph_can_serve_is_refused(card, message, tmp_path):
    with pytest.raises(Invalid, match=message):
        OnnxModel.open(write(tmp_path / "card", graph(GOOD), SENTIMENT | card))


def test_scores_that_are_no_numbers_are_no_answer_and_harm_nobody_else(serve_models, tmp_path):
    folder = write(tmp_path / "models" / "sometimes", graph(GOOD))
    with pytest.raises(Broken, match="no numbers"):
        OnnxModel.open(folder).predict([{"statement": "good nan"}])

    async def story(address):
        host = Host(address, 20)
        try:
            while not await host.ready():
                await asyncio.sleep(0.05)
            answers = [host.answer("sometimes", None, {"statement": text}) for text in ("nan", "a good film", "bad")]
            return await asyncio.gather(*answers, return_exceptions=True)
        finally:
            await host.close()

    with serve_models(tmp_path / "models") as address:
        broken, good, bad = asyncio.run(story(address))
    assert isinstance(broken, Unavailable)
    assert [good.answer, bad.answer] == [{"label": "positive"}, {"label": "negative"}]


def test_the_catalog_lists_it_with_what_it_can_explain(tmp_path):
    write(tmp_path / "listed", graph(GOOD))
    (entry,) = catalog.find([tmp_path])
    assert (entry.card.kind, entry.card.inside, entry.card.returns) == ("onnx", True, "label")
    assert "occlusion" in entry.card.methods
