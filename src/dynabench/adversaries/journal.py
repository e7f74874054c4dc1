"""What a run of a program against a platform has done so far, as lines of JSON, so that it resumes where it stopped."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynabench.errors import Invalid

Json = dict[str, Any]


@dataclass
class Journal:
    """A run's file. A proposal is written down before it is sent, so that after a crash it is sent once more under the
    same key, which the platform answers as the first time.

    `done` are the contexts that were worked on, `queries` and `cost` what they took.
    """

    path: Path
    done: int = 0
    queries: int = 0
    cost: float = 0.0
    sent: int = 0
    fooled: int = 0
    refused: int = 0
    seen: set[str] = field(default_factory=set)
    waiting: dict[str, Json] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, run: Json) -> "Journal":
        """The journal at `path`, a new one where there is none. Raises `Invalid` where it is another run's."""
        made = cls(path)
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        whole = [line for line in lines[:-1] if line.strip()]  # what follows the last line end was cut off by a crash
        if not whole:
            path.write_bytes(b"")
            made._write({"run": run})
            return made
        if lines[-1]:
            path.write_bytes(b"\n".join(lines[:-1]) + b"\n")
        try:
            known = [json.loads(line) for line in whole]
        except ValueError:
            raise Invalid({"journal": f"{path} is no journal of a run."}) from None
        if known[0] != {"run": run}:
            raise Invalid({"journal": f"{path} belongs to another run: {known[0].get('run')}. Name another file."})
        for line in known[1:]:
            made._count(line)
        return made

    def note(self, line: Json) -> None:
        """Write a line down and count it: `{taken, queries, cost}` for a context, with a `proposal` that is to be sent
        under its `key`; `{sent, fooled}` or `{refused, why}` for that key."""
        self._write(line)
        self._count(line)

    def _write(self, line: Json) -> None:
        with self.path.open("ab") as file:
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _count(self, line: Json) -> None:
        if "taken" in line:
            self.done += 1
            self.seen.add(line["taken"])
            self.queries += line["queries"]
            self.cost += line["cost"]
            if "proposal" in line:
                self.waiting[line["key"]] = line["proposal"]
        elif key := line.get("sent") or line.get("refused"):
            self.waiting.pop(key, None)
            self.sent += "sent" in line
            self.refused += "refused" in line
            self.fooled += line.get("fooled") is True
