"""How models write: greedily, so that the same input has the same answer, and no longer than they are told."""

from typing import Any

KEPT = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
)


def settings(model: Any, max_new_tokens: int) -> dict[str, Any]:
    """What to tell `generate`; what the folder says on sampling, beams and lengths is dropped from the model.

    A folder could otherwise make every answer as slow, or as random, as it likes.
    """
    from transformers import GenerationConfig

    own = model.generation_config
    kept = {name: getattr(own, name, None) for name in KEPT}
    model.generation_config = GenerationConfig(**{name: value for name, value in kept.items() if value is not None})
    for name in ("task_specific_params",):
        if getattr(model.config, name, None):
            setattr(model.config, name, None)
    return {"max_new_tokens": max_new_tokens, "return_full_text": False, "num_beams": 1}
