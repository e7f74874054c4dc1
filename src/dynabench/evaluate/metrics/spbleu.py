"""BLEU over the pieces of a SentencePiece model."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from dynabench.evaluate.missing_library import MissingLibrary
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts import bleus
from dynabench.evaluate.texts.tokenizers import Tokenizer

SETTING = "DYNABENCH_SPBLEU_MODEL"
FLORES = "flores200sacrebleuspm"
"""Name under which sacrebleu keeps the model of FLORES-200, where it was allowed to download it."""
MISSING = (
    "spbleu needs model=: the path of a SentencePiece model, or a function from a text to its pieces; or the path in "
    f"{SETTING}, or FLORES-200's model where sacrebleu keeps it: models/{FLORES} in ~/.sacrebleu"
)


def default_model_path() -> str | None:
    """Return the path of the machine's model: the one that is set, else that of FLORES-200 in sacrebleu's folder."""
    if configured := os.environ.get(SETTING):
        return configured
    cached = Path(os.environ.get("SACREBLEU") or "~/.sacrebleu").expanduser() / "models" / FLORES
    return str(cached) if cached.is_file() else None


class Spbleu(bleus.CorpusBleu):
    """BLEU whose tokens are the pieces of one model for many languages."""

    @classmethod
    def lacks(cls) -> str:
        """Return the missing resource; "" where this machine has a model."""
        return "" if default_model_path() else super().lacks()

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        model: str | Path | Tokenizer | None = None,
        lowercase: bool = False,
    ) -> Sums:
        """Lengths, hits and n-grams of each row: see `bleus`. Raises ValueError without a model that can be read."""
        model = model if model is not None else default_model_path()
        if model is None:
            raise ValueError(MISSING)
        pieces = model if callable(model) else _pieces(os.fspath(model))
        return bleus.sacrebleu_state(predictions, references, pieces, lowercase)


@cache
def _pieces(path: str) -> Callable[[str], list[str]]:
    try:
        import sentencepiece
    except ImportError:
        raise MissingLibrary("a SentencePiece model needs its library: pip install sentencepiece") from None
    if not Path(path).is_file():
        raise ValueError(f"no SentencePiece model is at {path}; {MISSING}")
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.Load(path)
    except (OSError, RuntimeError) as error:
        raise ValueError(f"{path} is no SentencePiece model") from error
    return lambda text: " ".join(processor.EncodeAsPieces(text)).split()
