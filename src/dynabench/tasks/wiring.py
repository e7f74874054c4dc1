"""How the parts of a config hang together: its short forms, and the names by which parts refer to each other."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dynabench.tasks import conditions
from dynabench.tasks.fields import Chat, Choice, Field, Spans, Text
from dynabench.tasks.section import did_you_mean, refuse

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig


def unfold(raw: Any) -> Any:
    """`raw` with its short forms written out.

    A single field may stand without a list; fields under `ask` are optional unless they say otherwise; a choice
    there that names no options takes those of the answer.
    """
    if not isinstance(raw, dict):
        return raw
    config = dict(raw)
    for group in ("context", "input", "answer", "ask"):
        if isinstance(config.get(group), dict):
            config[group] = [config[group]]
    options = _answer_options(config.get("answer"))
    config["ask"] = _optional(config.get("ask", []), options)
    if isinstance(config.get("validate"), dict):
        asked = config["validate"].get("ask", [])
        asked = [asked] if isinstance(asked, dict) else asked
        config["validate"] = {**config["validate"], "ask": _optional(asked, options)}
    return config


def _answer_options(answer: Any) -> Any:
    fields = answer if isinstance(answer, list) else []
    choices = [field for field in fields if isinstance(field, dict) and field.get("type") == "choice"]
    return choices[0].get("options") if len(choices) == 1 else None


def _optional(fields: Any, options: Any) -> Any:
    if not isinstance(fields, list):
        return fields
    return [_asked(field, options) if isinstance(field, dict) else field for field in fields]


def _asked(field: dict[str, Any], options: Any) -> dict[str, Any]:
    inherits = field.get("type") == "choice" and "options" not in field and options is not None
    return {"required": False, **field, **({"options": options} if inherits else {})}


def check(config: "TaskConfig") -> None:
    """Refuse names that are taken, and references to what is not there."""
    problems: dict[str, str] = {}
    for problem in (
        _names(config),
        _starts(config),
        _perturb(config),
        _rule(config),
        _spans(config),
        _conditions(config),
        _goals(config),
        _chats(config),
    ):
        for path, message in problem:
            problems.setdefault(path, message)
    if problems:
        refuse(problems)


def _all(config: "TaskConfig") -> Iterator[tuple[str, Field]]:
    """Each field with its path; paths of fields under `validate.ask` are as in the YAML."""
    for group in ("context", "input", "answer", "ask"):
        yield from ((f"{group}.{index}", field) for index, field in enumerate(config.fields(group)))
    yield from ((f"validate.ask.{index}", field) for index, field in enumerate(config.validation.ask))


def _names(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    taken: set[tuple[bool, str]] = set()
    for path, field in _all(config):
        key = (path.startswith("validate"), field.name)
        if key in taken:
            yield f"{path}.name", f"The name “{field.name}” is taken by another field."
        taken.add(key)


def _starts(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    inputs = [field.name for field in config.input if isinstance(field, Text)]
    contexts = [field.name for field in config.context if isinstance(field, Text)]
    for target, source in config.start.prompt.items():
        if target not in inputs:
            yield f"start.prompt.{target}", "There is no such text field in the input." + did_you_mean(target, inputs)
        if source not in contexts:
            yield (
                f"start.prompt.{target}",
                f"There is no text field “{source}” in the context." + did_you_mean(source, contexts),
            )


def _perturb(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    choices = [field.name for field in config.answer if isinstance(field, Choice)]
    if config.perturb is not None and config.perturb.flip not in choices:
        yield "perturb.flip", "There is no such choice in the answer." + did_you_mean(config.perturb.flip, choices)


def _rule(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    answers = [field.name for field in config.answer]
    for index, name in enumerate(config.fooled.fields):
        if name not in answers:
            yield f"fooled.fields.{index}", "There is no such answer field." + did_you_mean(name, answers)


def _spans(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    given = [field.name for field in [*config.context, *config.input] if isinstance(field, Text)]
    for path, field in _all(config):
        if isinstance(field, Spans) and field.of not in given:
            yield f"{path}.of", "There is no such text field in context or input." + did_you_mean(field.of, given)


def _conditions(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    for path, field in _all(config):
        for condition in field.when:
            reason = _never(config, path, condition)
            if reason:
                yield f"{path}.when", reason


def _never(config: "TaskConfig", path: str, condition: str) -> str:
    """Why `condition` can never be known where it stands; empty if it can."""
    comparison = conditions.compared(condition)
    if comparison:
        name, value = comparison
        named = {f.name: f for p, f in _all(config) if p.startswith("validate") <= path.startswith("validate")}
        if name not in named:
            return f"There is no field “{name}” to compare." + did_you_mean(name, named)
        other = named[name]
        if isinstance(other, Choice) and value not in other.values:
            return f"“{value[:60]}” is no option of {name}." + did_you_mean(value, other.values)
        return ""
    if condition in conditions.VOTES and not path.startswith("validate"):
        return "Votes are known only under validate."
    if condition in conditions.OUTCOMES and not path.startswith(("ask", "validate")):
        return "Whether a model was fooled is known only under ask and validate."
    return ""


def _goals(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    for path, field in _all(config):
        if isinstance(field, Choice) and field.goal == "assigned" and not path.startswith("answer"):
            yield f"{path}.goal", "Only an answer can be a goal."
        if field.when and path.startswith("answer"):
            yield f"{path}.when", "An answer is always asked for."


def _chats(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    chats = [(path, field) for path, field in _all(config) if isinstance(field, Chat)]
    for path, _ in chats:
        if not path.startswith(("context", "input")):
            yield f"{path}.type", "A conversation stands in the input, or a finished one in the context."
    for number, (path, field) in enumerate(each for each in chats if each[0].startswith("input")):
        if number:
            yield f"{path}.type", "A task has one conversation."
        if config.start.kinds != ["blank"] or config.perturb is not None:
            yield f"{path}.type", "A conversation begins blank: leave start and perturb out."
        yield from _claims(config, path, field)


def _claims(config: "TaskConfig", path: str, chat: Chat) -> Iterator[tuple[str, str]]:
    answers = {field.name: field for field in config.answer}
    for name, value in chat.claims.items():
        field = answers.get(name)
        if field is None:
            yield f"{path}.claims.{name}", "There is no such answer field." + did_you_mean(name, answers)
        elif not isinstance(field, Choice) or value not in field.values:
            yield f"{path}.claims.{name}", "Name one of the options of a choice."
    counting = config.fooled.fields or list(answers)
    if chat.claims and (unsaid := [name for name in counting if name not in chat.claims]):
        told = f"Say what models claim for {', '.join(unsaid)} too, or leave that out under fooled.fields."
        yield f"{path}.claims", told
