"""Models that modules run: from a local folder, from the Hugging Face hub when it is asked for, or given as objects."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from dynabench.distributions import LIBRARY, install_command
from dynabench.evaluate.lacking import Lacking
from dynabench.evaluate.module import Module

UNREAD = ("pooler", "position_ids")  # weights of a bare encoder that may be missing: nothing reads what they compute


class Loaded(NamedTuple):
    """A model in evaluation mode and its tokenizer."""

    model: Any
    tokenizer: Any


def loaded(given: Any, kind: str, device: str | None = None) -> Loaded:
    """The model and tokenizer behind `given`: a local folder, a hub id, or the pair (model, tokenizer) itself.

    What is loaded computes in single precision, whatever its file holds, so that results do not depend on how rows
    are batched; give the pair for another precision. The last two stay loaded until their files change.

    Args:
        given: a path, a hub id such as "gpt2", or two objects of transformers; the latter stay on their device.
        kind: the class of transformers that loads it, such as "AutoModelForCausalLM".
        device: "cpu", "cuda", "cuda:1", "gpu"...; by default an accelerator where there is one.

    Raises:
        ValueError: nothing there, no network, or a checkpoint without the weights that `kind` needs.
    """
    if isinstance(given, tuple | list) and len(given) == 2:
        return Loaded(given[0].eval(), given[1])
    if not isinstance(given, str | Path) or not str(given):
        raise ValueError(
            f"a model is the path of a local folder, a hub id or the pair (model, tokenizer), not {given!r:.80}"
        )
    local = Path(given).expanduser()
    changed = max((file.stat().st_mtime_ns for file in local.iterdir()), default=0) if local.is_dir() else 0
    return _loaded(str(given), kind, chosen_device(device), changed)


def chosen_device(device: str | None) -> str:
    """`device` as torch calls it; an accelerator where there is one by default. Raises ValueError if it is not here."""
    import torch

    here = torch.cuda.is_available()
    name = {"gpu": "cuda", None: "cuda" if here else "cpu"}.get(device, device) or "cpu"
    if name.startswith("cuda") and not here:
        raise ValueError(f"device={device!r}: there is no accelerator here; use device='cpu'")
    return name


@lru_cache(maxsize=2)
def _loaded(name: str, kind: str, device: str, changed: int) -> Loaded:
    """`changed` (when a file of the folder was last written) makes a checkpoint that was trained on another one."""
    import torch

    place = place_of(name)
    tokenizer = read(place, "AutoTokenizer")
    return Loaded(read_model(place, kind, dtype=torch.float32).eval().to(device), tokenizer)


class Place(NamedTuple):
    """Where a model lies: the path of a local folder, for which the hub is never asked, or a hub id."""

    name: str
    local: bool


def place_of(name: str) -> Place:
    """The local folder or hub id of this name. Raises ValueError where nothing is there, or no network to fetch it."""
    local = Path(name).expanduser()
    if local.exists():
        return Place(str(local), True)
    if local.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise ValueError(f"no model lies at {name}; give the path of a folder with config.json and the weights")
    try:
        transformers().AutoConfig.from_pretrained(name, local_files_only=True)
    except (OSError, ValueError):
        _reach(name)
    return Place(name, False)


def transformers() -> Any:
    """The library. Raises ValueError where it is not installed."""
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError:
        raise Lacking(f"models are loaded with transformers and torch: {install_command(LIBRARY, 'models')}") from None
    return transformers


def read(place: Place, kind: str, **options: Any) -> Any:
    """What the class `kind` of transformers reads there: a tokenizer, a model. Raises ValueError where it cannot."""
    library = transformers()
    try:
        with _quiet():
            return getattr(library, kind).from_pretrained(place.name, local_files_only=place.local, **options)
    except (OSError, ValueError, KeyError, ImportError) as error:
        told = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"{place.name} cannot be loaded by {kind}: {told[0]}") from error


def read_model(place: Place, kind: str, **options: Any) -> Any:
    """The model there. Raises ValueError where weights are missing, too, which transformers would make up."""
    model, report = read(place, kind, output_loading_info=True, **options)
    unread = UNREAD if kind == "AutoModel" else ()
    missing = sorted(key for key in report["missing_keys"] if not any(part in key for part in unread))
    if missing:
        raise ValueError(
            f"{place.name} lacks {len(missing)} weights that {kind} needs ({', '.join(missing[:3])}...): it was not "
            "trained for this task, and random ones would take their place. Choose another checkpoint, or load the "
            "model yourself and pass it, if an untrained one is meant"
        )
    return model


def _reach(name: str) -> None:
    """Ask the hub for the model once: loading would try again and again for a minute without a network."""
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=10)
    except Exception as error:
        raise ValueError(
            f"the model {name!r} is no local folder and could not be fetched from the Hugging Face hub "
            f"({type(error).__name__}); give the path of a local copy"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bar and no report of weights for a moment: what matters of the latter becomes an error."""
    logging = transformers().logging
    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


def named(given: Any) -> str:
    """A short name for a model that was given as path, hub id, callable or objects."""
    if isinstance(given, str | Path):
        return str(given)
    if isinstance(given, tuple | list) and given:
        return str(getattr(getattr(given[0], "config", None), "name_or_path", "") or type(given[0]).__name__)
    return str(getattr(given, "__qualname__", type(given).__name__))


def callable_of(given: Any) -> Callable[[Any], Any] | None:
    """`given` as a function of a list of rows, if it is a callable or a mapping; None for others.

    A mapping holds results by text; for rows of several texts it holds mappings by the second text, and so on.

    Raises ValueError for a bare torch model, which is callable but takes no texts.
    """
    if hasattr(given, "forward") and hasattr(given, "parameters"):
        raise ValueError("a model needs its tokenizer: give the pair (model, tokenizer)")
    if hasattr(given, "keys") and hasattr(given, "__getitem__"):
        return lambda rows: [_looked_up(given, row) for row in rows]
    return given if callable(given) else None


def asked(function: Callable[[Any], Any], rows: list[Any], what: str) -> list[Any]:
    """What `function` says of `rows`, one answer each. Raises ValueError where it gives another number of them."""
    answers = function(rows)
    found = answers.tolist() if hasattr(answers, "tolist") else list(answers)
    if len(found) != len(rows):
        raise ValueError(f"the model gave {len(found)} answers for {len(rows)} texts; it has to give {what} for each")
    return found


class OfCheckpoint(Module):
    """A module whose config is its model, as in `load("toxicity", "folder or hub id")`."""

    def __init__(self, config_name: str | None = None, *, compat: bool = False, **options: Any) -> None:
        """`config_name` is the default of the option `model`."""
        if config_name not in (None, "default"):
            options = {"model": config_name, **options}
        super().__init__(compat=compat, **options)
        self.config_name = config_name or "default"


def wanted(model: Any, name: str, original: str) -> Any:
    """`model`. Raises ValueError, with what there is to give, where it is None; `original` is what evaluate loads."""
    if model is None:
        raise ValueError(
            f"{name} needs a model, and none is shipped or loaded unasked: give model=, a local folder, a hub id (the "
            f"original's default is {original}) or a function"
        )
    return model


def _looked_up(table: Any, row: Any) -> Any:
    """The entry of a text, or of several texts one inside the other."""
    found = table
    for text in row if isinstance(row, tuple) else (row,):
        if text not in found:
            raise ValueError(f"the mapping that was given as a model does not know {row!r:.80}")
        found = found[text]
    return found
