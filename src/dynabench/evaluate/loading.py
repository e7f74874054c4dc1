"""Loading of modules by name, and the list of their names."""

import shutil
import sys
from pathlib import Path
from typing import Any

from dynabench.evaluate import registry
from dynabench.evaluate.card_file import card_path
from dynabench.evaluate.module import Module
from dynabench.kit.distributions import LIBRARY, install_command


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
    compat: bool = False,
    **options: Any,
) -> Any:
    """Return the module of this name (or in the Python file at `path`), ready to compute.

    Args:
        path: a name such as "accuracy", the path of a Python file, or of a folder with a file of its name.
        config_name: a variant of the module, such as "mrpc" of "glue".
        module_type: "metric", "measurement" or "comparison", where two share a name; metrics come first.
        process_id: with `num_process`, `cache_dir`, `experiment_id`, `keep_in_memory`, `download_config`,
            `download_mode` and `revision` accepted for existing code; nothing is downloaded or cached here.
        num_process: must be 1; see Raises.
        compat: return just what Hugging Face `evaluate` returns, such as the bare number of "wer".
        options: defaults of `compute`, such as average="macro".

    Raises:
        ValueError: no such module or config; or `num_process` above 1: states of several processes merge in memory
            (`state` in each, then `merge` and `result`), without files.
    """
    if num_process != 1:
        raise ValueError(
            "num_process above 1 is not needed: call module.state(...) in each process, "
            "merge the states with module.merge and pass the whole to module.result"
        )
    return registry.find_module(path, module_type)(config_name, compat=compat, **options)


def list_evaluation_modules(
    module_type: str | None = None, include_community: bool = True, with_details: bool = False
) -> list[Any]:
    """Return names of all modules, including those of installed packages, or dictionaries of name, type and community.

    `with_details` gives the dictionaries (with `likes`, always 0, for existing code). Raises ValueError for an
    unknown `module_type`.
    """
    if module_type not in (None, *registry.FOLDERS.values()):
        raise ValueError(f"no kind {module_type!r}; there are {', '.join(registry.FOLDERS.values())}")
    modules = [(kind, name, False) for kind, name in registry.builtin_modules()]
    if include_community:
        modules += [(kind, name, True) for kind, name in registry.plugin_modules()]
    chosen = [entry for entry in modules if module_type in (None, entry[0])]
    if not with_details:
        return [name for _, name, _ in chosen]
    return [{"name": name, "type": kind, "community": community, "likes": 0} for kind, name, community in chosen]


def inspect_evaluation_module(path: str, local_path: str, download_config: Any = None, **download_kwargs: Any) -> None:
    """Copy the module's Python file, and the cards of the modules in it, into the folder `local_path`.

    `download_config` and `download_kwargs` are accepted for existing code; nothing is downloaded.
    """
    import inspect

    module = registry.find_module(path)
    source = inspect.getsourcefile(module)
    assert source is not None
    cards = {card_path(cls) for cls in registry.classes_in(sys.modules[module.__module__])}
    Path(local_path).mkdir(parents=True, exist_ok=True)
    for file in (Path(source), *cards):
        if file is not None and file.is_file():
            shutil.copy(file, local_path)


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
