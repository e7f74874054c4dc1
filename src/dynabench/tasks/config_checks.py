"""Consistency of a config: its short forms, and the names by which its parts refer to each other."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dynabench.kit.language import _
from dynabench.tasks import assistant_sections, conditions, harm_sections, onboarding, sections
from dynabench.tasks.fields import (
    Chat,
    Choice,
    Drawing,
    EditField,
    Field,
    Group,
    Image,
    ImageRegion,
    Text,
    base,
)
from dynabench.tasks.section import LANGUAGE_CODE, did_you_mean, refuse_keys

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig


def expand_short_forms(raw: Any) -> Any:
    """Return `raw` with its short forms written out.

    A single field may stand without a list; fields under `ask` are optional unless they say otherwise; a choice
    there without options takes those of the answer. Instructions may stand under the codes of their languages.
    """
    if not isinstance(raw, dict):
        return raw
    config = dict(raw)
    for group in ("context", "input", "answer", "ask", "link"):
        if isinstance(config.get(group), dict):
            config[group] = [config[group]]
    config |= _by_language(config.get("instructions"))
    options = _answer_options(config.get("answer"))
    config["ask"] = _optional(config.get("ask", []), options)
    if isinstance(config.get("validate"), dict):
        validation_fields = config["validate"].get("ask", [])
        validation_fields = [validation_fields] if isinstance(validation_fields, dict) else validation_fields
        config["validate"] = {**config["validate"], "ask": _optional(validation_fields, options)}
    return config


def _by_language(instructions: Any) -> dict[str, Any]:
    """Return instructions whose keys are all codes of languages as those of the first with all `by_language`."""
    if not isinstance(instructions, dict) or not instructions:
        return {}
    if not all(isinstance(key, str) and LANGUAGE_CODE.match(key) for key in instructions):
        return {}
    first = next(iter(instructions.values()))
    return {"instructions": {**(first if isinstance(first, dict) else {}), "by_language": instructions}}


_LISTED = ("choice", "multi_choice", "ranking")  # types whose options may come from one answer of these types


def _answer_options(answer: Any) -> Any:
    fields = answer if isinstance(answer, list) else []
    choices = [field for field in fields if isinstance(field, dict) and field.get("type") in _LISTED]
    return choices[0].get("options") if len(choices) == 1 else None


def _optional(fields: Any, options: Any) -> Any:
    if not isinstance(fields, list):
        return fields
    return [_with_defaults(field, options) if isinstance(field, dict) else field for field in fields]


def _with_defaults(field: dict[str, Any], options: Any) -> dict[str, Any]:
    inherits = field.get("type") in _LISTED and "options" not in field and options is not None
    return {"required": False, **field, **({"options": options} if inherits else {})}


def check_references(config: "TaskConfig") -> None:
    """Refuse duplicate names, and references to parts that do not exist. Raises pydantic's ValidationError."""
    problems: dict[str, str] = {}
    for problem in (
        _names(config),
        _starts(config),
        _perturb(config),
        _rule(config),
        _pictures(config),
        _references(config),
        _conditions(config),
        _goals(config),
        _chats(config),
        sections.training_problems(config),
        harm_sections.harm_problems(config),
        assistant_sections.assistant_problems(config),
        _drawings(config),
        onboarding.onboarding_problems(config),
    ):
        for path, message in problem:
            problems.setdefault(path, message)
    if problems:
        refuse_keys(problems)


def _all(config: "TaskConfig") -> Iterator[tuple[str, Field]]:
    """Each field with its path; paths of fields under `validate.ask` are as in the YAML."""
    for group in ("context", "input", "answer", "ask"):
        yield from ((f"{group}.{index}", field) for index, field in enumerate(config.fields(group)))
    yield from ((f"validate.ask.{index}", field) for index, field in enumerate(config.validation.ask))


def _names(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    seen: set[tuple[bool, str]] = set()
    for path, field in _all(config):
        key = (path.startswith("validate"), field.name)
        if key in seen:
            yield f"{path}.name", _("Another field already has the name “%(name)s”.", name=field.name)
        seen.add(key)
    hidden = [field.name for field in config.link]
    for index, name in enumerate(hidden):
        if name in hidden[:index]:
            yield f"link.{index}.name", _("Another field already has the name “%(name)s”.", name=name)


def _starts(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    inputs = [field.name for field in config.input if isinstance(field, Text)]
    contexts = [field.name for field in config.context if isinstance(field, Text)]
    for target, source in config.start.prompt.items():
        if target not in inputs:
            yield (
                f"start.prompt.{target}",
                _("There is no such text field in the input.") + did_you_mean(target, inputs),
            )
        if source not in contexts:
            yield (
                f"start.prompt.{target}",
                _("There is no text field “%(source)s” in the context.", source=source)
                + did_you_mean(source, contexts),
            )


def _perturb(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    choices = [field.name for field in config.answer if isinstance(field, Choice)]
    if config.perturb is not None and config.perturb.flip not in choices:
        yield "perturb.flip", _("There is no such choice in the answer.") + did_you_mean(config.perturb.flip, choices)


def _rule(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    yield from ((f"fooled.{key}", problem) for key, problem in config.fooled.problems(config))


def _references(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    fields = [*config.context, *config.input]
    texts = [field.name for field in fields if isinstance(field, Text)]
    for path, field in _all(config):
        for key, name, text in field.references():
            names = texts if text else [other.name for other in fields if other is not field]
            if name not in names:
                message = (
                    _("There is no such text field in context or input.")
                    if text
                    else _("There is no such field in context or input.")
                )
                yield (
                    f"{path}.{key}",
                    message + did_you_mean(name, names),
                )
        if isinstance(field, EditField):
            yield from _edited(config, path, field.of)


def _edited(config: "TaskConfig", path: str, original_name: str) -> Iterator[tuple[str, str]]:
    """The text to edit must be shown before the form: where the input is written that is the context alone."""
    group, _dot, place = path.rpartition(".")
    before = config.context[: int(place)] if group == "context" else config.context
    after = config.input if group in ("ask", "validate.ask") else []
    names = [f.name for f in [*before, *after] if isinstance(f, Text) and f.name not in config.start.prompt.values()]
    if original_name not in names:
        message = (
            _("There is no such text field in context or input.")
            if after
            else _("There is no such text field earlier in the context.")
        )
        yield f"{path}.of", message + did_you_mean(original_name, names)


def _pictures(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    context = [field.name for field in config.context if isinstance(field, Image)]
    pictures = context + [field.name for field in config.input if isinstance(field, Image)]
    for path, field in _all(config):
        for place, region in _regions(path, field):
            if region.of not in pictures:
                message = _("There is no such image field in context or input.")
                yield f"{place}.of", message + did_you_mean(region.of, pictures)
        for name in field.choose_from if isinstance(field, Image) else ():
            if name not in context or path.startswith("context"):
                message = _("There is no such image field in the context.") + did_you_mean(name, context)
                yield f"{path}.choose_from", message


def _regions(path: str, field: Field) -> Iterator[tuple[str, ImageRegion]]:
    """A field of regions, or those within a group but for those of its own pictures."""
    if isinstance(field, ImageRegion):
        yield path, field
    if isinstance(field, Group):
        for index, inner in enumerate(field.fields):
            if isinstance(inner, ImageRegion) and inner.of not in field.own:
                yield f"{path}.fields.{index}", inner


def _conditions(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    for path, field in _all(config):
        for condition in field.when:
            reason = _never(config, path, condition)
            if reason:
                yield f"{path}.when", reason


def _never(config: "TaskConfig", path: str, condition: str) -> str:
    """Why `condition` can never be known where it stands; empty if it can."""
    if conditions.parse_comparison(condition):
        named = {f.name: f for p, f in _all(config) if p.startswith("validate") <= path.startswith("validate")}
        return base.impossible_reason(condition, named)
    if condition in conditions.VOTES and not path.startswith("validate"):
        return _("Votes can be used only under validate.")
    if condition in conditions.OUTCOMES and not path.startswith(("ask", "validate")):
        return _("Whether a model was fooled can be used only under ask and validate.")
    return ""


def _goals(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    for path, field in _all(config):
        if isinstance(field, Choice) and field.goal == "assigned" and not path.startswith("answer"):
            yield f"{path}.goal", _("Only an answer can be a goal.")
        if field.when and path.startswith("answer"):
            yield f"{path}.when", _("An answer is always required.")


def _chats(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    chats = [(path, field) for path, field in _all(config) if isinstance(field, Chat)]
    for path, _field in chats:
        if not path.startswith(("context", "input")):
            yield f"{path}.type", _("A conversation belongs in the input, or, if finished, in the context.")
    for path, field in _all(config):
        for index, inner in enumerate(field.fields if isinstance(field, Group) else []):
            if isinstance(inner, Chat | Drawing):
                yield f"{path}.fields.{index}.type", _("Live model output cannot be part of a group.")
    for number, (path, field) in enumerate(chat for chat in chats if chat[0].startswith("input")):
        if number:
            yield f"{path}.type", _("A task can have only one conversation.")
        if config.start.kinds != ["blank"] or config.perturb is not None:
            yield f"{path}.type", _("A conversation starts blank: leave start and perturb out.")
        if config.fooled.judged_by is not None:
            yield (
                "fooled.rule",
                _("Chat models are fooled according to the annotator's claim: choose a rule without a judge."),
            )
        yield from _claims(config, path, field)


def _drawings(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    drawn = [(path, field) for path, field in _all(config) if isinstance(field, Drawing)]
    texts = [field for field in config.input if isinstance(field, Text)]
    for number, (path, field) in enumerate(drawn):
        if not path.startswith("input"):
            yield f"{path}.type", _("Pictures drawn by models belong in the input.")
        elif number or config.chat is not None:
            yield f"{path}.type", _("A task can have only one conversation or one drawn picture.")
        elif not texts:
            yield f"{path}.type", _("Pictures are drawn from words: the input needs a text field too.")
        if config.fooled.judged_by is not None:
            yield (
                "fooled.rule",
                _("Drawing models are fooled according to the annotator's claim: choose a rule without a judge."),
            )
        yield from _claims(config, path, field)


def _claims(config: "TaskConfig", path: str, chat: Chat | Drawing) -> Iterator[tuple[str, str]]:
    answers = {field.name: field for field in config.answer}
    for name, value in chat.claims.items():
        field = answers.get(name)
        if field is None:
            yield f"{path}.claims.{name}", _("There is no such answer field.") + did_you_mean(name, answers)
        elif not isinstance(field, Choice) or value not in field.values:
            yield f"{path}.claims.{name}", _("Name one of the options of a choice.")
    counting = [field.name for field in config.fooled.counting(config.answer)]
    if chat.claims and (unsaid := [name for name in counting if name not in chat.claims]):
        message = _(
            "Define what models claim for %(unsaid)s too, or leave it out under fooled.fields.",
            unsaid=", ".join(unsaid),
        )
        yield f"{path}.claims", message
