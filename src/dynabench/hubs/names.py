"""Rules for the names of repositories, files, branches and tags: pure functions over texts."""

import re
from collections.abc import Iterable

from dynabench.kit.errors import Invalid
from dynabench.kit.language import _

REPOSITORY = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?")
NAMESPACE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{1,38}[A-Za-z0-9])")
RESERVED = frozenset("api datasets models spaces kernels metrics hub static new files uploads xet buckets".split())
"""Names of people that would read as parts of an address."""
BRANCH = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_./+-]{0,198}[A-Za-z0-9_+-])?")
REVISION = re.compile(r"[0-9a-f]{40}")
SHORT_REVISION = re.compile(r"[0-9a-f]{7,39}")
MOST_PATH_BYTES, MOST_PART_BYTES, DEEPEST = 1000, 255, 50


def check_repository_name(name: str) -> str:
    """Return the name of a repository; raises `Invalid`."""
    if not REPOSITORY.fullmatch(name) or "--" in name or ".." in name or name.endswith((".git", ".ipynb")):
        message = _("Use 1 to 96 letters, digits, dots, hyphens or underscores, without “--”, “..” or “.git”.")
        raise Invalid({"name": message})
    return name


def check_reference_name(name: str) -> str:
    """Return the name of a branch or a tag; raises `Invalid`. The rules are stricter than git's."""
    parts = name.split("/")
    plain = BRANCH.fullmatch(name) and ".." not in name and all(parts) and not REVISION.fullmatch(name)
    if not plain or name.startswith("refs/") or any(part.startswith(".") or part.endswith(".lock") for part in parts):
        raise Invalid({"name": _("This is no name of a branch or tag: use letters, digits, “-”, “_”, “.” and “/”.")})
    return name


def path_problem(path: str) -> str:
    """Return why a path cannot be a file of a repository, or an empty text."""
    parts = path.split("/")
    if not path or len(path.encode("utf-8", "replace")) > MOST_PATH_BYTES or len(parts) > DEEPEST:
        return _("A path has 1 to %(most)s bytes and at most %(n)s folders.", most=MOST_PATH_BYTES, n=DEEPEST)
    if any(part in ("", ".", "..") for part in parts):
        return _("A path is relative, without empty parts, “.” and “..”.")
    if "\\" in path or not path.isprintable():
        return _("A path contains no backslashes and no control characters.")
    if any(_is_git(part) or len(part.encode()) > MOST_PART_BYTES for part in parts):
        return _("A path contains no “.git” and no part of more than %(most)s bytes.", most=MOST_PART_BYTES)
    return ""


def _is_git(part: str) -> bool:
    plain = part.casefold().rstrip(" .")  # what file systems of other machines read as .git
    ignored = any(character in part for character in "\u200c\u200d\u2060\ufeff")
    return plain.partition(":")[0] in (".git", "git~1") or ignored


def check_path(path: str) -> str:
    """Return the path of a file in a repository; raises `Invalid`."""
    if problem := path_problem(path):
        raise Invalid({"path": f"{path[:200]!a}: {problem}"})
    return path


def check_collisions(paths: Iterable[str], changed: Iterable[str]) -> None:
    """Refuse paths that differ from others by case alone, or that are a file and a folder at once. Raises `Invalid`."""
    by_case: dict[str, str] = {}
    folders: dict[str, str] = {}
    every = list(paths)
    for path in every:
        by_case.setdefault(path.casefold(), path)
        parts = path.split("/")
        for end in range(1, len(parts)):
            folder = "/".join(parts[:end])
            if folders.setdefault(folder.casefold(), folder) != folder:
                raise Invalid({"path": _("Two folders differ by case alone: %(name)s.", name=ascii(folder[:200]))})
    for path in changed:
        if by_case.get(path.casefold(), path) != path or path.casefold() in folders:
            raise Invalid({"path": _("Another file has this path, or one like it: %(name)s.", name=ascii(path[:200]))})
    if both := by_case.keys() & folders.keys():
        raise Invalid({"path": _("This is a file and a folder: %(name)s.", name=ascii(min(both)[:200]))})
    if len(by_case) < len(every):
        raise Invalid({"path": _("Two files differ by case alone.")})
