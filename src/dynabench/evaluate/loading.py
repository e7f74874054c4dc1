"""Modules by name: the registry of those of this package and of plug-ins, and their loading."""

import importlib
import importlib.util
import inspect
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from dynabench.evaluate.card import card_path
from dynabench.evaluate.module import Comparison, Kind, Measurement, Metric, Module
from dynabench.kit import plugins as plugged
from dynabench.kit.distributions import LIBRARY, PLATFORM, install_command

FOLDERS: dict[str, Kind] = {"metrics": "metric", "measurements": "measurement", "comparisons": "comparison"}
FAMILIES = {
    "metrics/agreement": "cohen_kappa fleiss_kappa krippendorff_alpha",
    "metrics/bleu": "bleu google_bleu sacrebleu spbleu",
    "metrics/calibration": "brier_score expected_calibration_error maximum_calibration_error",
    "metrics/character_edits": "character charcut_mt",
    "metrics/chrf": "chrf chrf_plus_plus",
    "metrics/classification": "accuracy confusion_matrix f1 matthews_correlation precision recall",
    "metrics/code_eval": "code_eval pass_at_k",
    "metrics/correlations": "pearsonr spearmanr",
    "metrics/edit_rates": "cer ter wer",
    "metrics/glue": "glue indic_glue super_glue xnli xtreme_s",
    "metrics/learned_scores": "bleurt comet frugalscore",
    "metrics/mean_errors": "mae mahalanobis mape mase mse r_squared smape",
    "metrics/perplexity": "bits_per_byte perplexity",
    "metrics/retrieval": "fever trec_eval",
    "metrics/short_answers": "competition_math drop exact_match vqa_accuracy",
    "metrics/simplification": "sari wiki_split",
    "metrics/squad": "cuad squad squad_v2",
    "metrics/tags": "poseval seqeval",
    "measurements/harms": "honest regard toxicity",
    "measurements/texts": "label_distribution perplexity text_duplicates word_count word_length",
    "comparisons/paired": "approximate_randomization exact_match mcnemar paired_bootstrap wilcoxon",
}
"""The Python files with several modules, and the names of these, which their classes give as `name`."""
REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95}(@[\w./-]{1,200})?")
ModuleEntry = tuple[Kind, str, str]  # kind, name, and `package.module` or `package.module:Class` (or its own name)


def shipped_modules() -> dict[str, dict[str, str]]:
    """Return the module path of each module of this package, by kind and name."""
    return {kind: dict(sorted(_shipped(folder))) for folder, kind in FOLDERS.items()}


def _shipped(folder: str) -> Iterator[tuple[str, str]]:
    for path in (Path(__file__).parent / folder).glob("[a-z]*.py"):
        place = f"{__package__}.{folder}.{path.stem}"
        if family := FAMILIES.get(f"{folder}/{path.stem}"):
            yield from ((name, f"{place}:{name}") for name in family.split())
        else:
            yield path.stem, place


def builtin_modules() -> Iterator[tuple[Kind, str]]:
    """Return kind and name of each module of this package, without importing any."""
    return ((kind, name) for ours, (kind, name, _) in _all() if ours)


def plugin_modules() -> Iterator[tuple[Kind, str]]:
    """Return kind and name of each module from plug-ins, without importing any."""
    return ((kind, name) for ours, (kind, name, _) in _all() if not ours)


def _all() -> Iterator[tuple[bool, ModuleEntry]]:
    entries = plugged.installed().brings("dynabench_evaluation_modules", _locations)
    return ((plugin == plugged.OURS, place) for plugin, place in entries.values())


def _locations(brought: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, ModuleEntry]]:
    kinds = {kind: kind for kind in FOLDERS.values()}
    for kind_name, modules in brought.items():
        if kind_name not in kinds:
            raise ValueError(f"no kind {kind_name!r}; there are {', '.join(kinds)}")
        for name, module_path in modules.items():
            if not isinstance(module_path, str):
                raise TypeError(f"{name} is {module_path!r}, not the name of a Python module")
            yield f"{kind_name}/{name}", (kinds[kind_name], name, module_path)


def find_module(path: str, kind: str | None = None) -> type[Module]:
    """Return the class of the module called `path`, or in the Python file (or folder with such a file) at `path`.

    A file with several modules is followed by a colon and the class: `classification.py:Recall`. Raises ValueError,
    with the nearest names, where there is none.
    """
    if kind is not None and kind not in FOLDERS.values():
        raise ValueError(f"no kind {kind!r}; there are {', '.join(FOLDERS.values())}")
    for _, (entry_kind, name, place) in _all():
        if name == path and kind in (None, entry_kind):
            return _load_class(entry_kind, place)
    start, mark, cls = path.rpartition(".py:")
    file = Path(f"{start}.py" if mark else path)
    file = file / f"{file.name}.py" if file.is_dir() else file
    if file.suffix == ".py" and file.is_file():
        return module_in_file(file, cls if mark else "")
    raise ValueError(_unknown(path, kind))


def module_in_file(file: Path, class_name: str = "") -> type[Module]:
    """Import a Python file and return the class of its module, or the named one. Raises ValueError without one."""
    return _only_class(_import_file(file), class_name)


def _load_class(kind: Kind, place: str) -> type[Module]:
    """The class at `package.module` or `package.module:Class`. Raises ValueError where it is of another kind, or where
    there is no such Python module."""
    name, _, cls = place.partition(":")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):  # a library that it imports
            raise
        raise ValueError(f"the plug-in's module {place} is not there ({error})") from None
    module_class = _only_class(module, cls)
    if module_class.kind != kind:
        raise ValueError(f"{place} is a {module_class.kind}, not a {kind}")
    return module_class


def _unknown(path: str, kind: str | None) -> str:
    from difflib import get_close_matches

    names = [name for its, name in builtin_modules() if kind in (None, its)]
    near = get_close_matches(path.rpartition("/")[2], names, 3, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "list_evaluation_modules() names all"
    return f"no {kind or 'module'} is called {path!r}, and no file is there; {hint}"


def _import_file(file: Path) -> ModuleType:
    name = file.stem.replace(".", "_")  # with a dot it would be a part of a package
    if name in sys.modules or importlib.util.find_spec(name) is not None:  # taken by an installed package
        name = f"dynabench_module_{name}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up
    spec.loader.exec_module(module)
    return module


def classes_in(module: ModuleType) -> list[type[Module]]:
    """Return the public classes of modules that a Python module defines."""
    return [
        item
        for name, item in vars(module).items()
        if inspect.isclass(item)
        and issubclass(item, Metric | Measurement | Comparison)
        and item.__module__ == module.__name__
        and not name.startswith("_")
    ]


def _only_class(module: ModuleType, name: str = "") -> type[Module]:
    """The class of this name, its own or that of its module, or else of its file, or the only one; else ValueError."""
    by_name = {cls.own_name: cls for cls in classes_in(module)}
    if not name and (file_name := Path(str(module.__file__)).stem) in by_name:
        return by_name[file_name]
    if name:
        named: type[Module] | None = by_name.get(name) or getattr(module, name, None)
        if named is None:
            raise ValueError(f"{module.__name__} has no class {name}")
        return named
    classes = classes_in(module)
    if len(classes) != 1:
        hint = (
            f"; name one of {', '.join(cls.__name__ for cls in classes)} after the file and a colon" if classes else ""
        )
        raise ValueError(f"{module.__name__} needs one public class of a module, it has {len(classes)}{hint}")
    return classes[0]


def load(
    path: str,
    config_name: str | None = None,
    module_type: str | None = None,
    process_id: int = 0,
    num_process: int = 1,
    cache_dir: str | None = None,
    experiment_id: str | None = None,
    keep_in_memory: bool = False,
    download_config: Any = None,
    download_mode: Any = None,
    revision: Any = None,
    *,
    endpoint: str | None = None,
    token: str | None = None,
    trust: bool | str | None = None,
    in_process: bool = False,
    compat: bool = False,
    **options: Any,
) -> Any:
    """Return the module of this name (or in the Python file at `path`), ready to compute.

    Args:
        path: a name such as "accuracy", the path of a Python file, or of a folder with a file of its name; or
            "owner/name", a repository of a hub, whose code runs in a sandbox and only where it is trusted.
        config_name: a variant of the module, such as "mrpc" of "glue".
        module_type: "metric", "measurement" or "comparison", where two share a name; metrics come first.
        process_id: with `num_process`, `experiment_id`, `keep_in_memory`, `download_config` and `download_mode`
            accepted for existing code.
        num_process: must be 1; see Raises.
        cache_dir: the folder that keeps files of "owner/name", by commit; the user's cache by default.
        revision: of "owner/name" a commit, a tag or a branch; "main" by default.
        endpoint: of "owner/name" the address of the hub; by default that of `huggingface_hub` (HF_ENDPOINT).
        token: of "owner/name" the token for private repositories; by default that of `huggingface_hub`.
        trust: of "owner/name" the commit whose code may run, 40 digits; or True where `revision` is such a commit.
            Without it the commit must be one that `dynabench module trust` has noted.
        in_process: run the trusted code of "owner/name" in this process, with all that this process may do.
        compat: return just what Hugging Face `evaluate` returns, such as the bare number of "wer".
        options: defaults of `compute`, such as average="macro".

    Raises:
        ValueError: no such module or config; code that is not trusted; or `num_process` above 1: states of several
            processes merge in memory (`state` in each, then `merge` and `result`), without files.
    """
    if num_process != 1:
        raise ValueError(
            "num_process above 1 is not needed: call module.state(...) in each process, "
            "merge the states with module.merge and pass the whole to module.result"
        )
    if not names_repository(path):
        return find_module(path, module_type)(config_name, compat=compat, **options)
    source = _module_source()
    hub = {"revision": revision, "endpoint": endpoint, "token": token, "cache_dir": cache_dir}
    module = source(path, config_name, trust=trust, in_process=in_process, compat=compat, **hub, **options)
    if module_type not in (None, module.kind):
        raise ValueError(f"{path} is a {module.kind}, not a {module_type}")
    return module


def names_repository(path: str) -> bool:
    """Return whether `path` is a repository of a hub, `owner/name` or `owner/name@revision`, and no file or folder."""
    return REPOSITORY.fullmatch(path) is not None and not path.endswith(".py") and not Path(path).exists()


def _module_source() -> Any:
    """The function that loads modules of repositories. Raises ValueError where the library alone is installed."""
    sources = plugged.gather("dynabench_module_sources", plugged.references)
    try:
        return plugged.load_reference(list(sources.values())[-1])
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("dynabench"):
            raise
        raise ValueError(f"modules of a hub need the platform: {install_command(PLATFORM)}") from None


def list_evaluation_modules(
    module_type: str | None = None, include_community: bool = True, with_details: bool = False
) -> list[Any]:
    """Return names of all modules, including those of installed packages, or dictionaries of name, type and community.

    `with_details` gives the dictionaries (with `likes`, always 0, for existing code). Raises ValueError for an
    unknown `module_type`.
    """
    if module_type not in (None, *FOLDERS.values()):
        raise ValueError(f"no kind {module_type!r}; there are {', '.join(FOLDERS.values())}")
    modules = [(kind, name, False) for kind, name in builtin_modules()]
    if include_community:
        modules += [(kind, name, True) for kind, name in plugin_modules()]
    chosen = [entry for entry in modules if module_type in (None, entry[0])]
    if not with_details:
        return [name for _, name, _ in chosen]
    return [{"name": name, "type": kind, "community": community, "likes": 0} for kind, name, community in chosen]


def inspect_evaluation_module(path: str, local_path: str, download_config: Any = None, **download_kwargs: Any) -> None:
    """Copy the module's Python file, called by its name, and the cards of the modules in it, into `local_path`.

    `download_config` and `download_kwargs` are accepted for existing code; nothing is downloaded.
    """
    import inspect

    module = find_module(path)
    source = inspect.getsourcefile(module)
    assert source is not None
    cards = {card_path(cls) for cls in classes_in(sys.modules[module.__module__])}
    Path(local_path).mkdir(parents=True, exist_ok=True)
    shutil.copy(source, Path(local_path) / f"{module.name_of()}.py")
    for card in cards:
        if card is not None and card.is_file():
            shutil.copy(card, local_path)


def needs_trusted_input(module: type[Module]) -> bool:
    """Return whether a module needs trusted input, because it runs code or opens files that the input names."""
    return not module.on_pages or any(name.startswith("allow_") for name in module.options_known())


def missing_requirement(module: type[Module]) -> str:
    """Return what is missing to run this module here: an extra to install, or a resource to pass; "" for nothing."""
    import importlib.util

    for extra in module.card.needs:
        missing = [name for name in EXTRAS[extra] if importlib.util.find_spec(name) is None]
        if missing:
            return f"{', '.join(missing)}: {install_command(LIBRARY, extra)}"
    return module.lacks()


EXTRAS: dict[str, tuple[str, ...]] = {
    "metrics": ("nltk", "sacrebleu", "sacremoses"),
    "models": ("torch", "transformers"),
}
