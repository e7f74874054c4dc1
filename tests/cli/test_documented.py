"""The commands that the README and the documentation name: each is one that the program has, with such options."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from dynabench.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```", re.S | re.M)
SHELL = ("sh", "bash", "console", "text", "")
INLINE = re.compile(r"`(dynabench [^`]+)`")
ENDS = {"&&", "|", ">", "<", "&", ";"}


def words(line: str) -> list[list[str]]:
    """The words behind each `dynabench` that a line of the shell runs."""
    lexer = shlex.shlex(re.sub(r"\s#.*", "", line), posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    result: list[list[str]] = []
    starts = True
    for word in lexer:
        if word in ENDS:
            starts = True
        elif starts:
            if word.rpartition("/")[2] == "dynabench":
                result.append([])
            starts = "=" in word or word == "$"
            running = not starts and word.rpartition("/")[2] == "dynabench"
        elif running:
            result[-1].append(word)
    return result


def documented(page: Path) -> list[tuple[list[str], bool]]:
    """Words, and whether all of the arguments stand there, as they must where a whole line is shown."""
    result = []
    text = page.read_text(encoding="utf-8")
    for block in (item for kind, item in FENCE.findall(text) if kind in SHELL):
        for line in re.sub(r"\\\n", " ", block).splitlines():
            if re.search(r"(^|[ /])dynabench ", line) and "git clone" not in line:
                result += [(word, True) for word in words(line)]
    for match in INLINE.findall(FENCE.sub("", text)):
        result += [(element, False) for element in words(" ".join(match.split()))]
    return result


@pytest.mark.parametrize("page", list(filter(documented, PAGES)), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_documented_command_is_one_that_there_is(page: Path):
    for values, whole in documented(page):
        check_command(values, whole)


def check_command(words: list[str], whole: bool) -> None:
    command = get_command(app)
    line = shlex.join(words)
    context = command.context_class(command, info_name="dynabench")
    while hasattr(command, "resolve_command") and words and not words[0].startswith("-"):
        name, command, words = command.resolve_command(context, words)
        context = command.context_class(command, info_name=name, parent=context)
    if hasattr(command, "resolve_command"):
        assert not whole or words, f"{line}: which command of {context.command_path}?"
    takes = {opt for option in command.params if not getattr(option, "is_flag", True) for opt in option.opts}
    value = ["1"] if not whole and words and words[-1] in takes else []  # prose need not say which
    options, rest, _ = command.make_parser(context).parse_args(args=[*words, *value])
    assert not rest, f"{line}: too many words for {command.get_usage(context)}"
    missing = [param.name for param in command.params if param.required and options.get(param.name) is None]
    assert not whole or "help" in options or not missing, f"{line}: {command.get_usage(context)}"


def test_the_pages_are_read():
    result = [item for page in PAGES for item in documented(page)]
    assert len(result) > 60
    assert any(whole for _, whole in result)
