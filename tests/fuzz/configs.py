"""Random task configs that are valid: every part, field type, rule and condition, as anybody might write them."""

from random import Random
from typing import Any

from tests.fuzz import fields
from tests.fuzz.fields import ABOUT_TEXT, KEYS, MEDIA, SIMPLE, TYPES, common, maybe, words

CHOICES = ("choice", "tree_choice")
NESTED = (*MEDIA, *ABOUT_TEXT, "image", "image_region")
"""What a group may hold besides simple fields."""
METRICS = ("accuracy", "f1", "exact_match", "chrf", "rouge")
SAMPLING = ("least_used", "uniform", "least_fooled", "failed_validation", "unseen", "weighted", "most_uncertain")
ODD = ["items", "keys", "values", "get", "pop", "update", "name", "type", "self", "class", "key", "id", "none", "text"]
"""Names that mean something to programs, and nothing here."""


class Config:
    """A config in the making; `raw` is what its YAML holds."""

    def __init__(self, rng: Random, number: int) -> None:
        self.rng = rng
        self.texts: list[str] = []  # required texts of context and input, without conditions
        self.images: list[str] = []
        self.known_fields: list[str] = []  # fields of context and input that are always there
        self.compared: list[tuple[str, str]] = []  # a field and a value that a condition may name
        self.name_count = 0
        self.odd = rng.sample(ODD, len(ODD))  # names that are left
        self.raw: dict[str, Any] = {"id": f"fuzz-{number}", "name": words(rng)}
        self._parts()

    def _parts(self) -> None:
        rng = self.rng
        self.raw["context"] = [self.field("context") for _ in range(rng.choice([0, 1, 1, 2, 4]))]
        view = list(self.texts)
        self.raw["input"] = [self.field("input") for _ in range(rng.choice([1, 1, 2, 4]))]
        self.raw["answer"] = [self.field("answer") for _ in range(rng.choice([1, 1, 1, 2, 3]))]
        self.raw["ask"] = [self.field("ask") for _ in range(rng.choice([0, 1, 3]))]
        self.raw["fooled"] = self._rule()
        self.raw["validate"] = self._validation()
        if maybe(rng, 0.2):
            names = [f"hidden_{number}" for number in range(rng.randint(1, 2))]
            self.raw["link"] = [{"name": name, "parameter": name.upper(), "max_length": 20} for name in names]
        self._starts(view)
        self._words()
        self._settings()
        for group in ("context", "input", "answer", "ask"):
            if len(self.raw[group]) == 1 and maybe(rng):
                self.raw[group] = self.raw[group][0]  # one field may stand without a list
        self.raw = {key: value for key, value in self.raw.items() if value not in ([], {})}

    def field(self, group: str, among: tuple[str, ...] = TYPES) -> dict[str, Any]:
        """A field for a part of the config, which others may refer to from then on."""
        rng = self.rng
        kind = rng.choice(among)
        while not self._fits(kind, group):
            kind = rng.choice(SIMPLE)
        self.name_count += 1
        created = {"name": self._name(kind, group), "type": kind, **common(rng)}
        created |= self._group(group) if kind == "group" else KEYS[kind](rng)
        created |= self._about(kind)
        if kind in CHOICES and group == "answer" and maybe(rng):
            created["goal"] = rng.choice(["assigned", "chosen"])
        if maybe(rng, 0.25):
            created["required"] = maybe(rng, 0.5)
        if group != "answer" and maybe(rng, 0.25):
            created |= self._when(group)
        self._name_fields(created, group)
        return created

    def _name(self, kind: str, group: str) -> str:
        """A name that tells the part of the config, or one that means something to a program."""
        if kind in SIMPLE[2:] and self.odd and maybe(self.rng, 0.15):
            return self.odd.pop()
        return f"{group[0]}{kind[:12]}_{self.name_count}"

    def _fits(self, kind: str, group: str) -> bool:
        if kind in ABOUT_TEXT and not self.texts:
            return False
        if kind == "edit" and group != "ask" and not [name for name in self.texts if name.startswith("c")]:
            return False
        if kind == "image_region" and not self.images:
            return False
        if kind == "comparison" and len(self.known_fields) < 2:
            return False
        return kind != "chat" or (group == "context" and maybe(self.rng, 0.3))

    def _about(self, kind: str) -> dict[str, Any]:
        rng = self.rng
        if kind == "edit":
            return {"of": rng.choice([name for name in self.texts if name.startswith("c")] or self.texts)}
        if kind in ABOUT_TEXT:
            return {"of": rng.choice(self.texts)}
        if kind == "image_region":
            return {"of": rng.choice(self.images)}
        if kind == "comparison":
            return {"of": rng.sample(self.known_fields, min(len(self.known_fields), rng.randint(2, 4)))}
        return {}

    def _group(self, group: str) -> dict[str, Any]:
        rng = self.rng
        inner: list[dict[str, Any]] = []
        for number in range(rng.randint(1, 3)):
            created = {"name": f"part_{number}", **self._inner(group, inner)}
            first = inner[0] if inner else {}
            if first.get("type") == "choice" and maybe(rng, 0.5):
                created["when"] = f"part_0 == {_value(first['options'][0])}"
            inner.append(created | ({"required": False} if number and maybe(rng) else {}))
        inner[0]["required"] = True
        if inner[0]["type"] == "comment" or group == "validate":
            inner[0] = {"name": "part_0", "type": "choice", "options": ["p", "q"]}
            inner[1:] = [item for item in inner[1:] if "when" not in item]
        most = rng.choice([0, 0, 2, 4])
        return {"fields": inner} | ({"repeat": most, "at_least": rng.randint(1, most)} if most else {})

    def _inner(self, group: str, before: list[dict[str, Any]]) -> dict[str, Any]:
        """A field of a group: now and then one about a text or a picture, which may be of the group itself."""
        rng = self.rng
        kind = rng.choice(SIMPLE if maybe(rng, 0.6) else NESTED)
        own = [item["name"] for item in before if item["type"] == "image"]
        if own and maybe(rng, 0.7):
            kind, about = "image_region", {"of": rng.choice(own)}
        else:
            kind = kind if self._fits(kind, group) else rng.choice(SIMPLE)
            about = self._about(kind)
        return {"type": kind, **common(rng), **KEYS[kind](rng), **about}

    def _when(self, group: str) -> dict[str, Any]:
        rng = self.rng
        choices = [f"{name} == {value}" for name, value in self.compared]
        if group == "validate":
            choices = ["correct", "incorrect", "flagged", "incorrect or flagged"]
        elif group == "ask":
            choices += ["fooled", "not_fooled"]
        if not choices:
            return {}
        return {"when": rng.choice(choices) if maybe(rng, 0.7) else rng.sample(choices, min(2, len(choices)))}

    def _name_fields(self, config: dict[str, Any], group: str) -> None:
        """Take note of what later parts may refer to."""
        always = config.get("required", config["type"] != "comment") and "when" not in config
        if group in ("context", "input") and always:
            self.known_fields.append(config["name"])
            if config["type"] in ("text", "comment", "edit"):
                self.texts.append(config["name"])
            if config["type"] == "image":
                self.images.append(config["name"])
        if group == "validate":
            return
        if config["type"] == "choice":
            self.compared.append((config["name"], _value(self.rng.choice(config["options"]))))
        elif config["type"] == "yes_no":
            self.compared.append((config["name"], "yes"))
        elif config["type"] == "rating":
            self.compared.append((config["name"], "3"))

    def _rule(self) -> dict[str, Any]:
        rng = self.rng
        kinds = {item["name"]: item["type"] for item in self.raw["answer"]}
        numbers = [name for name, kind in kinds.items() if kind in ("number", "slider", "rating")]
        choices = [name for name, kind in kinds.items() if kind in CHOICES]
        texts = [name for name, kind in kinds.items() if kind in ("text", "comment", "edit", *CHOICES)]
        rules: list[dict[str, Any]] = [
            {}, {"rule": "differs", "combine": "all"}, {"rule": "f1_below", "threshold": 0.3}, {"rule": "not_in"},
            {"rule": "vqa_below"}, {"rule": "overlap_below", "measure": "f1"},
            {"rule": "matches", "pattern": r"\bstone\b", "ignore_case": True},
            {"rule": "metric_below", "metric": "chrf", "threshold": 30.0}, {"rule": "judged_by_annotator"},
            {"rule": "judged_by_validators", "question": words(rng), "guidance": words(rng, 3, 9)},
            {"rule": "judged_by_model", "judge": "judge", "ask": {"it": f"{{answer.{next(iter(kinds))}}}"},
             "says_wrong": ["wrong"]},
        ]  # fmt: skip
        if numbers:
            rules.append({"rule": "outside", "tolerance": 0.1, "relative": True, "fields": numbers})
        if choices:
            rules.append({"rule": "uncertain", "below": 0.6, "fields": choices[:1]})
        if texts and (options := self._model_texts()):
            rules.append({"rule": "chosen", "options": options, "fields": texts[:1]})
        return rng.choice(rules)

    def _model_texts(self) -> list[str]:
        return [name for name in self.texts if name.startswith("i")]

    def _validation(self) -> dict[str, Any]:
        rng = self.rng
        judged = str(self.raw["fooled"].get("rule", "")).startswith("judged")
        votes = rng.randint(1, 4)
        created: dict[str, Any] = {"mode": "judge" if judged else rng.choice(["judge", "answer", "mixed"])}
        created |= {"votes": votes, "also_not_fooled": maybe(rng, 0.8)}
        if maybe(rng):
            created |= {"adjudicate_up_to": votes + rng.randint(0, 3), "blind_share": 0.3}
        request = [self.field("validate", SIMPLE) for _ in range(rng.choice([0, 1, 2]))]
        return created | ({"ask": request} if request else {})

    def _starts(self, names: list[str]) -> None:
        rng = self.rng
        used = str([part.get("of") for group in ("context", "input", "answer", "ask") for part in self.raw[group]])
        free = [name for name in names if name not in used and not name.startswith("cedit")]
        texts = [
            item["name"] for item in self.raw["input"] if item["type"] in ("text", "comment") and "when" not in item
        ]
        if free and texts and maybe(rng):
            self.raw["start"] = {"kinds": ["prompt", "blank"], "prompt": {texts[0]: free[0]}}
        elif maybe(rng, 0.2):
            self.raw["start"] = {"kinds": rng.choice([["blank"], ["blank", "seed"]]), "assign": "random"}
        flips = [element["name"] for element in self.raw["answer"] if element["type"] in CHOICES]
        if flips and maybe(rng, 0.3):
            self.raw["perturb"] = {"flip": flips[0]}

    def _words(self) -> None:
        rng = self.rng
        for key in ("description", "content_warning", "terms"):
            if maybe(rng, 0.25):
                self.raw[key] = f"**{words(rng)}**\n\n- {words(rng)}\n- <b>{words(rng)}</b>\n"
        if maybe(rng):
            self.raw["instructions"] = {"create": words(rng, 5, 30), "validate": words(rng)}

    def _settings(self) -> None:
        rng = self.rng
        if maybe(rng):
            self.raw["contexts"] = {"sampling": rng.choice(SAMPLING)}
        if maybe(rng):
            self.raw["metrics"] = {
                "primary": rng.choice(METRICS),
                "report": rng.sample(METRICS, 2),
                "costs": ["memory"],
            }
        if maybe(rng, 0.2):
            self.raw |= {"annotators": "invited", "submissions": {"per_day": 2, "attempts": 9}}
        if maybe(rng, 0.2) and self.raw["fooled"].get("rule") != "uncertain":
            self.raw["output"] = {"probabilities": maybe(rng)}
        if maybe(rng, 0.2):
            self.raw["data"] = {"licence": rng.choice(["MIT", "CC0-1.0", words(rng)])}


def _value(option: Any) -> str:
    return str(option["value"] if isinstance(option, dict) else option)


def drawn(seed: str, number: int) -> dict[str, Any]:
    """The config of this number."""
    return Config(Random(f"{seed} {number}"), number).raw


__all__ = ["Config", "drawn", "fields"]
