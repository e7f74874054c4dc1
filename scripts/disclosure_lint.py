"""Checks that `dynabench/people/disclosure.py` alone decides by a visibility: part of `make check`.

Elsewhere in the package and its plug-ins no visibility of a dataset, a submission or a model is compared with a value,
looked up in a table, matched, or named in a condition of SQL; nor is one compared in a template, where a table of words
(`{"public": _("public")}[made.visibility]`) is allowed. Nor does any other file read whether a release withholds an
example (`.withheld`), or whether a dataset's kind is `secret`. `python scripts/disclosure_lint.py` lists the breaches.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("src/dynabench", "plugins", "experiments", "benchmarks")
DECIDES = "src/dynabench/people/disclosure.py"
SUFFIXES = frozenset({".py", ".html", ".txt"})
FLAGS = frozenset({"visibility"})
VALID_VALUES = frozenset({"VISIBILITIES"})
"""Names of the values that a form may send: a check of these decides nothing."""
CONDITIONS = frozenset("in_ not_in is_ is_not is_distinct_from is_not_distinct_from like ilike startswith".split())
SQL = re.compile(r"\bvisibility\s*(=|!=|<>|\bin\b\s*\(|\bnot in\b|\bis\b)", re.IGNORECASE)
TEMPLATE = re.compile(
    r"\bvisibility[\"'\])]*\s*(==|!=|\bin\b|\bnot in\b|\bis\b)|(==|!=)\s*[\w.]*\bvisibility\b"
    r"|(select|reject)attr\(\s*[\"']visibility"
)
WITHHELD = re.compile(r"\.withheld\b")
SECRET_KIND = "secret"
TEMPLATE_SECRET = re.compile(r"\bkind[\"'\])]*\s*(==|!=|\bin\b|\bnot in\b)[^%}]*[\"']secret[\"']")
Breach = tuple[int, str]  # line, message


def breaches(source: str) -> Iterator[Breach]:
    """Yield what decides by a visibility, a withheld example or a secret dataset in the text of a module."""
    tree = ast.parse(source)
    docstrings = {id(text) for text in _docstrings(tree)}
    for node in ast.walk(tree):
        match node:
            case ast.Compare() if _asks_for_secret_kind(node):
                yield node.lineno, "a dataset's kind is compared with `secret`"
            case ast.Attribute(attr="withheld", ctx=ast.Load()):
                yield node.lineno, "`.withheld` is read"
            case ast.Compare():
                sides = [node.left, *node.comparators]
                values = [side for side in sides if not _is_flag(side) and not _is_valid_values(side)]
                identity = all(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops)
                if values and len(values) < len(sides) and any(map(_is_flag, sides)) and not identity:
                    yield node.lineno, "a visibility is compared with a value"
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=arguments):
                if method in CONDITIONS and _is_flag(owner):
                    yield node.lineno, "a where-clause is made of a visibility"
                if method == "get" and isinstance(owner, ast.Dict) and any(map(_is_flag, arguments)):
                    yield node.lineno, "a visibility is looked up in a table"
            case ast.Subscript(value=ast.Dict(), slice=key) if _is_flag(key):
                yield node.lineno, "a visibility is looked up in a table"
            case ast.Match(subject=subject) if _is_flag(subject):
                yield node.lineno, "a visibility is matched"
            case ast.Constant(value=str(text)) if id(node) not in docstrings and SQL.search(text):
                yield node.lineno, "a visibility stands in a condition of SQL"
            case ast.Constant(value=str(text)) if id(node) not in docstrings and WITHHELD.search(text):
                yield node.lineno, "`.withheld` stands in SQL"


def _asks_for_secret_kind(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    asks = any(isinstance(side, ast.Attribute | ast.Name) and ast.unparse(side).endswith("kind") for side in sides)
    return asks and any(isinstance(part, ast.Constant) and part.value == SECRET_KIND for part in ast.walk(node))


def _is_flag(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name in FLAGS
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            return name in FLAGS
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return name in FLAGS
    return False


def _is_valid_values(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in VALID_VALUES
    return False


def _docstrings(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def template_breaches(source: str) -> Iterator[Breach]:
    """Yield the lines of a template that decide by a visibility, a withheld example or a secret dataset."""
    for number, line in enumerate(source.splitlines(), 1):
        if TEMPLATE.search(line):
            yield number, "a visibility is compared in a template"
        if WITHHELD.search(line):
            yield number, "`.withheld` is read in a template"
        if TEMPLATE_SECRET.search(line):
            yield number, "a dataset's kind is compared with `secret` in a template"


def examine(root: Path) -> list[str]:
    """Return what decides by a visibility anywhere below `root` but in the one place for it, with file and line."""
    messages = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if name == DECIDES or path.suffix not in SUFFIXES or not path.is_file():
                continue
            source = path.read_text(encoding="utf-8")
            broken = breaches(source) if path.suffix == ".py" else template_breaches(source)
            messages += [f"{name}:{line}: {message}" for line, message in broken]
    return messages


def main() -> int:
    """Print what decides by a visibility and return 1, or 0 where nothing does."""
    messages = examine(ROOT)
    for message in messages:
        print(f"{message}: ask dynabench.people.disclosure", file=sys.stderr)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
