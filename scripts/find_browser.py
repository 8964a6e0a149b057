"""Finds a Chromium, Chrome or Edge for the browser tests, or installs one, and prints its path.

Needs the standard library alone; installing by Playwright needs the development requirements.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "/opt/google/chrome/chrome",
    "/usr/lib/chromium/chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
PLAYWRIGHT_CACHES = (
    os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or "~/.cache/ms-playwright",
    "~/Library/Caches/ms-playwright",
    "~/AppData/Local/ms-playwright",
)
IN_CACHE = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    "chromium-*/chrome-win*/chrome.exe",
)
NO_BROWSER = "No Chromium, Chrome or Edge was found or could be installed: install one, or set CHROME_PATH to it."


def candidates() -> Iterator[Path]:
    """Where a browser may be, best first: CHROME_PATH, PATH, the usual places, Playwright's cache (newest first)."""
    if named := os.environ.get("CHROME_PATH"):
        yield Path(named)
    for name in NAMES:
        if found := shutil.which(name):
            yield Path(found)
    yield from map(Path, PLACES)
    for cache in PLAYWRIGHT_CACHES:
        for pattern in IN_CACHE:
            yield from sorted(Path(cache).expanduser().glob(pattern), reverse=True)


def starts(browser: Path) -> bool:
    """Whether it is a browser that runs; Ubuntu's `chromium-browser` can be a stub that only asks for snap."""
    if not browser.is_file():
        return False
    if sys.platform == "win32":  # there `--version` opens a window
        return True
    try:
        answer = subprocess.run([browser, "--version"], capture_output=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def find() -> Path | None:
    """The first browser that runs, or None."""
    return next(filter(starts, candidates()), None)


def install() -> Path | None:
    """Installs one by Playwright's installer, or by apt where we are root; what was installed, or None."""
    tries = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        tries += [["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]]
    for command in tries:
        try:
            subprocess.run(  # noqa: S603 - the two commands above
                command, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=600, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"{' '.join(command[:3])} failed: {error}", file=sys.stderr)
        if browser := find():
            return browser
    return None


def main(arguments: list[str]) -> int:
    """`find_browser.py [--install]`: prints the path; exit status 1 and the reason where there is none."""
    browser = find() or (install() if "--install" in arguments else None)
    if browser is None:
        print(NO_BROWSER, file=sys.stderr)
        return 1
    print(browser)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
