"""Bubblewrap's command for code that nobody has read: no network, no other process, of the files only Python.

Source: bubblewrap, https://github.com/containers/bubblewrap, and its manual page bwrap(1).
"""

import os
import shutil
import sys
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime")
OWN = ("--proc", "/proc", "--dev", "/dev")
NOBODY = 65534


def places() -> list[str]:
    """Folders and files that hold the interpreter of this process and all libraries that it can import."""
    python = (sys.base_prefix, sys.prefix, str(Path(sys.executable).resolve().parents[1]))
    return list(dict.fromkeys((*SYSTEM, *python)))


def command(*scratch: str) -> tuple[str, ...] | None:
    """How the command begins, or None without bubblewrap: what is left behind, what can be read.

    `scratch` are the options that make a /tmp to write; they come before what can be read, since an environment of
    Python may lie below /tmp itself. Further options follow, and then Python's command. Started by root the process
    begins as root, without a user namespace, for in one it would stay root and have no limit of processes: it must
    leave root itself.
    """
    found = shutil.which("bwrap")
    if found is None:
        return None
    above = dict.fromkeys(str(folder) for place in places() for folder in reversed(Path(place).parents[:-1]))
    passed = [part for folder in above for part in ("--perms", "0755", "--dir", folder)]  # else for root alone
    shown = [part for place in places() for part in ("--ro-bind-try", place, place)]
    apart = "--unshare-net --unshare-pid --unshare-ipc --unshare-uts" if os.getuid() == 0 else "--unshare-all"
    return (found, *apart.split(), "--die-with-parent", "--new-session", *scratch, *passed, *shown, *OWN)
