"""The original annotation config: `context`, `input`, `output`, `metadata` and metrics, as lists of typed objects."""

from dynabench.kit.language import Amount, _
from dynabench_older_dialects import measured
from dynabench_older_dialects.draft import LONG, Draft, Group, Type, made_of, unknown
from dynabench_older_dialects.notes import Part, becomes, turned

KEYS = (
    *("goal_message", "content_warning", "context", "input", "output", "metadata", "model_wrong_metric"),
    *measured.PERF_KEYS,
)
COMMON = {"display_name": "label", "placeholder": "placeholder"}
_CHOICE = Type("choice", {"labels": "options"})
TYPES = {
    "string": Type(
        "text", {}, {"multiline": True, "max_length": LONG}, _("at most %(num)s characters", num=Amount(LONG))
    ),
    "image": Type("image", note=_("pictures come as files, not from addresses that the server would have to call")),
    "audio": Type("audio", note=_("sounds come as files, not from addresses")),
    "context_string_selection": Type("spans", {"reference_name": "of"}, {"max_spans": 1}),
    "multiclass": _CHOICE,
    "target_label": _CHOICE,
    "multilabel": Type("multi_choice", {"labels": "options"}, {"required": False}, _("none may be ticked, as before")),
}
PROBABILITIES = ("prob", "multiclass_probs")
VOTES = ("correct", "incorrect", "flagged")


def read(source: Part, draft: Draft, fields: bool = True) -> None:
    """Put what the dialect says into `draft`; without `fields` only what both dialects say in the same way."""
    draft.instruct(source["goal_message"])
    if warning := source["content_warning"].text:
        source["content_warning"].say("same", becomes("content_warning"))
        draft.put("content_warning", warning, source.notes.lines.get(("content_warning",)))
    if fields:
        _fields(source, draft)
    metadata = source["metadata"]
    for part in metadata.items("create"):
        _add_question(draft, part)
    for part in metadata.items("validate"):
        _checked(draft, part)
    metadata.drop({"upload_proof": _("Training files are not submitted, so their source is not asked for.")})
    if "fooled" not in draft.parts:
        _fooled(source, draft)
    measured.scoring(draft, source)


def _fields(source: Part, draft: Draft) -> None:
    """Context, input and output. What stands in the output as well is the answer: models return it, people claim it."""
    returned = {part["name"].text for part in source.items("output")} - {""}
    written = {part["name"].text for part in source.items("input")}
    for part in source.items("context"):
        if part["name"].text in returned and part["name"].text not in written:
            part.say("changed", _("contexts no longer hold the answer: the author of an example claims it"))
            field(draft, part, "answer")
        else:
            field(draft, part, "context")
    for part in source.items("input"):
        field(draft, part, "answer" if part["name"].text in returned else "input")
    for part in source.items("output"):
        output(draft, part)


def output(draft: Draft, part: Part) -> None:
    """One thing that models return: an answer that is known by now, probabilities, or an answer that nobody claims."""
    name, kind = part["name"].text, part["type"].text
    if kind in PROBABILITIES:
        source = "reference_name" in part or not part["single_prob"].value
        answer = "output.probabilities: true"
        if not source:
            answer = _("%(key)s; models return one for each option, or for their answer", key=answer)
        part.say("same" if source else "changed", answer)
        draft.put("output", {"probabilities": True})
    elif name in draft.names:
        part.say("same", _("models return “%(name)s”", name=draft.names[name]))
    elif kind:
        if field(draft, part, "answer"):
            draft.fields["answer"][-1]["required"] = False
            part.say("changed", _("people may leave this answer empty: before, only models gave it"))
    else:
        part.say("wrong", _("This has no type, and neither input nor context has a field of this name."))


def field(draft: Draft, part: Part, group: Group) -> bool:
    """Add the field; False where it makes none."""
    kind = TYPES.get(part["type"].text)
    if kind is None or not part["name"].text:
        _no_field(part)
        return False
    created = made_of(part, kind, COMMON)
    if "of" in created:
        created["of"] = draft.names.get(created["of"], created["of"])
    part["type"].say("changed" if kind.note else "same", turned(part["type"].text, kind.becomes, kind.note))
    _goal(part, created, group)
    created = {"name": draft.name(part["name"], group), **created}
    draft.add(group, created, part.notes.lines.get(part.path))
    return True


def _no_field(part: Part) -> None:
    if not isinstance(part.value, dict):
        part.say("wrong", _("A field is a mapping with name and type."))
    elif part["type"].text in PROBABILITIES:
        part.say("wrong", _("Probabilities are what models return: only output can have them."))
    elif not part["name"].text:
        part.say("wrong", _("A field needs a name."))
    else:
        unknown(part, _("field type"), TYPES)


def _goal(part: Part, created: dict[str, object], group: Group) -> None:
    """Convert the setting that shows people which answer to write for."""
    options = part.take("as_goal_message", becomes("goal")) or part["type"].text == "target_label"
    if options is True and group == "answer":
        created["goal"] = "assigned"
    elif options is True:
        part["type"].say("dropped", _("Only an answer, which models return as well, can be the goal."))


def _add_question(draft: Draft, part: Part) -> None:
    """A question to the author after the models answered."""
    if not field(draft, part, "ask"):
        return
    condition = part["model_wrong_condition"]
    if condition.value is True or condition.value is False:
        when = "fooled" if condition.value else "not_fooled"
        draft.fields["ask"][-1]["when"] = when
        condition.say("same", becomes(f"when: {when}"))
    draft.fields["ask"][-1].pop("required", None)


def _checked(draft: Draft, part: Part) -> None:
    """A question to validators."""
    if not field(draft, part, "validate.ask"):
        return
    condition = part["validated_label_condition"]
    if condition.text in VOTES:
        draft.fields["validate.ask"][-1]["when"] = condition.text
        condition.say("same", becomes(f"when: {condition.text}"))
    elif condition.text:
        condition.say(
            "wrong", _("“%(vote)s” is not a vote. Known: %(known)s.", vote=condition.text[:60], known=", ".join(VOTES))
        )
    draft.fields["validate.ask"][-1].pop("required", None)


def _fooled(source: Part, draft: Draft) -> None:
    part = source["model_wrong_metric"]
    if "type" in part:
        measured.fooling(draft, part, "type", part)
        measured.fooling_fields(draft, part)
    elif not draft.chats:
        part.say(
            "same", _("without it, the author of an example was asked: %(rule)s", rule="fooled: judged_by_annotator")
        )
        draft.put("fooled", {"rule": "judged_by_annotator"})
