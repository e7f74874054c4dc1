"""Checks that roles and states are compared by their enums, and that one file decides by them: part of `make check`.

A literal such as "owner" or "open" is refused where a role, a state, the review of flags or the source of an example
is compared with it, looked up among such words, matched, assigned, or asked for in a statement of the database. The
words are those of the package's enums called `...Role`, `...State`, `...Review` and `...Source`. `.admin` is refused
outside `people/may.py` and the few files of `ADMIN_FILES`. In templates such literals and `.admin` are refused; a
template asks for `request.state.actions`, and for a state by a test: `{% if round is open %}`.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = "src/dynabench"
KINDS = {"role": "Role", "state": "State", "review": "Review", "source": "Source"}
"""The names that are looked at, with the ends of the names of their enums."""
LOOKUPS = frozenset({"in_", "not_in", "notin_"})
ADMIN_FILES = ("site/admin/", "accounts/", "people/", "cli/user.py", "web/templates/layout.html")
"""The column and its dependency, the decisions, the lists of accounts for operators and admins, and the menu."""
CLIENT_FILES = ("adversaries/remote_tasks.py",)
"""Files that read the JSON of another platform, below the levels at which the enums are defined."""
TEMPLATE_LITERAL = re.compile(
    r"""\b(role|state|review|source)\b["'\])]*(?:\|\w+(?:\([^)]*\))?)*\s*(?:==|!=|not in|in)\s*[(\[]?\s*["'](\w+)["']"""
)
TEMPLATE_REMEDIES = {
    "role": "ask for an action in `request.state.actions`",
    "state": "ask with a test such as `round is open`",
    "review": "pass a boolean",
    "source": "pass a boolean",
}
TEMPLATE_ADMIN = re.compile(r"\.admin\b")
Fault = tuple[int, str]  # line, message
Words = Mapping[str, frozenset[str]]


def enum_words(root: Path) -> Words:
    """Return the words of the package's enums by what they say: `role`, `state`, `review` and `source`."""
    words: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "StrEnum" for base in node.bases):
                for kind, end in KINDS.items():
                    if node.name.endswith(end):
                        members = [line.value for line in node.body if isinstance(line, ast.Assign)]
                        words[kind] |= {text for member in members for text in _texts(member, {})}
    return {kind: frozenset(texts) for kind, texts in words.items()}


def literal_faults(source: str, words: Words) -> Iterator[Fault]:
    """Yield where the text of a module uses a literal role or state in place of an enum's member."""
    tree = ast.parse(source)
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        for kind, values in _comparisons(node):
            for text in sorted({text for value in values for text in _texts(value, constants)} & words[kind]):
                yield node.lineno, f"the {kind} {text!r} is a literal: use its enum"


def _comparisons(node: ast.AST) -> Iterator[tuple[str, list[ast.expr]]]:
    match node:
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
            for kind in {kind for side in sides if (kind := _kind(side))}:
                yield kind, [side for side in sides if _kind(side) != kind]
        case ast.Call(func=ast.Attribute(attr=attr, value=column), args=args) if attr in LOOKUPS and (
            kind := _kind(column)
        ):
            yield kind, args
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                if keyword.arg in KINDS and isinstance(node.func, ast.Attribute) and node.func.attr == "filter_by":
                    yield keyword.arg, [keyword.value]
        case ast.Match(subject=subject, cases=cases) if kind := _kind(subject):
            yield kind, [value.value for case in cases for value in ast.walk(case.pattern) if _is_value(value)]
        case ast.Assign(targets=[ast.Attribute(attr=attr)], value=value) if attr in KINDS:
            yield attr, [value]


def _is_value(node: ast.AST) -> bool:
    return isinstance(node, ast.MatchValue)


def _kind(node: ast.expr) -> str | None:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Subscript(slice=ast.Constant(value=name)):
            return name if name in KINDS else None
        case ast.Call(func=function):
            return _kind(function)
    return None


def _texts(node: object, constants: Mapping[str, ast.expr]) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            for part in parts:
                yield from _texts(part, constants)
        case ast.Starred(value=value):
            yield from _texts(value, constants)
        case ast.IfExp(body=first, orelse=second):
            yield from _texts(first, constants)
            yield from _texts(second, constants)
        case ast.Name(id=name) if name in constants:
            yield from _texts(constants[name], {})


def admin_faults(source: str) -> Iterator[Fault]:
    """Yield where the text of a module reads whether a person is an administrator."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr == "admin":
            yield node.lineno, "`.admin` is read outside people/may.py: ask `may` for an action"


def template_faults(source: str, words: Words, admin: bool) -> Iterator[Fault]:
    """Yield where a template compares with a literal of one of `KINDS`, or (but with `admin`) reads `.admin`."""
    for number, line in enumerate(source.splitlines(), 1):
        for kind, text in TEMPLATE_LITERAL.findall(line):
            if text in words[kind]:
                yield number, f"the {kind} {text!r} is a literal: {TEMPLATE_REMEDIES[kind]}"
        if not admin and TEMPLATE_ADMIN.search(line):
            yield number, "`.admin` is read in a template: ask for an action in `request.state.actions`"


def examine(root: Path) -> list[str]:
    """Return a message for each fault of the package."""
    words, messages = enum_words(root), []
    for path in sorted((root / PACKAGE).rglob("*.py")) + sorted((root / PACKAGE).rglob("*.html")):
        name, source = path.relative_to(root / PACKAGE).as_posix(), path.read_text(encoding="utf-8")
        admin = name.startswith(ADMIN_FILES)
        if path.suffix == ".html":
            faults = list(template_faults(source, words, admin))
        elif name.startswith("migrations/") or name in CLIENT_FILES:
            continue
        else:
            faults = list(literal_faults(source, words)) + ([] if admin else list(admin_faults(source)))
        messages += [f"{PACKAGE}/{name}:{line}: {message}" for line, message in faults]
    return messages


def main() -> int:
    """Print the faults and return 1, or 0 where there are none."""
    messages = examine(ROOT)
    print("\n".join(messages) or "Literals: roles, states, reviews and sources are compared by their enums.")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
