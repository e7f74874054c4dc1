"""See that tests have the programs that pip does not install: a Chromium for the pages, bubblewrap, and Apertium.

A Chromium is one that is installed, Debian's package, or Playwright's download; one without windows first, as it needs
two fifths less processor time. Without bubblewrap, in which handlers run, or Apertium, which translates, tests that
need it are skipped with the reason.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """Path of an installed Chromium, if there is one; `CHROMIUM` names one explicitly."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


def debian(*packages: str) -> bool:
    """Install packages of Debian and its like; True when that worked."""
    if not shutil.which("apt-get"):
        return False
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    try:
        subprocess.run([*sudo, "apt-get", "update", "-qq"], check=False)
        install = [*sudo, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
        return subprocess.run(install, check=False).returncode == 0
    except FileNotFoundError:  # no sudo
        return False


def download() -> bool:
    """Have Playwright fetch a Chromium; True when that worked."""
    return subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False).returncode == 0


if __name__ == "__main__":
    programs = (
        ("bubblewrap", shutil.which("bwrap")),
        ("Apertium", shutil.which("apertium")),
        ("Chromium", find()),
    )
    missing = [name for name, path in programs if not path]
    if missing:
        print(f"Installing what the tests need and this machine lacks: {', '.join(missing)}.", flush=True)
    if sys.platform == "linux" and not shutil.which("bwrap") and not debian("bubblewrap"):
        print("No bubblewrap could be installed; tests of handlers are skipped.")
    if sys.platform == "linux" and not shutil.which("apertium") and not debian("apertium-eng-spa"):
        print("No Apertium could be installed; tests of its translations are skipped.")
    if not find() and not any(debian(name, "fonts-dejavu") for name in NAMES[:2]) and not download():
        sys.exit("No Chromium could be installed. Install one and set CHROMIUM to its path.")
