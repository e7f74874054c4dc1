"""Guesses which tensors of an Open Inference Protocol server are a task's fields, from the server's metadata."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from dynabench.models.protocol import ModelCard

BESIDE = ("probabilities", "extras")
"""Tensors that stand beside the answer."""


def guess_inference_options(ask: Any, model: str, card: ModelCard) -> dict[str, Any]:
    """Return the options `tensors`, `columns`, `output` and `holds` as far as the metadata of `model` tells them.

    `ask` calls the server and returns JSON or None. A field gets the tensor of its name; fields without one get the
    other tensors in their order, where there are as many.
    """
    metadata = ask(f"/v2/models/{quote(model, safe='')}")
    inputs, outputs = _tensors(metadata, "inputs"), _tensors(metadata, "outputs")
    tensors = _match_fields(card.inputs, list(inputs))
    options: dict[str, Any] = {"tensors": tensors}
    shapes = [inputs[name].get("shape") for name in tensors.values()]
    options["columns"] = bool(shapes) and all(isinstance(shape, list) and len(shape) == 2 for shape in shapes)
    candidates = [name for name in outputs if name not in BESIDE] or list(outputs)
    if candidates:
        same = [name for name in candidates if name.casefold() == card.answer.casefold()]
        options["output"] = (same or candidates)[0]
        options["holds"] = _guess_content(card, options["output"], str(outputs[options["output"]].get("datatype", "")))
    return options


def _tensors(metadata: Any, group: str) -> dict[str, Mapping[str, Any]]:
    """The tensors of a group by name; at most 32, and none where the metadata has another form."""
    listed = metadata.get(group) if isinstance(metadata, Mapping) else None
    entries = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    return {entry["name"]: entry for entry in entries[:32] if isinstance(entry.get("name"), str)}


def _match_fields(fields: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    name_by_lower = {name.casefold(): name for name in reversed(names)}
    matches = {field: name_by_lower[field.casefold()] for field in fields if field.casefold() in name_by_lower}
    other_fields = [field for field in fields if field not in matches]
    other_names = [name for name in names if name not in matches.values()]
    if len(other_fields) == len(other_names):
        matches |= dict(zip(other_fields, other_names, strict=True))
    return {field: matches[field] for field in fields if field in matches}


def _guess_content(card: ModelCard, name: str, datatype: str) -> str:
    if not card.labels or datatype not in ("FP16", "BF16", "FP32", "FP64"):
        return "indices" if card.labels and datatype.startswith(("INT", "UINT")) else "answers"
    return "probabilities" if "prob" in name.casefold() or "score" in name.casefold() else "logits"
