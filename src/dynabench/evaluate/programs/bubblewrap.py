"""Bubblewrap's command for untrusted code: no network, no other process, of the files only Python.

Source: bubblewrap, https://github.com/containers/bubblewrap, and its manual page bwrap(1).
"""

import os
import shutil
import sys
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime")
OWN = ("--proc", "/proc", "--dev", "/dev")
NOBODY = 65534


def readable_paths() -> list[str]:
    """Folders and files that hold the interpreter of this process and all libraries that it can import."""
    python = (sys.base_prefix, sys.prefix, str(Path(sys.executable).resolve().parents[1]))
    return list(dict.fromkeys((*SYSTEM, *python)))


def bubblewrap_command(*scratch: str) -> tuple[str, ...] | None:
    """Return the beginning of the command, or None without bubblewrap: what is unshared, what can be read.

    `scratch` are the options that make a writable /tmp; they come before the readable paths, since an environment
    of Python may lie below /tmp itself. Further options follow, and then Python's command. Started by root the
    process begins as root, without a user namespace, for in one it would stay root and have no limit of
    processes: it must leave root itself.
    """
    executable = shutil.which("bwrap")
    if executable is None:
        return None
    above = dict.fromkeys(str(folder) for place in readable_paths() for folder in reversed(Path(place).parents[:-1]))
    folders = [part for folder in above for part in ("--perms", "0755", "--dir", folder)]  # else for root alone
    read_only = [part for place in readable_paths() for part in ("--ro-bind-try", place, place)]
    unshare = "--unshare-net --unshare-pid --unshare-ipc --unshare-uts" if os.getuid() == 0 else "--unshare-all"
    return (executable, *unshare.split(), "--die-with-parent", "--new-session", *scratch, *folders, *read_only, *OWN)
