"""A task with every field type of one value or one list in its context, input, answer, explanation and validation."""

import json
from typing import Any

FRUIT = [{"value": "a", "label": "Apples", "description": "Red or green."}, {"value": "b", "label": "Bananas"}]
FRUIT += [{"value": "c", "label": "Cherries"}, {"value": "d", "label": "Dates"}]
TREE = [
    {"value": "living", "label": "Living things", "children": [
        {"value": "animal", "label": "Animals", "children": ["Dog", "Cat"]}, "Plant"]},
    {"value": "stone", "label": "Stones"},
]  # fmt: skip
KINDS: dict[str, dict[str, Any]] = {
    "multi_choice": {"options": FRUIT, "min": 1, "max": 3},
    "tree_choice": {"options": TREE},
    "slider": {"low": "cold", "high": "hot", "max": 10},
    "sliders": {"options": [{"value": "joy", "label": "Joy"}, {"value": "fear", "label": "Fear"}], "max": 5},
    "rating": {"low": "poor", "high": "excellent"},
    "ranking": {"options": FRUIT, "first": "what you like best"},
    "consent": {"statement": "What you write here is published under CC-BY 4.0.", "label": "I agree"},
    "edit": {"of": "report"},
    "yes_no": {"reason": "required"},
    "text": {"language": "ar", "required": False},
    "comment": {},
}
CONTEXT = {
    "report": "Two hikers eat lunch on a bridge.",
    "context_multi_choice": ["a", "c"], "context_tree_choice": "Cat", "context_slider": 7,
    "context_sliders": {"joy": 4, "fear": 1}, "context_rating": 5, "context_ranking": ["d", "a", "c", "b"],
    "context_consent": True, "context_edit": "Three hikers eat lunch under a bridge.",
    "context_yes_no": {"value": True, "reason": "They sit."}, "context_text": "خبز وماء",
    "context_comment": "From a walk.",
}  # fmt: skip


def some(group: str, *but: str, **more: Any) -> list[dict[str, Any]]:
    """A field of each type for one part of the config."""
    title = group.capitalize()
    created = []
    for kind, keys in KINDS.items():
        label = f"{title}: {keys.get('label', kind.replace('_', ' '))}"
        created.append({"name": f"{group}_{kind}", "type": kind, **more, **keys, "label": label})
    return [field for field in created if field["type"] not in but]


def config(task: str, mode: str = "judge") -> str:
    """The task in JSON, which is YAML."""
    label = {"name": "label", "type": "choice", "options": ["positive", "neutral", "negative"]}
    answer = {
        "id": task, "name": "Every kind of field",
        "context": [{"name": "report", "type": "text", "language": "en"}, *some("context")],
        "input": [{"name": "statement", "type": "text"}, *some("input")],
        "answer": [label, *some("answer", "text", "comment")],
        "fooled": {"fields": ["label"]},
        "ask": some("ask"),
        "validate": {"mode": mode, "votes": 1, "also_not_fooled": True, "ask": some("check", when="incorrect")},
    }  # fmt: skip
    return json.dumps(answer, ensure_ascii=False)


def posted(group: str, part: str = "") -> dict[str, Any]:
    """Return the values that a form without scripts posts for one part of the config, with fields below `part`."""
    fields: dict[str, Any] = {
        "multi_choice": ["b", "a"], "tree_choice": "Dog", "slider": "6", "sliders.joy": "5", "sliders.fear": "2",
        "rating": "3", "ranking.a": "2", "ranking.b": "1", "ranking.c": "3", "ranking.d": "4", "consent": "yes",
        "edit": "Two hikers eat lunch on a bridge in the rain.", "yes_no": "no", "yes_no.reason": "They stand.",
        "text": "", "comment": "",
    }  # fmt: skip
    return {f"{part or group}.{group}_{name}": value for name, value in fields.items()}


def stored(group: str) -> dict[str, Any]:
    """The values that these are kept as."""
    return {
        f"{group}_multi_choice": ["a", "b"], f"{group}_tree_choice": "Dog", f"{group}_slider": 6,
        f"{group}_sliders": {"joy": 5, "fear": 2}, f"{group}_rating": 3, f"{group}_ranking": ["b", "a", "c", "d"],
        f"{group}_consent": True, f"{group}_edit": "Two hikers eat lunch on a bridge in the rain.",
        f"{group}_yes_no": {"value": False, "reason": "They stand."},
    }  # fmt: skip
