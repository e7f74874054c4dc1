"""Decoding of generative models: greedy, so that one input has one answer, and of limited length."""

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
    """Return the arguments for `generate`, and drop the folder's settings for sampling, beams and lengths.

    Otherwise a folder could make every answer as slow, or as random, as it likes.
    """
    import transformers

    own = model.generation_config
    kept = {name: _said(own, model.config, name) for name in KEPT}
    make: Any = transformers.GenerationConfig
    model.generation_config = make(**{name: value for name, value in kept.items() if value is not None})
    if getattr(model.config, "task_specific_params", None):
        model.config.task_specific_params = None
    return {"max_new_tokens": max_new_tokens, "return_full_text": False, "num_beams": 1}


def _said(own: Any, config: Any, name: str) -> Any:
    found = getattr(own, name, None)
    return getattr(config, name, None) if found is None else found
