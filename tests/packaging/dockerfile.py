"""A Dockerfile's own lines, read and replayed in a folder, without a container engine."""

import fnmatch
import os
import re
import shutil
import subprocess
import venv
from dataclasses import dataclass, field
from pathlib import Path

SYSTEM = ("apt-get", "useradd", "install")
"""Programs that change the machine: in a replay they do nothing."""
ROOTS = ("tmp", "wheels", "src", "var")
"""First parts of the absolute paths that the lines may name; a replay puts them below its folder."""


@dataclass
class Stage:
    """One stage of an image: its name and its instructions in order, as (keyword, text)."""

    name: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def texts(self, keyword: str) -> list[str]:
        """The texts of all instructions with this keyword."""
        return [text for result, text in self.instructions if result == keyword]

    def packages(self) -> set[str]:
        """The packages of the system that its lines install."""
        lines = re.findall(r"apt-get install ([^&]*)", " ".join(self.texts("RUN")))
        return {word for line in lines for word in line.split() if not word.startswith("-")}


def read_stages(path: Path) -> list[Stage]:
    """Read a Dockerfile; continued lines are joined and comments left out."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    stages: list[Stage] = []
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        if not line.strip():
            continue
        keyword, _, text = line.partition(" ")
        if keyword == "FROM":
            stages.append(Stage(text.partition(" AS ")[2]))
        else:
            stages[-1].instructions.append((keyword, text))
    return stages


class Replay:
    """The stages of a Dockerfile, run one after another, each with an environment and a folder for `/` of its own."""

    def __init__(self, path: Path, context: Path, folder: Path, arguments: dict[str, str]) -> None:
        self.context, self.folder, self.arguments = context, folder, arguments
        self.ignored = (context / ".dockerignore").read_text(encoding="utf-8").split()
        self.system = folder / "system"
        self.system.mkdir()
        for program in SYSTEM:
            (self.system / program).write_text("#!/bin/sh\n")
            (self.system / program).chmod(0o755)
        self.stages = read_stages(path)
        for index, stage in enumerate(self.stages):
            self._run(stage, folder / (stage.name or str(index)))

    def ignore(self, folder: str, names: list[str]) -> set[str]:
        """Return the names that `.dockerignore` leaves out; a pattern without `**/` is for the root alone."""
        root = Path(folder) == self.context
        patterns = [pattern.removeprefix("**/") for pattern in self.ignored if root or pattern.startswith("**/")]
        return {name for pattern in patterns for name in fnmatch.filter(names, pattern)}

    @property
    def programs(self) -> Path:
        """Return the folder of programs of the last stage's environment."""
        return self.folder / str(len(self.stages) - 1) / "venv" / "bin"

    def _run(self, stage: Stage, root: Path) -> None:
        venv.create(root / "venv", with_pip=True)
        stored = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "DYNABENCH"))}
        path = f"{root / 'venv/bin'}:{self.system}:{os.environ['PATH']}"
        env = stored | {"PATH": path, "PIP_NO_COMPILE": "1"}
        here = root
        for keyword, text in stage.instructions:
            if keyword == "WORKDIR":
                here = Path(self._below(text, root))
                here.mkdir(parents=True)
            elif keyword == "ARG":
                name, _, default = text.partition("=")
                env[name] = self.arguments.get(name, default.strip('"'))
            elif keyword == "COPY":
                self._copy(text, root, here)
            elif keyword == "RUN":
                subprocess.run(["sh", "-c", self._below(text, root)], cwd=here, env=env, check=True)

    def _copy(self, text: str, root: Path, here: Path) -> None:
        *words, target = text.split()
        origin = self.context
        if words[0].startswith("--from="):
            origin = self.folder / words.pop(0).removeprefix("--from=")
        place = Path(self._below(target, root)) if target.startswith("/") else here / target
        for word in words:
            source = origin / word.lstrip("/")
            if source.is_dir():
                ignore = self.ignore if origin == self.context else None
                shutil.copytree(source, place, symlinks=True, dirs_exist_ok=True, ignore=ignore)
            else:
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, place)

    def _below(self, text: str, root: Path) -> str:
        """The text with its absolute paths below `root`; refuses one that would reach the machine's own files."""
        result = re.sub(rf"(?<![\w.$/*-])/({'|'.join(ROOTS)})\b", rf"{root}/\1", text)
        for path in re.findall(r"(?<![\w.$*/-])/\w\S*", result):
            assert path.startswith(f"{root}/"), f"{path} in {text!r}"
        return result
