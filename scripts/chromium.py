"""See that the browser tests have a Chromium: one that is installed, Debian's package, or Playwright's download."""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """Path of an installed Chromium, if there is one; `CHROMIUM` names one explicitly."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


def get() -> bool:
    """Install one; True when that worked."""
    ways = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if shutil.which("apt-get"):
        sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
        subprocess.run([*sudo, "apt-get", "update", "-qq"], check=False)
        ways.insert(
            0, [*sudo, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu"]
        )
    return any(subprocess.run(way, check=False).returncode == 0 for way in ways)


if __name__ == "__main__":
    if not find() and not get():
        sys.exit("No Chromium could be installed. Install one and set CHROMIUM to its path.")
