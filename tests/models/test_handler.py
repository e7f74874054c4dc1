"""Handlers that do their work: on every task's shape, with numpy and ONNX, through the host; and where none may run."""

import asyncio
import os
import re
import shutil
import subprocess
import time
import zlib
from collections import deque
from pathlib import Path

import numpy as np
import pytest
import yaml
from safetensors.numpy import save_file

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models import kinds, spec
from dynabench.models.catalog import open_model
from dynabench.models.client import Host
from dynabench.models.protocol import Attributable
from dynabench.models.sandbox.box import HandlerOptions
from dynabench.models.sandbox.process import Process
from tests.evaluate import real
from tests.models.handlers import NLI, PAIR, doing, need_sandbox, write

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/handlers.md").read_text()
CODE = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL).group(1)
DOCUMENTED = yaml.safe_load(re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL).group(1))
SIZE = 1 << 14
CLASSIFIERS = {
    "sentiment": ("sst3", "test", {"statement": "text"}, {}, 0.5),
    "hate": ("tweeteval_hate", "val", {"statement": "text"}, {"hate": "hateful", "nothate": "not-hateful"}, 0.62),
    "nli": ("snli_dev_test", "test", {"premise": "premise", "hypothesis": "hypothesis"}, {}, 0.42),
}
"""Of each task: the data set, what to test on, columns by field, labels by those of the set, an accuracy to exceed."""
LABELS = {
    "sentiment": ["positive", "neutral", "negative"],
    "hate": ["hateful", "not-hateful"],
    "nli": ["entailment", "neutral", "contradiction"],
}


def of_set(task, split, most):
    """Inputs and labels of a data set's rows, as many as `most`."""
    name, _, columns, labels, _ = CLASSIFIERS[task]
    for raw in real.rows(f"{name}/{split}.jsonl.gz", most):
        if labels.get(raw["label"], raw["label"]) in LABELS[task]:
            yield {field: raw[column] for field, column in columns.items()}, labels.get(raw["label"], raw["label"])


def places(text):
    return [zlib.crc32(word.encode()) % SIZE for word in re.findall(r"\w+", text.lower())]


def learnt(task):
    """Weights of naive Bayes over words, shape (SIZE, labels); of NLI over those of the hypothesis."""
    counts = np.ones((SIZE, len(LABELS[task])))
    split = "dev" if task == "nli" else "train"
    for inputs, label in of_set(task, split, 6000):
        np.add.at(counts[:, LABELS[task].index(label)], places(list(inputs.values())[-1]), 1)
    return np.log(counts / counts.sum(0)).astype(np.float32)


@pytest.fixture(scope="module")
def classifiers(tmp_path_factory):
    """The folder of the page's handler for each task that has labels."""
    created = {}
    for task, labels in LABELS.items():
        field = list(CLASSIFIERS[task][2])[-1]
        code = CODE.replace(str(LABELS["sentiment"]).replace("'", '"'), str(labels)).replace(
            '"statement"', f'"{field}"'
        )
        folder = tmp_path_factory.mktemp("handlers") / task
        inputs = list(CLASSIFIERS[task][2])
        created[task] = write(folder, code, **DOCUMENTED | {"task": task, "labels": labels, "inputs": inputs})
        save_file({"weights": learnt(task)}, folder / "weights.safetensors")
        (folder / "weights.safetensors").chmod(0o644)
    return created


@pytest.fixture
def opened():
    """Opens handlers and closes them in the end."""
    need_sandbox()
    models = []

    def load(folder):
        models.append(open_model(folder))
        return models[-1]

    yield load
    for model in models:
        model.close()


@pytest.mark.release
@pytest.mark.parametrize("task", CLASSIFIERS)
def test_the_handler_of_the_page_learns_and_answers_every_task_with_labels(task, classifiers, opened):
    model = opened(classifiers[task])
    tests = list(of_set(task, CLASSIFIERS[task][1], 1000))
    outputs = model.predict([inputs for inputs, _ in tests])
    right = sum(output.answer["label"] == label for output, (_, label) in zip(outputs, tests, strict=True))
    assert right / len(tests) > CLASSIFIERS[task][-1]
    assert all(abs(sum(output.probabilities.values()) - 1) < 1e-3 for output in outputs)


ONNX = """
import re, zlib
import numpy as np
import onnxruntime

LABELS = ["positive", "neutral", "negative"]

class Model:
    def __init__(self, folder):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(f"{folder}/model.onnx", options)

    def predict(self, batch):
        counts = np.zeros((len(batch), 1 << 14), np.float32)
        for row, inputs in enumerate(batch):
            for word in re.findall(r"\\w+", inputs["statement"].lower()):
                counts[row, zlib.crc32(word.encode()) % counts.shape[1]] += 1
        (found,) = self.session.run(None, {"counts": counts})
        return [{"label": LABELS[p.argmax()], "probabilities": dict(zip(LABELS, p))} for p in found]
"""


@pytest.mark.release
def test_a_handler_that_runs_onnx_agrees_with_the_one_in_numpy(classifiers, opened, tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    weights = learnt("sentiment")
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("MatMul", ["counts", "weights"], ["scores"]),
            onnx.helper.make_node("Softmax", ["scores"], ["odds"], axis=1),
        ],
        "words",
        [onnx.helper.make_tensor_value_info("counts", onnx.TensorProto.FLOAT, ["rows", SIZE])],
        [onnx.helper.make_tensor_value_info("odds", onnx.TensorProto.FLOAT, ["rows", 3])],
        [onnx.numpy_helper.from_array(weights, "weights")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=10)
    folder = write(tmp_path / "onnx", ONNX, **DOCUMENTED | {"options": {}})
    onnx.save(model, folder / "model.onnx")
    batch = [inputs for inputs, _ in of_set("sentiment", "test", 64)]
    for prediction, other in zip(
        opened(folder).predict(batch), opened(classifiers["sentiment"]).predict(batch), strict=True
    ):
        assert prediction.answer == other.answer
        assert prediction.probabilities == pytest.approx(other.probabilities, abs=1e-4)


SENTENCE = """
import re

class Model:
    def __init__(self, folder):
        pass

    def predict(self, batch):
        return [{"answer": [self.sentence(**row)], "probabilities": None} for row in batch]

    def sentence(self, question, passage):
        asked = set(re.findall(r"\\w+", question.lower()))
        best = max(re.finditer(r"[^.!?]+[.!?]?", passage),
                   key=lambda found: len(asked & set(re.findall(r"\\w+", found[0].lower()))))
        return {"start": best.start(), "end": best.end(), "text": best[0]}
"""


def test_a_handler_marks_the_sentence_that_answers_a_question(opened, tmp_path):
    reply = {"task": "qa", "inputs": ["question", "passage"], "answer": "answer", "labels": []}
    model = opened(write(tmp_path / "qa", SENTENCE, **reply))
    right = total = 0
    for paragraph in real.paragraphs(1)[:20]:
        batch = [{"question": question["question"], "passage": paragraph["context"]} for question in paragraph["qas"]]
        for request, output in zip(paragraph["qas"], model.predict(batch), strict=True):
            total += 1
            right += any(answer["text"] in output.answer["answer"][0]["text"] for answer in request["answers"])
    assert right / total > 0.5


@pytest.mark.release
def test_large_libraries_can_be_imported_and_compute(opened, tmp_path):
    code = """
    import torch
    import transformers

    class Model:
        def __init__(self, folder):
            self.layer = torch.nn.Linear(4, 3)

        def predict(self, batch):
            labels = ["entailment", "neutral", "contradiction"]
            odds = self.layer(torch.ones(len(batch), 4)).softmax(-1)
            return [self.said(labels, row) for row in odds]

        def said(self, labels, row):
            return {"label": labels[row.argmax()], "probabilities": dict(zip(labels, row)), "raw": row}
    """
    output = opened(write(tmp_path / "torch", code)).predict([PAIR])[0]
    assert output.extras["raw"] == pytest.approx(list(output.probabilities.values()))


def test_words_are_explained_by_taking_them_away(classifiers, opened):
    model = opened(classifiers["sentiment"])
    assert isinstance(model, Attributable)
    result = model.attribute({"statement": "A truly wonderful film."}, "positive", kinds.REMOVALS[0])
    weights = {word.text: word.weight for word in result.fields["statement"]}
    assert max(weights, key=weights.get) == "wonderful"


@pytest.mark.release
def test_the_host_serves_handlers_and_ends_them_with_itself(classifiers, serve_models, tmp_path):
    need_sandbox()
    shutil.copytree(classifiers["sentiment"], tmp_path / "models" / "one")
    broken = write(tmp_path / "models" / "two", "import nothing_like_it", name="broken-handler")
    broken.chmod(0o755)
    (tmp_path / "models").chmod(0o755)

    async def story(host):
        while not await host.ready():
            await asyncio.sleep(0.05)
        name, version = DOCUMENTED["name"], spec.version(tmp_path / "models" / "one")
        answers = await asyncio.gather(
            *(host.answer(name, version, {"statement": text}) for text in ["awful", "a wonderful film"] * 10)
        )
        assert [answer.answer["label"] for answer in answers] == ["negative", "positive"] * 10
        with pytest.raises(Unavailable, match="nothing_like_it"):
            await host.answer("broken-handler", spec.version(broken), PAIR)
        await host.close()

    with serve_models(tmp_path / "models") as address:
        asyncio.run(story(Host(address, 10.0)))
    children = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "comm="], capture_output=True, text=True)
    assert "bwrap" not in children.stdout


def test_what_it_prints_is_kept_and_ends_messages(opened, tmp_path):
    model = opened(write(tmp_path / "talks", doing("print('looking at', premise)\nraise KeyError(hypothesis)")))
    for _ in range(3):
        with pytest.raises(
            Unavailable, match=r"(?s)KeyError: 'An animal moves\.'.*The end of its log:\nlooking at A dog runs\."
        ):
            model.predict([PAIR])
    model.close()
    assert model.log() == ["looking at A dog runs."] * 3


def test_what_no_version_covers_is_hidden_from_the_handler(opened, tmp_path):
    folder = write(tmp_path / "reads", doing("open('/model/README.md').read()"))
    (folder / "README.md").write_text("answer: contradiction")
    with pytest.raises(Unavailable, match="PermissionError"):
        opened(folder).predict([PAIR])


def test_missing_fields_are_told_before_anything_runs(opened, tmp_path):
    with pytest.raises(Invalid, match="hypothesis: A text is needed here"):
        opened(write(tmp_path / "plain", doing("pass"))).predict([{"premise": "x"}])


def test_the_example_says_what_the_code_does():
    assert NLI["kind"] == DOCUMENTED["kind"] == "handler"
    assert set(DOCUMENTED["labels"]) == set(re.findall(r'"(\w+)"', re.search(r"LABELS = .*", CODE)[0]))


def test_what_a_process_said_before_it_ended_is_read(tmp_path):
    folder = write(tmp_path / "broken", "import nothing_like_it")
    folder.chmod(0o755)
    process = Process(need_sandbox(), folder, HandlerOptions(), deque())
    while process.alive:
        time.sleep(0.01)
    assert "nothing_like_it" in process.first(5).decode()
    process.close()
