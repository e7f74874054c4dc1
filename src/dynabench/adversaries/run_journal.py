"""Keep a journal of a program's run, so that a killed run goes on where it stopped."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from dynabench.client import Json
from dynabench.kit.errors import Invalid


@dataclass
class Journal:
    """The file of a run.

    A proposal is written down before it is sent, so that after a crash it is sent once more under the same key, which
    the platform answers as the first time. `done` counts contexts, `queries` and `cost` are their sums.
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
    def open(cls, path: Path, run_facts: Json) -> "Journal":
        """Return the journal at `path`, a new one where there is none; raise `Invalid` for that of another run."""
        journal = cls(path)
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        whole = [line for line in lines[:-1] if line.strip()]  # text after the last line end was cut off by a crash
        if not whole:
            path.write_bytes(b"")
            journal._write({"run": run_facts})
            return journal
        if lines[-1]:
            path.write_bytes(b"\n".join(lines[:-1]) + b"\n")
        try:
            entries = [json.loads(line) for line in whole]
        except ValueError:
            raise Invalid({"journal": f"{path} is no journal of a run."}) from None
        if entries[0] != {"run": run_facts}:
            raise Invalid({"journal": f"{path} belongs to another run: {entries[0].get('run')}. Name another file."})
        for line in entries[1:]:
            journal._count(line)
        return journal

    def record(self, line: Json) -> None:
        """Write a line down and count it.

        A line is `{taken, queries, cost}` for a context, with a `proposal` to be sent under its `key`; `{sent, fooled}`
        or `{refused, why}` for that key.
        """
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
