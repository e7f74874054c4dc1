"""Small ONNX folders: real graphs and a real tokenizer, with weights that say what a test needs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import yaml
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = ("good", "bad", "plain", "the", "film", "is", "a", "ship", "é", "日", "😡", "nan", "short")
VOCABULARY = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3} | {word: at + 4 for at, word in enumerate(WORDS)}


def tokenizer() -> Tokenizer:
    """Words of a small vocabulary, each a piece, in BERT's template."""
    created = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    created.normalizer = normalizers.NFC()
    created.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    created.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return created


def scores(**of: Sequence[float]) -> np.ndarray:
    """Return the part of each word of the vocabulary in the scores: `scores(good=(1, 0), bad=(0, 1))`."""
    width = len(next(iter(of.values())))
    table = np.zeros((len(VOCABULARY), width), np.float32)
    for word, values in of.items():
        table[VOCABULARY[word]] = values
    return table


GOOD = scores(good=(9, 0, 0), bad=(0, 9, 0), plain=(0, 0, 9), nan=(np.nan, 0, 0))
ENDS = scores(ship=(5, 5), good=(9, 0), film=(0, 9), nan=(np.nan, 0))


def graph(
    table: np.ndarray,
    returns: str = "label",
    shape: Sequence[Any] = ("texts", "pieces"),
    names: Sequence[str] = ("input_ids", "attention_mask"),
    outputs: Sequence[str] = ("logits",),
    kind: int = TensorProto.INT64,
) -> onnx.ModelProto:
    """A graph that adds up the words' scores where the mask is 1, or leaves them apart for spans."""
    rows = [
        helper.make_node("Gather", ["table", names[0]], ["each"]),
        helper.make_node("Cast", [names[1]], ["present"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["present", "last"], ["column"]),
        helper.make_node("Mul", ["each", "column"], ["masked"]),
    ]
    width: list[Any] = [shape[0], table.shape[1]]
    if returns == "label":
        rows.append(helper.make_node("ReduceSum", ["masked", "second"], list(outputs), keepdims=0))
    elif len(outputs) == 2:
        rows.append(helper.make_node("Split", ["masked", "halves"], ["s", "e"], axis=2))
        rows += [helper.make_node("Squeeze", [a, "last"], [b]) for a, b in zip("se", outputs, strict=True)]
        width = list(shape)
    else:
        rows.append(helper.make_node("Identity", ["masked"], list(outputs)))
        width = [*shape, table.shape[1]]
    constants = {"last": [-1], "second": [1], "halves": [1, 1]}
    stored = [numpy_helper.from_array(table, "table")]
    stored += [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in constants.items()]
    created = helper.make_graph(
        rows,
        "scores",
        [helper.make_tensor_value_info(name, kind, list(shape)) for name in names],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, width) for name in outputs],
        stored,
    )
    return helper.make_model(created, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


SENTIMENT = {"inputs": ["statement"], "answer": "label", "labels": ["positive", "negative", "neutral"]}
QUESTIONS = {"inputs": ["question", "passage"], "answer": "answer"}

Folders = Callable[..., Path]


def write(folder: Path, model: onnx.ModelProto | bytes, card: dict[str, Any] = SENTIMENT, **more: Any) -> Path:
    """A model folder of this graph; `more` are further lines of `model.yaml`."""
    folder.mkdir(parents=True, exist_ok=True)
    answer = {"name": folder.name, "task": "sentiment", "kind": "onnx", "licence": "CC0-1.0", **card, **more}
    (folder / "model.yaml").write_text(yaml.safe_dump(answer))
    (folder / "model.onnx").write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder
