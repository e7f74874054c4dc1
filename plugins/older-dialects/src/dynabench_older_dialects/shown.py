"""The later dialect's `context`: what people are shown, or which models they meet."""

from typing import Any

from dynabench.kit.language import _
from dynabench_older_dialects.draft import LONG, Draft, options, unknown
from dynabench_older_dialects.notes import Part, becomes

TEXTS = ("plain-text", "selectable-text", "select-multiple-text-multiple-tags", "modify-original-text")
PICTURES = ("zoom_image", "describe-image")
CHATS = ("evaluate-texts-generative", "chat-with-instructions", "chat-random-with-instructions")
TYPES: dict[str, str] = {
    "plain-text": _("a text"),
    "selectable-text": _("a text with an answer marked in it (spans)"),
    "select-multiple-text-multiple-tags": _("a text with an answer of labelled_spans"),
    "zoom_image": _("an image that can be enlarged"),
    "describe-image": _("an image"),
    "audio": _("audio"),
    "modify-original-text": _("a text, edited in the input"),
    "select-multiple-images-generative": _("nothing: models do not draw pictures while people write"),
    "evaluate-texts-generative": _("a chat with the round's models, whose replies are rated"),
    "chat-with-instructions": _("a chat with the round's models"),
    "chat-random-with-instructions": _("a chat with the round's models in random order"),
}
MODELS = _("Models belong to rounds: name them when you open one; endpoints are possible.")
PAGES = _("Decided by the pages.")
ARTIFACTS = {
    "providers": MODELS,
    "number_of_samples": MODELS,
    "num_of_samples_chatbot": MODELS,
    "show_chosen_history": _("The whole conversation is shown."),
    "memory_on": _("Models always get the conversation so far."),
    "allow_paste": PAGES,
    "jump_instructions": PAGES,
    "show_category": PAGES,
    "default_category": PAGES,
    "redirect_url": _("People stay here; bring in crowds by links."),
    "rate_at_the_end": _("Replies are rated one by one; ask for an overall rating under `ask`."),
    "preliminary_questions": _("Ask for them in a field of the input, once per example."),
    "preliminary_questions_title": _("Ask for them in a field of the input, once per example."),
    "user_input": _("Use a field of the input."),
    "additional_label": _("Use a field of `ask`."),
}
INSTRUCTIONS = (
    "first_explainatory_title", "first_explainatory_block", "general_instruction", "general_instruction_chatbot",
    "general_instruction_multiple_models", "example_task", "finish_instruction",
)  # fmt: skip
SIDES = [{"value": "A", "label": "A"}, {"value": "B", "label": "B"}, {"value": "equal", "label": "Both alike"}]
SIDES += [{"value": "neither", "label": "Neither"}]


def context(draft: Draft, part: Part) -> None:
    """The context's fields, and those of input and answer that its type brings along."""
    if not part.keys():
        return
    kind = part["type"].text.removesuffix("-dev")
    if kind not in TYPES:
        unknown(part, _("context"), TYPES)
        return
    wrong = kind == "select-multiple-images-generative"
    part["type"].say("dropped" if wrong else "changed" if kind in CHATS else "same", becomes(TYPES[kind]))
    names = part["field_names_for_the_model"]
    view = _add_context_field(draft, names, kind, part)
    _brought(draft, part, names, kind, view)
    _generative(draft, part)
    metadata = part["metadata"]
    metadata.drop({"user_input_group_by": _("Use a group for fields that belong together.")})
    for key in ("instruction", "context_for_start"):
        draft.instruct(part[key])
    if "tags" in part and kind != "select-multiple-text-multiple-tags":
        part["tags"].say("dropped", _("Each context has its own tag: set it when uploading."))


def _add_context_field(draft: Draft, names: Part, kind: str, part: Part) -> str:
    """Add the field that people are shown; its name, empty where there is none."""
    created: dict[str, Any] = {"type": "image"} if kind in PICTURES else {"type": "audio"}
    if kind in TEXTS:
        created = {"type": "text", "multiline": True, "max_length": LONG}
    elif kind not in (*PICTURES, "audio"):
        return ""
    key = next((key for key in ("context", "image", "audio", "text", *names.keys()) if key in names), "")
    name = draft.name(names[key], "context") if key and names[key].text else "context"
    draft.add("context", {"name": name, **created}, part.notes.lines.get(part.path))
    return name


def _brought(draft: Draft, part: Part, names: Part, kind: str, view: str) -> None:
    line = part.notes.lines.get(part.path)
    if kind == "selectable-text":
        draft.add("answer", {"name": _claim(draft, names), "type": "spans", "of": view, "max_spans": 1}, line)
    elif kind == "select-multiple-text-multiple-tags":
        created = {"name": _claim(draft, names), "type": "labelled_spans", "of": view, "labels": _tags(part)}
        draft.add("answer", created, line)
    elif kind == "modify-original-text":
        key = next((key for key in names.keys() if key not in ("context", "text")), "")  # noqa: SIM118
        name = draft.name(names[key], "input") if key and names[key].text else "edited"
        draft.add("input", {"name": name, "type": "edit", "of": view, "max_length": LONG}, line)
    elif kind in CHATS:
        _chat(draft, part, line)


def _claim(draft: Draft, names: Part) -> str:
    key = next((key for key in ("answer", "label", "selected_text") if key in names), "")
    if not key:
        return draft.names["label"]
    called = draft.names["label"] if names[key].text == "label" else names[key].text
    return draft.name(names[key], "answer", called)


def _tags(part: Part) -> list[Any]:
    """The labels of spans: of the context itself, or of what models make."""
    for result in (part["tags"], part["generative_context"]["artifacts"]["tags"]):
        if result.value:
            return options(result)
    part.say("wrong", _("Spans need labels: list them under tags."))
    return []


def _chat(draft: Draft, part: Part, line: int | None) -> None:
    artifacts = part["generative_context"]["artifacts"]
    chat: dict[str, Any] = {"name": "conversation", "type": "chat"}
    turns = artifacts.take("num_interactions_chatbot", becomes("max_turns"))
    if type(turns) is int:
        chat["max_turns"] = turns
    if artifacts.take("choose_when_tie", becomes("tie")) is False:
        chat["tie"] = False
    if part["type"].text.startswith("evaluate-texts") or "options_slider" in artifacts:
        artifacts.take("options_slider", _("each reply is rated from 1 to 5"), "changed")
        chat["rate"] = 5
    draft.chats = True
    draft.add("input", chat, line)
    request = {"name": "better", "type": "choice", "label": "Which side was better over all?", "options": SIDES}
    draft.add("answer", request, line)
    draft.put("output", {"probabilities": False})
    part.notes.add(
        "changed", part["type"].path, _("answer: better, because every task needs one; change it if you like")
    )


def _generative(draft: Draft, part: Part) -> None:
    source = part["generative_context"]
    source.take("is_generative", _("implied by the type"))
    source.take("type", _("implied by the type"))
    if True in (
        source.take("distinctive", becomes("contexts.sampling: unseen")),
        source.take("is_unique", _("the same")),
    ):
        draft.put("contexts", {"sampling": "unseen"})
    artifacts = source["artifacts"]
    for key in INSTRUCTIONS:
        draft.instruct(artifacts[key])
    if artifacts.take("need_consent", _("becomes a consent in the input")) is True:
        statement = artifacts.take("consent_uri", _("becomes its statement"))
        created = {"name": "agreed", "type": "consent", "statement": f"I have read and agree to {statement}."}
        draft.add("input", created if statement else {"name": "agreed", "type": "consent"}, None)
    remaining = {**ARTIFACTS, "options_slider": PAGES, "num_interactions_chatbot": PAGES, "choose_when_tie": PAGES,
            "tags": _("Each context has its own tag.")}  # fmt: skip
    artifacts.drop(
        {key: reason for key, reason in remaining.items() if artifacts[key].path not in part.notes.noted_paths}
    )
