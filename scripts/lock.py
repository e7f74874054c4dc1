"""Write requirements/*.txt: the versions in this environment of everything that the extras need, and nothing else."""

import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dynabench.kit.distributions import LIBRARY, PLATFORM, PLUGINS, WEIGHTS

ROOT = Path(__file__).parent.parent
LOCKS = {
    "run": ["metrics", "models", "encoder", "photographs", "adversaries", "onnx"],
    "test": ["test", "docs", "ray", "samples", "mturk"],
}
OURS = {LIBRARY, PLATFORM, WEIGHTS}
LEFT_OUT = {"sentence-transformers", "llama-cpp-python", "llm"}  # declared by packages of weights, for code not called


def closure(requirements: list[str]) -> dict[str, str]:
    """Name -> version of the requirements and of all that they need here."""
    result: dict[str, str] = {}
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        extras = requirement.extras or {""}
        if name in OURS | LEFT_OUT or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        entries = distribution(name)
        if name in result and not requirement.extras:
            continue
        result[name] = entries.version.split("+")[0]
        for text in entries.requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                needed.marker = None
                waiting.append(needed)
    return result


def main() -> None:
    """Write one file per lock; the test lock leaves out what the run lock has."""
    library = tomllib.loads((ROOT / "pyproject.toml").read_text())
    platform = tomllib.loads((ROOT / "distributions" / "platform" / "pyproject.toml").read_text())
    projects = [library["project"], platform["project"]]
    always = [text for project in projects for text in project["dependencies"]] + library["build-system"]["requires"]
    extras = {name: texts for project in projects for name, texts in project["optional-dependencies"].items()}
    for name in PLUGINS:
        plugin = tomllib.loads((ROOT / "plugins" / name / "pyproject.toml").read_text())
        extras[name] = plugin["project"]["dependencies"]
    seen: dict[str, str] = {}
    for lock, names in LOCKS.items():
        options = always + [text for name in names for text in extras[name]]
        new = {name: version for name, version in sorted(closure(options).items()) if name not in seen}
        (ROOT / "requirements" / f"{lock}.txt").write_text(
            "".join(f"{name}=={version}\n" for name, version in new.items())
        )
        seen |= new


if __name__ == "__main__":
    main()
