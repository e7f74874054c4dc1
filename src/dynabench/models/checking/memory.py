"""How much memory a model takes, in this process and in those it started."""

from pathlib import Path


def resident(process: int | None = None) -> int | None:
    """Bytes of memory that a process, by default this one, and those it started hold now; None where the system does
    not tell."""
    proc = Path("/proc")
    if not (proc / "self/statm").is_file():
        return None
    parents: dict[int, list[int]] = {}
    for entry in proc.iterdir():
        if entry.name.isdigit() and (words := _stat(entry)):
            parents.setdefault(int(words[1]), []).append(int(entry.name))
    ours, waiting = 0, [process or int((proc / "self").resolve().name)]
    while waiting:
        number = waiting.pop()
        waiting += parents.get(number, [])
        ours += _pages(proc / str(number))
    return ours


def _stat(process: Path) -> list[str]:
    """State, parent and so on of a process, those after its name; empty when it has ended."""
    try:
        return (process / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _pages(process: Path) -> int:
    import resource

    try:
        return int((process / "statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0
