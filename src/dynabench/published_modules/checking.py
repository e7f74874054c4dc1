"""Checks of a module before it is published: its declaration, its examples, and properties that users rely on.

All of it runs in the sandbox, as the module will run for others.
"""

import ast
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dynabench.evaluate.card import CardExample, Output
from dynabench.evaluate.cards.card_text import decode_card, split_card
from dynabench.evaluate.cards.yaml_text import CardError, plain_values, same_values
from dynabench.evaluate.inputs import matches_expected
from dynabench.published_modules.manifest import KEY, ModuleManifest, check_module_name, check_result
from dynabench.published_modules.repositories import MOST_BYTES, MOST_FILES, README, read_folder
from dynabench.published_modules.sandboxed import ModuleFailed, SandboxedModule, describe_files, sandbox_module

SEED = 7
LICENCE = "license"


@dataclass
class CheckReport:
    """Findings of the checks: each a property and a sentence. `document` is the declaration that the code makes."""

    failures: list[tuple[str, str]] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    manifest: ModuleManifest | None = None
    document: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def add(self, name: str, failures: Sequence[str]) -> None:
        """Note what a check found."""
        if failures:
            self.failures += [(name, sentence) for sentence in failures]
        else:
            self.passed.append(name)


def check_folder(folder: Path) -> CheckReport:
    """Check the module in a folder and return the report. Raises ValueError where there is no sandbox here."""
    report = CheckReport(files=read_folder(folder))
    try:
        file = module_file(report.files, folder.resolve().name)
    except ValueError as error:
        report.add("files", [str(error)])
        return report
    report.add("files", list(_file_failures(report.files)))
    report.add("requirements", [f"{name} is not installed here" for name in missing_imports(report.files)])
    try:
        report.manifest, report.document = describe_files(report.files, file)
        check_module_name(report.manifest.name)
    except ValueError as error:
        report.add("declaration", [str(error)])
        return report
    order_matters, failures = _readme(report.files.get(README, b""), report.document)
    report.document |= {"order-matters": True} if order_matters else {}
    report.document["requires"] = required_packages(report.files)
    report.add("card", failures)
    with sandbox_module(report.manifest, report.files) as module:
        _check_behaviour(report, module, report.manifest, order_matters)
    return report


def module_file(files: Mapping[str, bytes], folder_name: str) -> str:
    """Return the Python file of the module: the folder's name, the declared one, or the only one at the top.

    Raises ValueError where none of them is there.
    """
    top = [path for path in files if path.endswith(".py") and "/" not in path]
    declared = _declared(files.get(README, b"")).get("file")
    for name in (declared, f"{folder_name}.py", top[0] if len(top) == 1 else None):
        if isinstance(name, str) and name in top:
            return name
    raise ValueError(
        f"the folder needs a Python file with the module, called {folder_name}.py, or one Python file alone; it has "
        f"{', '.join(top[:5]) or 'none'}"
    )


def _file_failures(files: Mapping[str, bytes]) -> Iterator[str]:
    if len(files) > MOST_FILES or sum(map(len, files.values())) > MOST_BYTES:
        yield f"a module has at most {MOST_FILES} files and {MOST_BYTES >> 20} MiB"
    for path, data in files.items():
        if path.endswith(".py"):
            try:
                ast.parse(data)
            except (SyntaxError, ValueError) as error:
                yield f"{path} is no Python: {error}"


def required_packages(files: Mapping[str, bytes]) -> list[str]:
    """Return the packages outside of Python's library and of this one that the files import, by name."""
    own = {path.partition("/")[0].removesuffix(".py") for path in files}
    skipped = {*sys.stdlib_module_names, *own, "dynabench"}
    sources = (data for path, data in files.items() if path.endswith(".py"))
    return sorted({name for data in sources for name in _imports(data)} - skipped)


def missing_imports(files: Mapping[str, bytes]) -> list[str]:
    """Return the packages that the files import and that are not installed, with the distributions they name."""
    installed = packages_distributions()
    return [name for name in required_packages(files) if name not in installed and find_spec(name) is None]


def _imports(source: bytes) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        yield from (name.partition(".")[0] for name in names if name)


def _declared(readme: bytes) -> dict[str, Any]:
    try:
        declared = plain_values(split_card(decode_card(readme)).metadata()).get(KEY)
    except CardError:
        return {}
    return declared if isinstance(declared, dict) else {}


def _readme(readme: bytes, document: Mapping[str, Any]) -> tuple[bool, list[str]]:
    """Return whether the order of rows matters, as the README.md says, and what is wrong with it."""
    try:
        card = split_card(decode_card(readme))
        metadata = plain_values(card.metadata())
    except CardError as error:
        return False, [str(error)]
    failures = [] if metadata.get(LICENCE) else ["README.md names no license in its metadata, such as license: mit"]
    body = card.tail if card.block is None else card.tail.partition("---")[2]
    if not body.strip():
        failures.append("README.md has no text that says what the module is for")
    declared = metadata.get(KEY)
    order_matters = isinstance(declared, dict) and declared.get("order-matters") is True
    if isinstance(declared, dict):
        declaration = {name: value for name, value in declared.items() if name not in ("order-matters", "requires")}
        if declaration and not same_values(dict(sorted(declaration.items())), dict(sorted(document.items()))):
            changed = sorted(name for name in {*declaration, *document} if declaration.get(name) != document.get(name))
            failures.append(
                f"README.md declares another module than the code ({', '.join(changed)}): publish renews it"
            )
    return order_matters, failures


def _check_behaviour(
    report: CheckReport, module: SandboxedModule, manifest: ModuleManifest, order_matters: bool
) -> None:
    examples = [example for example in manifest.card.examples if example.error is None]
    missing = [] if examples else ["the card has no example with a result"]
    try:
        report.add("examples", [*missing, *_example_failures(module, manifest)])
    except ModuleFailed as error:  # a module that hangs or ends would do so in every check
        report.add("examples", [str(error)])
        return
    checks = {"deterministic": _repeated, "bounds": _bounds, "direction": _direction, "merged batches": _merged}
    if not order_matters:
        checks["order of rows"] = _shuffled
    for name, check in checks.items():
        failures = []
        for example in examples:
            try:
                failures += [f"{example.title}: {failure}" for failure in check(module, manifest, example)]
            except ValueError as error:
                failures.append(f"{example.title}: {error}")
        report.add(name, list(dict.fromkeys(failures)))


def _compute(module: SandboxedModule, example: CardExample, columns: Mapping[str, Any] | None = None) -> dict[str, Any]:
    module.config_name = example.config or module.configs[0]
    result: dict[str, Any] = module.compute(**dict(columns or example.inputs), **dict(example.options))
    return result


def _example_failures(module: SandboxedModule, manifest: ModuleManifest) -> Iterator[str]:
    for example in manifest.card.examples:
        try:
            result = _compute(module, example)
        except ModuleFailed:
            raise
        except ValueError as error:
            if example.error is None or example.error not in str(error):
                yield f"{example.title}: {error}"
            continue
        if example.error is not None:
            yield f"{example.title}: it gives {_plain(result)} and no error"
        elif not matches_expected(result, dict(example.result)):
            yield f"{example.title}: it gives {_plain(result)}, the card says {_plain(dict(example.result))}"


def _repeated(module: SandboxedModule, _manifest: ModuleManifest, example: CardExample) -> Iterator[str]:
    """The same rows twice, the second time in a new process."""
    first = _compute(module, example)
    module.close_process()
    second = _compute(module, example)
    if not matches_expected(second, first):
        yield f"the same rows give {_plain(first)} and then {_plain(second)}; pass a seed to what draws numbers"


def _shuffled(module: SandboxedModule, _manifest: ModuleManifest, example: CardExample) -> Iterator[str]:
    """The same rows in another order."""
    first = _compute(module, example)
    for columns in _orders(example.inputs):
        second = _compute(module, example, columns)
        if not matches_expected(second, first):
            yield (
                f"the order of the rows changes {_plain(first)} to {_plain(second)}; if it should, write "
                f"order-matters: true below {KEY} in README.md"
            )
            return


def _orders(inputs: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    lengths = {len(values) for values in inputs.values()}
    if len(lengths) != 1:
        return
    rows = list(range(lengths.pop()))
    for order in (rows[::-1], random.Random(SEED).sample(rows, len(rows))):
        yield {name: [values[row] for row in order] for name, values in inputs.items()}


def _bounds(module: SandboxedModule, manifest: ModuleManifest, example: CardExample) -> Iterator[str]:
    """Parts of the rows: each result is within the declared range, which `compute` checks."""
    lengths = {len(values) for values in example.inputs.values()}
    sizes = {1, 2, max(lengths, default=0) // 2} if len(lengths) == 1 else set()
    for size in sorted(size for size in sizes if 0 < size < max(lengths)):
        for start in (0, max(lengths) - size):
            columns = {name: values[start : start + size] for name, values in example.inputs.items()}
            try:
                check_result(manifest, _compute(module, example, columns), size)
            except ValueError as error:
                if "its card says" in str(error) or "no finite number" in str(error):
                    yield f"rows {start} to {start + size - 1}: {error}"


def _direction(module: SandboxedModule, manifest: ModuleManifest, example: CardExample) -> Iterator[str]:
    """Predictions that equal the references: no worse than the example's in the better direction."""
    pairs = [pair for pair in (("predictions", "references"),) if all(name in example.inputs for name in pair)]
    for predictions, references in pairs:
        if manifest.takes[predictions] != manifest.takes[references]:
            continue
        perfect = {**example.inputs, predictions: example.inputs[references]}
        example_result, best_result = _compute(module, example), _compute(module, example, perfect)
        for output in manifest.card.outputs:
            if _is_worse(output, example_result.get(output.name), best_result.get(output.name)):
                yield (
                    f"{output.name} is better {output.better}, and predictions that equal the references give "
                    f"{best_result[output.name]:g}, the example's {example_result[output.name]:g}"
                )


def _is_worse(output: Output, example_score: object, best: object) -> bool:
    if not isinstance(example_score, int | float) or not isinstance(best, int | float):
        return False
    return (output.better == "higher" and best < example_score) or (output.better == "lower" and best > example_score)


def _merged(module: SandboxedModule, _manifest: ModuleManifest, example: CardExample) -> Iterator[str]:
    """Two halves that are merged: the result of all rows."""
    lengths = {len(values) for values in example.inputs.values()}
    if len(lengths) != 1 or max(lengths) < 2:
        return
    half = max(lengths) // 2
    parts = [{name: values[:half] for name, values in example.inputs.items()}]
    parts.append({name: values[half:] for name, values in example.inputs.items()})
    whole, merged = _compute(module, example), module.merged(parts, example.options)
    if not matches_expected(merged, whole):
        yield f"two batches that are merged give {_plain(merged)}, all rows {_plain(whole)}"


def _plain(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}..."
