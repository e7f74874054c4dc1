"""The later dialect of Dynatask: `goal`, one `context` with a type, `user_input`, `model_output` and more."""

from typing import Any

from dynabench.kit.language import _, joined
from dynabench_older_dialects import measured, shown
from dynabench_older_dialects.draft import LONG, Draft, Group, Type, line, made_of, options, unknown
from dynabench_older_dialects.notes import Part, becomes, turned

KEYS = (
    "goal", "user_input", "required_fields", "model_input", "response_fields", "model_output",
    "model_evaluation_metric", "cast_output", "creation_samples_title", "validation_user_input",
    "validation_context", "validation_options", "external_validator", "evaluation", "submit_config", "leaderboard",
)  # fmt: skip
GOALS = {
    "plain-text": _("the text becomes %(name)s", name="instructions.create"),
    "multioptions": _("an assigned answer"),
    "radio-button-options": _("an assigned answer"),
    "double-multioptions": _("two assigned answers"),
}
_TEXT = Type("text", fixed={"multiline": True, "max_length": LONG})
_CHOICE = Type("choice", {"options": "options"})
_SINGLE_CHOICE = _("one of them; use multi_choice for several")
_SLIDER = Type("slider", {"instructions_slider": "help"})
INPUTS: dict[str, tuple[Type, ...]] = {
    "text": (_TEXT,),
    "input-with-instructions": (_TEXT,),
    "audio": (Type("audio", note=_("sounds come as files")),),
    "multioptions": (Type("choice", {"options": "options"}, note=_SINGLE_CHOICE),),
    "multioptions-with-instructions": (Type("choice", {"options": "options"}, note=_SINGLE_CHOICE),),
    "radio-button-options": (_CHOICE,),
    "horizontal-radio-button-options": (_CHOICE,),
    "drop-down-single-select": (_CHOICE,),
    "select-multiple-images": (Type("image", note=_("people choose one of the context's pictures")),),
    "multi-slider-selection": (Type("sliders", {"options": "options", "instructions_slider": "help"}),),
    "simple-slider": (_SLIDER,),
    "select-option-with-slider": (_CHOICE, _SLIDER),
    "basic-input-with-slider": (_TEXT, _SLIDER),
    "basic-input-select-option-with-instructions": (_TEXT, _CHOICE),
}
COMMON = {"instructions": "help", "placeholder": "placeholder", "label": "label", "title": "label"}
WITHOUT_COUNTERPART = {
    "response_fields": _("Pages show everything that was written; nothing to configure."),
    "cast_output": _("Models' answers are read as their fields say."),
    "creation_samples_title": _("Page titles are fixed."),
    "validation_context": _(
        "Validators see the context, the input and the claim; fields of validate.ask cover the rest."
    ),
    "external_validator": _("People are not sent to another site. Crowds come by links: see `link`."),
    "submit_config": _("Models are submitted in the same way for all tasks."),
    "leaderboard": _("Readers filter boards themselves."),
}
OPTIONS = {"correct": "same", "incorrect": "same", "flagged": "same", "flag": "same"}


def read(source: Part, draft: Draft) -> None:
    """Put what the dialect says into `draft`."""
    draft.names["label"] = source["model_output"]["model_prediction_label"].text or "label"
    _goal(draft, source["goal"])
    shown.context(draft, source["context"])
    claimed = {"label", source["model_output"]["model_prediction_label"].text}
    claimed |= {part["name"].text for part in source.items("output")}
    for part in source.items("user_input"):
        _written(draft, part, claimed)
    _required(draft, source)
    for part in source.items("validation_user_input"):
        _field(draft, part, "validate.ask", INPUTS)
        for created in draft.fields["validate.ask"]:
            created.pop("required", None)
    for part in source.items("validation_options"):
        entries = part.text.lower() in OPTIONS
        part.say(
            "same" if entries else "dropped", _("a vote") if entries else _("Votes are correct, incorrect and flagged.")
        )
    _models(draft, source)
    source.drop(WITHOUT_COUNTERPART)


def _goal(draft: Draft, part: Part) -> None:
    if not part.keys():
        return
    kind = part["type"]
    if kind.text not in GOALS:
        unknown(part, _("goal"), GOALS)
        return
    kind.say("same", GOALS[kind.text])
    draft.instruct(part["text"])
    lists = part["options"]
    if not isinstance(lists.value, list):
        return
    several = all(isinstance(item, list) for item in lists.value) and lists.value
    names = part.items("field_name_for_the_model")
    for place, choice in enumerate([lists[at] for at in range(len(lists.value))] if several else [lists]):
        name = names[place] if place < len(names) else part["field_name_for_the_model"]
        created = {"name": claim(draft, name), "type": "choice", "options": options(choice), "goal": "assigned"}
        draft.add("answer", created, part.notes.lines.get(choice.path))
    part.take("evaluation_label", _("answers are compared by the name of their field"))


def claim(draft: Draft, part: Part) -> str:
    """The name of an answer: as models call it, since the claim stands beside it."""
    entries = draft.names["label"] if part.text in ("label", "") else part.text
    return draft.name(part, "answer", entries)


def _written(draft: Draft, part: Part, claimed: set[str]) -> None:
    name = part["field_name_for_the_model"].text or part["name"].text
    if part["metadata"].value is True:
        part["metadata"].say("changed", _("asked after the models answered and not shown to them"))
        _field(draft, part, "ask", INPUTS)
    else:
        is_claim = name in claimed and bool(name) and not draft.fields["answer"]
        _field(draft, part, "answer" if is_claim else "input", INPUTS)


def _field(draft: Draft, part: Part, group: Group, types: dict[str, tuple[Type, ...]]) -> None:
    """Add the fields, one or two, that an input becomes."""
    kinds = types.get(part["type"].text)
    if kinds is None:
        unknown(part, _("user input"), types)
        return
    note = joined("; ", (kind.note for kind in kinds if kind.note))
    answer = turned(part["type"].text, " + ".join(kind.becomes for kind in kinds), note)
    part["type"].say("changed" if note or len(kinds) > 1 else "same", answer)
    named = part["field_name_for_the_model"] if "field_name_for_the_model" in part else part["name"]
    if not named.text:
        part.say("changed", _("It has no field_name_for_the_model, so its name is made from its type."))
    name = claim(draft, named) if group == "answer" else draft.name(named, group, named.text or part["type"].text)
    optional = part.take("show_na_checkbox", becomes("required: false")) is True
    for place, kind in enumerate(kinds):
        created = made_of(part, kind, COMMON if place == 0 else {})
        created |= _ends(part) if kind.becomes in ("slider", "sliders") else {}
        created |= _pictures(draft, part) if kind.becomes == "image" else {}
        called = name if place == 0 else draft.name(named, group, f"{name}_{kind.becomes}")
        more = {"required": False} if optional and group != "ask" else {}
        draft.add(group, {"name": called, **created, **more}, part.notes.lines.get(part.path))
    part.drop({"initiate_open": _("Fields are always open.")})


def _ends(part: Part) -> dict[str, Any]:
    """Return the ends of a slider: numbers, or their labels."""
    ends = part["options_slider"]
    values = ends.value if isinstance(ends.value, list) else []
    if not values:
        return {}
    if all(type(item) in (int, float) for item in values):
        ends.say("same", becomes("min, max"))
        return {"min": min(values), "max": max(values)}
    ends.say("same" if len(values) == 2 else "changed", _("becomes low and high; a slider goes from 0 to 100"))
    return {"low": line(ends[0], "low"), "high": line(ends[len(values) - 1], "high")}


def _pictures(draft: Draft, part: Part) -> dict[str, Any]:
    offered = [item["name"] for item in draft.fields["context"] if item["type"] == "image"]
    if not offered:
        part["type"].say("changed", _("the context has no pictures to choose from, so people upload their own"))
    return {"upload": False, "choose_from": offered} if offered else {}


def _required(draft: Draft, source: Part) -> None:
    if "required_fields" not in source:
        return
    named = [item.text for item in source.items("required_fields")]
    needed = {draft.names.get(name, name) for name in named}
    source["required_fields"].say("same", _("the other fields of the input become required: false"))
    for created in draft.fields["input"]:
        if created["name"] not in needed:
            created["required"] = False


def _models_get(values: list[str]) -> str:
    if not values:
        return _("Models get no input: neither context nor input has a field.")
    return _("Models get %(names)s: the names of context and input.", names=", ".join(values)[:200])


def _models(draft: Draft, source: Part) -> None:
    values = [created["name"] for group in ("context", "input") for created in draft.fields[group]]
    for key in source["model_input"].keys():  # noqa: SIM118 - no mapping
        part = source["model_input"][key]
        entries = draft.names.get(part.text, part.text)
        if entries in values and key == entries:
            part.say("same", _("models get it under this name"))
        else:
            part.say("dropped", _models_get(values))
    source["model_output"].take("model_prediction_label", _("the answer's name"))
    metric = source["model_evaluation_metric"]
    if "metric_name" in metric:
        measured.fooling(draft, metric, "metric_name", metric["metric_parameters"])
        source.drop({"model_wrong_metric": _("Already covered by model_evaluation_metric.")})
    evaluation = source["evaluation"]
    main = measured.METRICS.get(evaluation["main_perf_metric"].text)
    if "main_perf_metric" in evaluation and main and main.becomes and "perf_metric" not in source:
        draft.put("metrics", {"primary": main.becomes})
        evaluation["main_perf_metric"].say(main.kind, f"metrics.primary: {main.becomes}")
    elif "main_perf_metric" in evaluation:
        evaluation["main_perf_metric"].say(
            "dropped", _("Already covered by perf_metric, or there is no metric of this name.")
        )
    evaluation.drop({"inference_url": _("Add models with the registry: endpoints are one of its types.")})
