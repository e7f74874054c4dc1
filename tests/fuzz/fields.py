"""Random fields of a config: every type, with keys of its own that it takes."""

from random import Random
from typing import Any

WORDS = "river stone amber quiet lantern north winter maple signal garden copper harbour über naïve 東京 سلام".split()
TAGS = ["", "en", "pt-BR", "ar", "he", "ja", "zh-Hant"]
SIMPLE = ("text", "comment", "choice", "multi_choice", "tree_choice", "ranking", "yes_no", "number", "slider")
SIMPLE += ("sliders", "rating", "consent")
MEDIA = ("image", "audio", "file")
ABOUT_TEXT = ("spans", "labelled_spans", "edit")
TYPES = (*SIMPLE, *MEDIA, *ABOUT_TEXT, "image_region", "comparison", "group", "group", "chat")


def words(rng: Random, least: int = 1, most: int = 5) -> str:
    """A line of words."""
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(least, most)))


def maybe(rng: Random, share: float = 0.4) -> bool:
    """True in a share of cases."""
    return rng.random() < share


def options(rng: Random, least: int = 2, most: int = 6, start: str = "o") -> list[Any]:
    """Options as texts and as mappings, all different."""
    created: list[Any] = []
    for number in range(rng.randint(least, most)):
        value = rng.choice(
            [f"{start}{number}", f"{start} {number}", f"{start.upper()}-{number}.", f"選{start}{number}"]
        )
        if maybe(rng):
            created.append({"value": value, "label": words(rng), "description": words(rng)})
        else:
            created.append(value)
    return created


def tree(rng: Random, depth: int = 0, start: str = "t") -> list[Any]:
    """A tree of options."""
    created: list[Any] = []
    for number in range(rng.randint(2, 3)):
        value = f"{start}{number}"
        if depth < 2 and maybe(rng):
            created.append({"value": value, "label": words(rng), "children": tree(rng, depth + 1, value)})
        else:
            created.append(value)
    return created


def _text(rng: Random) -> dict[str, Any]:
    created: dict[str, Any] = {}
    if maybe(rng):
        created["min_length"] = rng.randint(1, 8)
    if maybe(rng):
        created["max_length"] = rng.randint(60, 4000)
    if maybe(rng):
        created |= {"language": rng.choice(TAGS), "direction": rng.choice(["auto", "ltr", "rtl"])}
    return created | ({"multiline": maybe(rng)} if maybe(rng) else {})


def _number(rng: Random) -> dict[str, Any]:
    low = rng.choice([-5, 0, 0.5, 10])
    created = {"min": low, "max": low + rng.choice([1, 7, 1000])} if maybe(rng, 0.7) else {}
    return created | ({"integer": True} if maybe(rng) else {}) | ({"tolerance": 0.5} if maybe(rng) else {})


def _slider(rng: Random) -> dict[str, Any]:
    created: dict[str, Any] = {"min": rng.choice([-10, 0, 0.5]), "max": rng.choice([5, 10.5, 100])}
    created["step"] = rng.choice([0.25, 0.5, 1, 2, 3])
    if maybe(rng):
        created["start"] = created["min"] + created["step"]
    return created | ({"low": words(rng), "high": words(rng)} if maybe(rng) else {})


def _chat(rng: Random) -> dict[str, Any]:
    created: dict[str, Any] = {
        "min_turns": rng.randint(1, 2),
        "max_turns": rng.randint(2, 6),
        "rate": rng.choice([0, 5]),
    }
    return created | ({"tie": False, "system": words(rng)} if maybe(rng) else {})


def _yes_no(rng: Random) -> dict[str, Any]:
    return {"reason": rng.choice(["never", "optional", "required"])} | (
        {"reason_label": words(rng)} if maybe(rng) else {}
    )


def _multi(rng: Random) -> dict[str, Any]:
    offered = options(rng, 3)
    return {"options": offered} | ({"min": 2, "max": rng.randint(2, len(offered))} if maybe(rng) else {})


KEYS = {
    "text": _text,
    "comment": _text,
    "choice": lambda rng: {"options": options(rng)},
    "multi_choice": _multi,
    "tree_choice": lambda rng: {"options": tree(rng), "pick": rng.choice(["leaves", "any"])},
    "ranking": lambda rng: {"options": options(rng)} | ({"first": words(rng)} if maybe(rng) else {}),
    "yes_no": _yes_no,
    "number": _number,
    "slider": _slider,
    "sliders": lambda rng: {"options": options(rng), **_slider(rng)},
    "rating": lambda rng: rng.choice([{}, {"min": 0, "max": 10}, {"min": -3, "max": 3, "low": words(rng)}]),
    "consent": lambda rng: {"statement": words(rng, 3, 20)},
    "image": lambda rng: {"max_mb": 1.5} if maybe(rng) else {},
    "audio": lambda rng: {"record": maybe(rng), "max_seconds": 5.0},
    "file": lambda rng: {"types": rng.sample(["text", "pdf", "png"], 3)},
    "spans": lambda rng: {"max_spans": rng.choice([1, 1, 3])},
    "labelled_spans": lambda rng: {"labels": options(rng, 1, 4, "l"), "overlap": maybe(rng)},
    "edit": lambda rng: {"unchanged": rng.choice(["refused", "allowed"])},
    "image_region": lambda rng: {"shape": rng.choice(["box", "point"]), "labels": rng.choice([[], ["sky", "sea"]])},
    "comparison": lambda rng: {"tie": maybe(rng), "all_bad": maybe(rng)},
    "chat": _chat,
}


def common(rng: Random) -> dict[str, Any]:
    """Keys that any field may have."""
    created: dict[str, Any] = {}
    for key in ("label", "help", "placeholder"):
        if maybe(rng, 0.3):
            created[key] = words(rng)
    return created
