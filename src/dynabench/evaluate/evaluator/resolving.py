"""Resolution of a path, name, model, pipeline or callable to a predictor."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.predictors.called import CallablePredictor, CardedPredictor, callable_of, is_carded
from dynabench.evaluate.evaluator.predictors.network import device_of, is_network, is_pipeline

TASKS_OF_PIPELINES = {
    "natural-language-inference": "text-classification",
    "zero-shot-classification": "text-generation",
}


@dataclass(frozen=True)
class PredictorParts:
    """The parts of a native predictor; `model` is a path, a name, or a model of transformers."""

    task: str
    tokenizer: Any = None
    feature_extractor: Any = None
    device: Any = None
    model: Any = None
    options: Mapping[str, Any] | None = None  # that a pipeline was made with


def predictor_for(
    model: Any,
    parts: PredictorParts,
    network: Callable[[PredictorParts], Predictor],
    pipeline_options: Mapping[str, Any],
) -> Predictor:
    """Return the predictor of a path, name, model, pipeline, model with a card, or callable.

    Pipelines of transformers are run natively from their parts, by `network`; pipelines of subclasses elsewhere,
    whose steps may differ, are called as they are, with `pipeline_options`. Raises ValueError for anything else.
    """
    if model is None:
        raise ValueError("give model_or_pipeline: a path, a name, a model, a pipeline or a callable")
    if isinstance(model, str | Path) or is_network(model):
        return network(replace(parts, model=model))
    if is_pipeline(model):
        _check_pipeline(model, parts)
        return network(_parts_of_pipeline(model, parts))
    if is_carded(model):
        return CardedPredictor(model)
    function = callable_of(model)
    if function is None:
        raise ValueError(f"{model!r} is no model, no pipeline and cannot be called with a list of inputs")
    is_transformers_pipeline = bool(_bases(model) & {"Pipeline"})
    return CallablePredictor(function, pipeline_options if is_transformers_pipeline else None)


def _check_pipeline(pipe: Any, parts: PredictorParts) -> None:
    pipeline_task = TASKS_OF_PIPELINES.get(parts.task, parts.task)
    if pipe.task != pipeline_task and not (
        pipeline_task.startswith("translation") and pipe.task.startswith("translation")
    ):
        raise ValueError(f"this pipeline does {pipe.task}, the evaluation is of {parts.task}")
    requested_device = device_of(parts.device) if parts.device is not None else None
    if requested_device is not None and str(requested_device) != str(pipe.device):
        raise ValueError(
            f"the pipeline is on {pipe.device}, device={parts.device!r} asks for {requested_device}; leave one out"
        )


def _parts_of_pipeline(pipe: Any, parts: PredictorParts) -> PredictorParts:
    processor = getattr(pipe, "image_processor", None) or getattr(pipe, "feature_extractor", None)
    return replace(
        parts,
        model=pipe.model,
        tokenizer=pipe.tokenizer,
        feature_extractor=processor,
        device=pipe.device,
        options=dict(getattr(pipe, "_forward_params", {}) or {}),
    )


def _bases(model: Any) -> set[str]:
    return {base.__name__ for base in type(model).__mro__ if base.__module__.startswith("transformers.")}
