"""Checkpoints of models: found, read, and run in batches."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from dynabench.evaluate.module import Module
from dynabench.evaluate.values import MissingLibrary
from dynabench.kit.distributions import LIBRARY, install_command

ENDLESS = 1_000_000  # tokenizers without a limit say 1e30
COUNTED_FROM_PADDING = ("roberta", "camembert", "longformer", "mpnet", "esm", "data2vec-text")


OPTIONAL_WEIGHTS = ("pooler", "position_ids")  # of a bare encoder: nothing reads what they compute


class LoadedModel(NamedTuple):
    """A model in evaluation mode and its tokenizer."""

    model: Any
    tokenizer: Any


def load_model(source: Any, kind: str, device: str | None = None) -> LoadedModel:
    """Return the model and tokenizer of a local folder, a hub id, or a pair (model, tokenizer), in evaluation mode.

    Loaded models compute in single precision, whatever their files hold, so that results do not depend on how rows
    are batched; pass a pair for another precision. The last two stay in memory until their files change.

    Args:
        source: a path, a hub id such as "gpt2", or two objects of transformers; the latter stay on their device.
        kind: the class of transformers that loads it, such as "AutoModelForCausalLM".
        device: "cpu", "cuda", "cuda:1", "gpu"...; by default an accelerator where there is one.

    Raises:
        ValueError: no such model, no network, or a checkpoint without the weights that `kind` needs.
    """
    if isinstance(source, tuple | list) and len(source) == 2:
        return LoadedModel(source[0].eval(), source[1])
    if not isinstance(source, str | Path) or not str(source):
        raise ValueError(
            f"a model is the path of a local folder, a hub id or the pair (model, tokenizer), not {source!r:.80}"
        )
    local = Path(source).expanduser()
    modified_ns = max((file.stat().st_mtime_ns for file in local.iterdir()), default=0) if local.is_dir() else 0
    return _load_cached(str(source), kind, resolve_device(device), modified_ns)


def resolve_device(device: str | None) -> str:
    """Return the device by torch's name; by default an accelerator where there is one.

    Raises ValueError if it is absent.
    """
    import torch

    available = torch.cuda.is_available()
    name = {"gpu": "cuda", None: "cuda" if available else "cpu"}.get(device, device) or "cpu"
    if name.startswith("cuda") and not available:
        raise ValueError(f"device={device!r}: there is no accelerator here; use device='cpu'")
    return name


@lru_cache(maxsize=2)
def _load_cached(name: str, kind: str, device: str, changed: int) -> LoadedModel:
    """`changed` (when a file of the folder was last written) makes a checkpoint that was trained on another one."""
    import torch

    place = locate_model(name)
    tokenizer = read_pretrained(place, "AutoTokenizer")
    return LoadedModel(read_model(place, kind, dtype=torch.float32).eval().to(device), tokenizer)


class ModelLocation(NamedTuple):
    """The location of a model: the path of a local folder, for which the hub is never asked, or a hub id."""

    name: str
    local: bool


def locate_model(name: str) -> ModelLocation:
    """Return the local folder or hub id of this name.

    Raises ValueError where there is none, or no network to fetch it.
    """
    local = Path(name).expanduser()
    if local.exists():
        return ModelLocation(str(local), True)
    if local.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise ValueError(f"no model lies at {name}; give the path of a folder with config.json and the weights")
    try:
        transformers().AutoConfig.from_pretrained(name, local_files_only=True)
    except (OSError, ValueError):
        _check_hub(name)
    return ModelLocation(name, False)


def transformers() -> Any:
    """Return the library. Raises MissingLibrary where it is not installed."""
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError:
        raise MissingLibrary(
            f"models are loaded with transformers and torch: {install_command(LIBRARY, 'models')}"
        ) from None
    return transformers


def read_pretrained(place: ModelLocation, kind: str, **options: Any) -> Any:
    """Load an object of the transformers class `kind` (a tokenizer, a model). Raises ValueError where that fails."""
    library = transformers()
    try:
        with _quiet():
            return getattr(library, kind).from_pretrained(place.name, local_files_only=place.local, **options)
    except (OSError, ValueError, KeyError, ImportError) as error:
        error_lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"{place.name} cannot be loaded by {kind}: {error_lines[0]}") from error


def read_model(place: ModelLocation, kind: str, **options: Any) -> Any:
    """Load a model. Raises ValueError also where weights are missing, which transformers would make up."""
    model, report = read_pretrained(place, kind, output_loading_info=True, **options)
    unread = OPTIONAL_WEIGHTS if kind == "AutoModel" else ()
    missing = sorted(key for key in report["missing_keys"] if not any(part in key for part in unread))
    if missing:
        raise ValueError(
            f"{place.name} lacks {len(missing)} weights that {kind} needs ({', '.join(missing[:3])}...): it was not "
            "trained for this task, and random ones would take their place. Choose another checkpoint, or load the "
            "model yourself and pass it, if an untrained one is meant"
        )
    return model


def _check_hub(name: str) -> None:
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


def model_label(source: Any) -> str:
    """Return a short name for a model that was passed as path, hub id, callable or objects."""
    if isinstance(source, str | Path):
        return str(source)
    if isinstance(source, tuple | list) and source:
        return str(getattr(getattr(source[0], "config", None), "name_or_path", "") or type(source[0]).__name__)
    return str(getattr(source, "__qualname__", type(source).__name__))


def as_function(source: Any) -> Callable[[Any], Any] | None:
    """Return a callable or a mapping as a function of a list of rows; None for other objects.

    A mapping holds results by text; for rows of several texts it holds mappings by the second text, and so on.
    Raises ValueError for a bare torch model, which is callable but takes no texts.
    """
    if hasattr(source, "forward") and hasattr(source, "parameters"):
        raise ValueError("a model needs its tokenizer: give the pair (model, tokenizer)")
    if hasattr(source, "keys") and hasattr(source, "__getitem__"):
        return lambda rows: [_look_up(source, row) for row in rows]
    return source if callable(source) else None


def ask_function(function: Callable[[Any], Any], rows: list[Any], answer_kind: str) -> list[Any]:
    """Call `function` on `rows` and return one answer each. Raises ValueError for another number of answers."""
    answers = function(rows)
    answer_list = answers.tolist() if hasattr(answers, "tolist") else list(answers)
    if len(answer_list) != len(rows):
        raise ValueError(
            f"the model gave {len(answer_list)} answers for {len(rows)} texts; it has to give {answer_kind} for each"
        )
    return answer_list


class CheckpointModule(Module):
    """A module whose config is its model, as in `load("toxicity", "folder or hub id")`."""

    def __init__(self, config_name: str | None = None, *, compat: bool = False, **options: Any) -> None:
        """`config_name` is the default of the option `model`."""
        if config_name not in (None, "default"):
            options = {"model": config_name, **options}
        super().__init__(compat=compat, **options)
        self.config_name = config_name or "default"


def require_model(model: Any, name: str, original: str) -> Any:
    """Return `model`.

    Raises ValueError, naming the choices, where it is None; `original` is the default of evaluate.
    """
    if model is None:
        raise ValueError(
            f"{name} needs a model, and none is shipped or loaded unasked: give model=, a local folder, a hub id (the "
            f"original's default is {original}) or a function"
        )
    return model


def _look_up(table: Any, row: Any) -> Any:
    """The entry of a text, or of several texts one inside the other."""
    entry = table
    for text in row if isinstance(row, tuple) else (row,):
        if text not in entry:
            raise ValueError(f"the mapping that was given as a model does not know {row!r:.80}")
        entry = entry[text]
    return entry


def token_batches(
    model: LoadedModel, columns: Sequence[Sequence[str]], batch_size: int = 32, max_length: int | None = None
) -> Iterator[tuple[list[int], dict[str, Any]]]:
    """Yield numbers of rows, and the model's inputs for them, on its device.

    `columns` are one or two columns of n texts. Rows come sorted by length, the longest first, padded on the
    tokenizer's side, cut after `max_length` tokens (by default the model's limit). Raises ValueError for a batch
    size below 1.
    """
    import torch

    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size}: give 1 or more")
    if not len(columns[0]):
        return
    longest = max_length or token_limit(model)
    encoding = model.tokenizer(*map(list, columns), truncation=longest is not None, max_length=longest, verbose=False)
    sizes = [len(ids) for ids in encoding["input_ids"]]
    order = sorted(range(len(sizes)), key=lambda row: -sizes[row])
    step = batch_size if model.tokenizer.pad_token_id is not None else 1
    for start in range(0, len(order), step):
        rows = order[start : start + step]
        batch = {key: [values[row] for row in rows] for key, values in encoding.items()}
        padded = (
            model.tokenizer.pad(batch, return_tensors="pt")
            if step > 1
            else {key: torch.tensor(values) for key, values in batch.items()}
        )
        yield rows, {key: value.to(model.model.device) for key, value in padded.items()}


def token_limit(model: LoadedModel) -> int | None:
    """Return the number of tokens that the model reads, by its tokenizer or configuration; None without a limit."""
    config = model.model.config
    places = getattr(config, "max_position_embeddings", None)
    if places and any(name in str(getattr(config, "model_type", "")) for name in COUNTED_FROM_PADDING):
        places -= (config.pad_token_id or 0) + 1  # positions begin behind the number of the padding token
    limits = [size for size in (getattr(model.tokenizer, "model_max_length", None), places) if size]
    return min((int(size) for size in limits if 0 < size < ENDLESS), default=None)
