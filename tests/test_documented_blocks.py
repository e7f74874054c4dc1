"""The shell and Python blocks of the README and the tutorials, run as they stand beside a platform with the demo.

A block that another test runs, or that installs what CI installs, says so in the line before it:
`<!-- run by PATH and PATH -->`. A block with a title is a file of the reader's.
"""

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.running import operate, platform
from dynabench.client import Client
from tests.small_demo import prepare_home

ROOT = Path(__file__).parent.parent
PAGES = ["docs/tutorial/first-round.md", "README.md"]
ALL_PAGES = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs/tutorial").glob("*.md")))]
BLOCK = re.compile(
    r"^(?:<!-- run by (?P<elsewhere>[^>]*) -->\n)?```(?P<kind>sh|python)(?P<title> title=\S+)?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
FENCE = re.compile(r"(?P<before>[ \t>]*(?:[-*+]|\d+[.)])?[ \t]*)(?P<marks>`{3,}|~{3,})[ \t]*(?P<kind>[^\s`]*)[^`]*")
INERT = {"csv", "html", "json", "text", "toml", "yaml"}
"""Kinds of blocks that nobody runs."""
READER = ("YOURNAME", "olga", "four random words here")

# Files and variables that the pages take for granted: a reader has data and a config of their own.
ROWS = [("A film to remember.", "positive"), ("I want my evening back.", "negative")] * 20
FILES = {
    "rows.jsonl": "".join(json.dumps({"statement": text, "label": label}) + "\n" for text, label in ROWS),
    "films.csv": "statement,label\n" + "".join(f"{text} No. {n},{label}\n" for n, (text, label) in enumerate(ROWS)),
    "mine.yaml": """id: mine
name: My task
input: {name: statement, type: text}
answer: {name: label, type: choice, options: [positive, neutral, negative]}
""",
    "OLD.yaml": """context:
  - name: context
    type: string
input:
  - name: statement
    type: string
  - name: label
    type: multiclass
    labels: [positive, negative]
    as_goal_message: true
output:
  - name: label
  - name: prob
    type: prob
    reference_name: label
model_wrong_metric:
  type: exact_match
  constructor_args:
    reference_names: [label]
perf_metric:
  type: macro_f1
  reference_name: label
""",
}
VARIABLES = """
gold = ["yes", "no", "no", "yes", "no", "yes"] * 5
predictions, old, new = gold[1:] + gold[:1], gold[2:] + gold[:2], gold[:]
"""


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    kind: str
    text: str
    elsewhere: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str) -> list[Block]:
    """The blocks of a page that are commands or programs, in its order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(page, text[: match.start("text")].count("\n"), match["kind"], match["text"], match["elsewhere"] or "")
        for match in BLOCK.finditer(text)
        if not match["title"]
    ]


def unseen(text: str) -> list[str]:
    """The first lines of the blocks that somebody may run, or whose kind is not said, and that `BLOCK` does not see."""
    seen = {text.rfind("\n", 0, match.start("text") - 1) + 1 for match in BLOCK.finditer(text)}
    result, marks, place = [], "", 0
    for line in text.splitlines(keepends=True):
        fence = FENCE.fullmatch(line.rstrip("\n"))
        if marks and fence and fence["marks"].startswith(marks) and not fence["kind"]:
            marks = ""
        elif fence and not marks:
            marks = fence["marks"]
            if fence["kind"] not in INERT and place not in seen:
                result.append(line.strip())
        place += len(line)
    return result


def to_run() -> list[Block]:
    return [block for page in PAGES for block in blocks(page) if not block.elsewhere]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A reader's folder beside a platform with the demo: its address, the reader's token, the files above."""
    folder = tmp_path_factory.mktemp("reader")
    home = folder / ".dynabench"
    home.mkdir()
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/dynabench").symlink_to(Path(sys.executable).parent / "dynabench")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    prepare_home(home)
    with platform(home) as address, Client(address) as client:
        until = time.monotonic() + 300
        while client.http.get("/readyz").status_code != 200:
            assert time.monotonic() < until, client.http.get("/readyz").text
            time.sleep(1)
        client.register(READER[1], "olga@example.org", READER[2])
        token = client.log_in(READER[1], READER[2])
        operate(home, "user", "promote", READER[1], "--admin")
        env = os.environ | {
            "DYNABENCH_HOME": str(home),
            "DYNABENCH_URL": address,
            "DYNABENCH_TOKEN": token,
            "PATH": f"{folder / '.venv/bin'}{os.pathsep}{os.environ['PATH']}",
        }
        yield folder, address, env


@pytest.mark.release
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("documented_blocks")
@pytest.mark.parametrize("block", to_run(), ids=str)
def test_a_block_runs_as_it_stands(block, place):
    folder, address, env = place
    text = block.text.replace("http://127.0.0.1:8000", address).replace(READER[0], READER[1])
    shell = block.kind == "sh"
    command = ["bash", "-euo", "pipefail", "-c", text] if shell else [sys.executable, "-c", VARIABLES + text]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{block}\n{text}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def test_a_block_that_would_go_unnoticed_is_seen():
    assert unseen("```sh\nls\n```\n<!-- run by a.py -->\n```python title=a.py\npass\n```\n```yaml\na: 1\n```\n") == []
    wrong = [
        *("```bash\nls\n```", "```console\n$ ls\n```", "```\nls\n```", "~~~sh\nls\n~~~", "````sh\nls\n````"),
        *("  ```sh\n  ls\n  ```", "- ```python\n  pass\n  ```", "```sh linenums=1\nls\n```", "``` {.sh}\nls\n```"),
    ]
    for text in wrong:
        assert unseen(f"Text.\n\n{text}\n\n```sh\nls\n```\n") == [text.splitlines()[0].strip()]


@pytest.mark.parametrize("page", ALL_PAGES)
def test_no_block_of_a_page_goes_unnoticed(page):
    assert unseen((ROOT / page).read_text(encoding="utf-8")) == []


def test_every_block_is_run_here_or_by_files_that_are_there():
    for page in ALL_PAGES:
        for block in blocks(page):
            assert page in PAGES or block.elsewhere, f"{block} is not run"
            for path in filter(None, block.elsewhere.split(" and ")):
                assert (ROOT / path).exists(), f"{block} names {path}"
    assert len(to_run()) >= 9
