"""Messages of model checks: in English for programs; `in_words` finds their translation for pages.

A report is made in a process of its own, and stored: it arrives as text, and each sentence is found
again among these messages.
"""

from dynabench.kit.language import Phrase, _, joined, recognised

STEPS = (
    _("found"),
    _("installed"),
    _("fits the task"),
    _("loads"),
    _("answers"),
    _("repeats"),
    _("batches"),
    _("speed"),
    _("strips"),
    _("rows"),
    _("learns"),
)
ALONE, AGAIN = _("alone, in a batch and in another order"), _("when asked again")
NOT_REACHED = _("not reached")
REFUSED = _("refused: %(reason)s")
FILES = _("%(files)s files, %(megabytes)s MB")
DESCRIBED = _("%(name)s is of kind %(kind)s, reads %(inputs)s, answers %(answer)s")
LACKING_BOTH = _("Say summary and data in model.yaml: people choose models by what they are and learnt from.")
LACKING = _("Say %(lacking)s in model.yaml: people choose models by what they are and learnt from.")
NEEDED = _("all that models of kind %(kind)s need")
UNSAID = _("it never answers %(unsaid)s")
ALLOWED = _("That is allowed; such examples fool it always.")
FITTING = _("inputs, answer and labels are those of %(task)s")
LOADED_GROWN = _("in %(seconds)s s, %(megabytes)s MB more memory")
LOADED = _("in %(seconds)s s")
PAID = _("each picture is drawn anew, and paid for")
BROKEN = _("%(broken)s of %(samples)s samples have no valid answer")
SAME = _("all %(samples)s samples, %(answers)s different answers: %(answer)s")
ANSWERED = _("all %(samples)s samples, %(answers)s different answers")
UNTRAINED = _("It says the same each time: is it trained?")
EQUAL = _("the same answers %(when)s (within %(gap)s)")
MOVED = _("%(answers)s answers differ %(when)s")
WIDE = _("probabilities differ by up to %(gap)s %(when)s")
SPEED_RESIDENT = _("p50 %(half)s ms, p95 %(most)s ms; %(rate)s answers/s in batches of 16; %(megabytes)s MB resident")
SPEED = _("p50 %(half)s ms, p95 %(most)s ms; %(rate)s answers/s in batches of 16")
LIMIT = _("annotators wait %(seconds)s s at most")
WORDLESS = _("it cannot say which words it looked at")
MOST_CAN = _("Most backends can; see its kind.")
STRIPS = _("After %(seconds)s s annotators see no strip; a faster model or a shorter input helps.")
SILENT = _("%(name)s has not answered for %(seconds)s s.")
UNENDED = _("%(method)s has not ended within %(seconds)s s.")
LACKS_FIELDS = _("%(name)s needs the fields %(lacking)s, which the task lacks; it has %(given)s.")
NO_ANSWER = _("%(name)s answers %(answer)s, which is no answer of the task; answers are %(known)s.")
OTHER_LABELS = _("%(name)s returns %(labels)s; the task's options are %(options)s.")
OTHER_FORM = _("%(name)s returns %(returned)s; the task's answer %(answer)s is %(wanted)s.")
NOT_DRAWING = _("%(name)s does not draw: this task needs models of kind openai-images.")
NOT_CONVERSING = _(
    "%(name)s does not converse: a chat needs language models of kind openai or transformers with returns: text."
)
NOT_ASKED_TO_DRAW = _("%(name)s draws pictures, which nobody asks for in this task.")
OTHER_PICTURE = _("%(name)s answers %(answer)s; what is drawn in this task is %(drawn)s.")
READS_PICTURE = _("What is drawn cannot be read before.")
WRONG_STRIP = _("%(method)s gave a wrong strip: %(wrong)s")
NO_INPUT = _("%(name)s is no input.")
OTHER_WORD = _("%(word)s at %(start)s is not what %(name)s says there, or stands there twice.")
WRONG_WEIGHT = _("the weight of %(word)s is %(weight)s; it must lie between -1 and 1.")
UNWEIGHED = _("%(names)s: no words were weighed.")
WRONG_THINGS = _("%(count)s things are wrong in %(file)s")
ALL_ROWS = _("all %(count)s rows have an answer")
ROWS = _("%(count)s rows")
SECONDS_LONG = _("The check took longer than %(seconds)s s and was ended.")
MEMORY = _("It took %(used)s MiB of memory; %(memory)s MiB are allowed.")
CRASHED = _("The model's code crashed (%(name)s); the log says what came before.")
ENDED = _("The check ended early with status %(status)s; the log says what came before.")
# Why a child process died (`kit.child_process`); the two sentences above are those of reports from before.
PROCESS_CRASHED = _("The process crashed (%(name)s); the log says what came before.")
PROCESS_ENDED = _("The process ended early with status %(status)s; the log says what came before.")
ENTERED = _("%(name)s %(version)s was entered for this task already: nothing in it has changed.")

STEP_REMEDIES = {
    "found": _("Check the spelling, and that what you name can be read from here."),
    "model.yaml": _("Mend model.yaml; `dynabench model new` writes one that fits, with comments."),
    "installed": _("Install what the message names; `dynabench model kinds` shows what is there."),
    "fits the task": _("In model.yaml use the task's names for inputs, answer and labels."),
    "loads": _("The weights must belong to this model.yaml; the message says what did not fit."),
    "answers": _(
        "Every input that the task allows needs an answer; the message says what was wrong with those it gave."
    ),
    "batches": _("No row may depend on its neighbours: mask the padding, keep the order, keep nothing between calls."),
    "repeats": _("Set a seed or temperature 0, and switch dropout off, so that a recorded answer can be reproduced."),
    "speed": _("Say how long it takes as `seconds:` in model.yaml, or make it smaller: shorter inputs, int8, ONNX."),
}
"""What to do about a step that failed; `STRIPS` is that of strips."""

WITH_VALUES = (
    FILES, DESCRIBED, LACKING, NEEDED, UNSAID, FITTING, LOADED_GROWN, LOADED, BROKEN, SAME, ANSWERED, EQUAL, MOVED,
    WIDE, SPEED_RESIDENT, SPEED, LIMIT, STRIPS, SILENT, UNENDED, LACKS_FIELDS, NO_ANSWER, OTHER_LABELS, OTHER_FORM,
    NOT_DRAWING, NOT_CONVERSING, NOT_ASKED_TO_DRAW, OTHER_PICTURE, WRONG_STRIP, NO_INPUT, OTHER_WORD, WRONG_WEIGHT,
    UNWEIGHED, WRONG_THINGS, ALL_ROWS, ROWS, SECONDS_LONG, MEMORY, CRASHED, ENDED, PROCESS_CRASHED,
    PROCESS_ENDED, ENTERED, REFUSED,
)  # fmt: skip
LONGEST = 4_000
"""Characters of a message that are looked through; longer ones are logs and stay as they are."""


def in_words(text: str) -> str:
    """Return the text of a check, each line with its translation where there is one.

    Texts of more than `LONGEST` characters are logs and stay as they are.
    """
    return text if len(text) > LONGEST else joined("\n", (_line(line) for line in text.split("\n")))


def _line(text: str) -> str:
    found = recognised(text, WITH_VALUES)
    if isinstance(found, Phrase):
        # sentences without values are in the catalogues as they are: so are those within, such as when answers differ
        values = {name: _line(value) if isinstance(value, str) else value for name, value in found.values.items()}
        return Phrase(found.message, found.plural, found.number, values)
    return Phrase(text, "", None, {}) if text.strip() else text
