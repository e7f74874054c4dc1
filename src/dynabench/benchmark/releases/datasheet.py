"""The datasheet of a release, with the questions of Gebru and others, Datasheets for Datasets (2021)."""

from collections import Counter

from dynabench.benchmark.releases.description import ReleaseDescription
from dynabench.benchmark.releases.documents import Answers


def datasheet_text(description: ReleaseDescription) -> str:
    """Return the whole datasheet, in markdown."""
    parts = [f"# Datasheet: {description.title}", f"> {description.warning}"]
    for title, answers in (
        ("Motivation", _motivation(description)),
        ("Composition", _composition(description)),
        ("Collection", _collection(description)),
        ("Preprocessing and labels", _labelling(description)),
        ("Uses", _uses(description)),
        ("Distribution and maintenance", _distribution(description)),
    ):
        parts.append(f"## {title}")
        parts += [f"**{question}** {answer}" for question, answer in answers]
    return "\n\n".join(parts) + "\n"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(
        f"{name or 'none'} {n}" for name, n in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    )


def _share(part: int, total: int) -> str:
    return f"{part} of {total} ({100 * part / total:.1f} %)" if total else "none"


def _motivation(description: ReleaseDescription) -> Answers:
    yield (
        "What was it made for?",
        (
            description.config.description
            or f"To test and train models on the task {description.task} with examples that fooled models."
        ),
    )
    yield (
        "Who made it?",
        "People with accounts on a Dynabench platform, for the owners of the task; see the writers below.",
    )


def _composition(description: ReleaseDescription) -> Answers:
    facts = description.facts
    yield (
        "What is an instance?",
        "An example: what a person wrote against a context, with the answer they claim is right.",
    )
    yield "How many are there?", f"{facts.total}, by part: {_counted(facts.examples)}."
    yield (
        "Is it a sample?",
        (
            f"Of the round's examples those are missing that were retracted or hidden by moderators, and the "
            f"{description.report.parts.get('hidden', 0)} of the hidden part, "
            f"{description.report.parts.get('withheld', 0)} like them."
        ),
    )
    yield (
        "What does each consist of?",
        (
            f"Columns {', '.join(f'`{column}`' for *_, column in description.layout.columns)}, what the models "
            f"in the loop answered, validators' votes, how it came about. "
            f"Median length: {facts.middle(facts.lengths)} words."
        ),
    )
    yield "Is there a label?", "The claimed answer; in train, dev and test validators found it right."
    yield (
        "Are instances related?",
        (f"They share {len(facts.contexts)} contexts; {_share(facts.made_from, facts.total)} come from another."),
    )
    yield (
        "Are there splits?",
        (
            f"By the rules {description.rules.model_dump(mode='json')}; "
            f"held: {', '.join(description.report.held) or 'none'}."
        ),
    )
    yield (
        "Are there errors or redundancies?",
        (
            f"Validators agreed on {_share(facts.agreeing, facts.judged)} that had several votes. "
            f"{description.report.duplicates} repeat another one on the same context. "
            f"Verdicts: {_counted(facts.verdicts)}."
        ),
    )
    yield (
        "May it offend, or identify people?",
        (
            description.config.content_warning
            or "The task gives no warning. People agreed to write nothing that identifies others."
        ),
    )


def _collection(description: ReleaseDescription) -> Answers:
    facts = description.facts
    yield (
        "How was it acquired?",
        (
            f"Written on web pages against models that answered at once: {', '.join(description.targets) or 'none'}. "
            f"Fooled: {_share(facts.fooled, facts.decided)} of which it is known."
        ),
    )
    yield "How did they begin?", f"Starts: {_counted(facts.starts)}. Arms: {_counted(facts.arms)}."
    yield (
        "Who took part?",
        (
            f"{len(facts.writers)} writers and {len(facts.validators)} validators. Sources: {_counted(facts.sources)}. "
            f"The busiest writer wrote {100 * facts.most_by_one:.1f} %. Median time: {facts.middle(facts.seconds)} s."
        ),
    )
    yield "Over what time?", f"From {description.opened_at} to {description.closed_at}."
    yield (
        "Did people consent?",
        (
            "They agreed to the platform's terms and to this licence when they joined, and could take their examples "
            "back until the release."
        ),
    )


def _labelling(description: ReleaseDescription) -> Answers:
    rule = description.config.validation
    yield (
        "How was it labelled?",
        (
            f"Validation by `{rule.mode}`: {rule.votes} votes that agree decide, after a disagreement up to "
            f"{rule.adjudicate_up_to}. Median votes on an example: {description.facts.middle(description.facts.votes)}."
        ),
    )
    yield "Was anything cleaned?", "No text was changed. People are pseudonyms that this release alone uses."
    yield "Did writers explain?", f"{_share(description.facts.explained, description.facts.total)} have an explanation."


def _uses(description: ReleaseDescription) -> Answers:
    yield (
        "What can it be used for?",
        f"To train and test models of the kind {description.kind}, and to study how models are fooled.",
    )
    yield (
        "What should one beware of?",
        (
            "The examples were written against certain models: rates of error on them say nothing about error on "
            "ordinary text. A few writers write much; intervals should be clustered by `author`."
        ),
    )
    yield "What must it not be used for?", "Its test part, and any part of it, for corpora to pretrain models on."


def _distribution(description: ReleaseDescription) -> Answers:
    yield "Under which licence?", f"{description.licence}."
    yield (
        "Will it change?",
        (
            "Never: the SHA-256 of `manifest.json` names these very bytes. Mistakes that are found later are the next "
            "round's."
        ),
    )
