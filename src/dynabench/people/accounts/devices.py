"""Names of browsers and devices from what a browser says of itself."""

from dynabench.kit.language import _

# What is looked for, in this order: nearly every browser also names those that it descends from.
BROWSERS = (
    ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("OPR/", "Opera"), ("Vivaldi/", "Vivaldi"),
    ("SamsungBrowser/", "Samsung Internet"), ("FxiOS/", "Firefox"), ("Firefox/", "Firefox"), ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"), ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"),
)  # fmt: skip
SYSTEMS = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("CrOS", "ChromeOS"), ("Windows", "Windows"),
    ("Mac OS X", "macOS"), ("Linux", "Linux"),
)  # fmt: skip


def device_name(user_agent: str) -> str:
    """Return the name of a browser and the system it runs on, such as “Firefox on Linux”."""
    browser = next((name for part, name in BROWSERS if part in user_agent), "")
    system = next((name for part, name in SYSTEMS if part in user_agent), "")
    if browser and system:
        return _("%(browser)s on %(system)s", browser=browser, system=system)
    return browser or system or _("Unknown device")
