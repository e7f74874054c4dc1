"""Checks names and docstrings against the rules of CONTRIBUTING.md: part of `make check`.

Three rules are held: no name is a bare participle or pronoun (`told`, `each`), no docstring begins with a question
word, and no public class name is used twice in the package. Breaches from before the rules are counted in
`scripts/names.json`, file by file; a count may fall, and never rises. `python scripts/names.py --update` writes lower
counts down.
"""

import ast
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
COUNTS = ROOT / "scripts" / "names.json"
FOLDERS = ("src/dynabench", "benchmarks", "experiments", "plugins", "scripts", "tests")
PACKAGE = "src/dynabench/"
COPIED = "src/dynabench/models/starting/handlers/"
"""Files that are copied into a new model's folder, where a handler is called `Model`."""
BARE = frozenset(
    "told said found made given shown kept known one each taken asked wanted read_ heard noted left there what who of "
    "them those these it this something somebody whoever thing things stuff".split()
)
ALLOWED_METHODS = frozenset({"of"})
"""A classmethod `of` that makes an object from another is a convention of the standard library's neighbours."""
OPENERS = frozenset("what who whose whom whether where when which whoever whatever that how".split())
Breach = tuple[str, int, str, str]  # rule, line, name, message


def breaches(source: str) -> Iterator[Breach]:
    """Yield what breaks a rule in the text of a module."""
    tree = ast.parse(source)
    yield from _bare_names(tree)
    yield from _openers(tree)


def _bare_names(tree: ast.AST) -> Iterator[Breach]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                names = [(node.name, "function")]
                if _is_classmethod(node) and node.name in ALLOWED_METHODS:
                    names = []
                arguments = node.args
                every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                names += [(argument.arg, "parameter") for argument in every]
            case ast.ClassDef():
                names = [(node.name, "class")]
            case ast.Name(ctx=ast.Store()):
                names = [(node.id, "variable")]
            case ast.Attribute(ctx=ast.Store()):
                names = [(node.attr, "attribute")]
            case _:
                continue
        for name, kind in names:
            if name.strip("_").lower() in BARE:
                yield "bare names", node.lineno, name, f"the {kind} `{name}` does not say what it is or does"


def _is_classmethod(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(name, ast.Name) and name.id == "classmethod" for name in node.decorator_list)


def _openers(tree: ast.AST) -> Iterator[Breach]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            words = (ast.get_docstring(node) or "").split(maxsplit=1)
            if words and words[0].strip(",.:;'`").lower() in OPENERS:
                name = getattr(node, "name", "the module")
                message = f"the docstring of {name} begins with {words[0]!r}, not with a verb or a noun phrase"
                yield "docstrings", getattr(node, "lineno", 1), name, message


def public_classes(source: str) -> list[tuple[str, int]]:
    """Return the public classes of a module with their lines."""
    return [
        (node.name, node.lineno)
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def files(root: Path) -> list[Path]:
    """Return all Python files that the rules are for."""
    return [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.py"))]


def examine(root: Path) -> tuple[dict[str, dict[str, int]], dict[tuple[str, str], list[str]]]:
    """Return how often each rule is broken, by rule and file (or class name), and the messages for each of them."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    messages: dict[tuple[str, str], list[str]] = defaultdict(list)
    places: dict[str, list[str]] = defaultdict(list)
    for path in files(root):
        name, source = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        for rule, line, _, message in breaches(source):
            counts[rule][name] += 1
            messages[rule, name].append(f"{name}:{line}: {message}")
        if name.startswith(PACKAGE) and not name.startswith(COPIED):
            for class_name, line in public_classes(source):
                places[class_name].append(f"{name}:{line}")
    for class_name, lines in places.items():
        if len(lines) > 1:
            counts["classes"][class_name] = len(lines)
            messages["classes", class_name] = [f"{line}: another class is called {class_name}" for line in lines]
    return {rule: dict(sorted(counted.items())) for rule, counted in sorted(counts.items())}, messages


def rises(counts: dict[str, dict[str, int]], allowed: dict[str, dict[str, int]]) -> list[tuple[str, str]]:
    """Return the rules and files in which a rule is broken more often than is allowed."""
    return [
        (rule, name)
        for rule, counted in counts.items()
        for name, count in counted.items()
        if count > allowed.get(rule, {}).get(name, 0)
    ]


def main(update: bool) -> int:
    """Print what breaks a rule anew and return 1, or 0; with `update` write lower counts down."""
    counts, messages = examine(ROOT)
    allowed = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.exists() else counts
    risen = rises(counts, allowed)
    for rule, name in risen:
        count = allowed.get(rule, {}).get(name, 0)
        print(f"{rule}: {name}: {counts[rule][name]}, of {count} that were there before", file=sys.stderr)
        for message in messages[rule, name]:
            print(f"  {message}", file=sys.stderr)
    if update and not risen:
        COUNTS.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    total = {rule: sum(counted.values()) for rule, counted in counts.items()}
    print("Names: " + ", ".join(f"{count:,} {rule}" for rule, count in total.items()) + " to be mended.")
    return 1 if risen else 0


if __name__ == "__main__":
    sys.exit(main("--update" in sys.argv[1:]))
