"""The parts of the report that do not depend on the figures."""

ARM_DESCRIPTIONS = {
    "random": "- *random*: whatever comes.",
    "uncertain": "- *uncertain*: where the target's two best answers are closest, of all candidates.",
    "adversarial": "- *adversarial*: adversaries come one after another; each tries examples of contexts in random order, hands in the first that fools the target, and leaves after {tries} misses. The target is the arm's newest model.",  # noqa: E501
    "mixed": "- *half adversarial*: {half} of {each} so, the others at random.",
    "fixed": "- *no retraining*: adversarial, but the target stays the first one for ever. Its error is that of the model trained, after each round, on all that was collected this way; that model is never put in the loop.",  # noqa: E501
}
"""How each arm selects its examples."""
ALL_CANDIDATES = "the rest"
CANDIDATES = "about {candidates:,} of the rest"
NUMBER_WORDS = {2: "two", 3: "three", 4: "four", 5: "five"}

METHOD = """## What was done

**Rows.** A pool holds rows of public data sets whose answers are known: the stand-in for validators. Rows that are nearly alike, or share a premise, stay together. About {test:,} test rows and {development:,} development rows are drawn once; the test rows resemble the pool, not any one arm. Each of {seeds} seeds then draws about {start:,} rows for the first target, {later:,} from which each round's test part is chosen, and leaves {rest} as candidates for training.

**Rounds.** In each of {rounds} rounds every arm takes {each} new examples for training and {each_test} for testing later models, and trains anew on all that it has. Equal numbers, other choices:

{arm_descriptions}

**Model.** {model}

**Suite.** Short items made of templates and words written for this project, in groups by phenomenon. No model was trained on any of them, nor any penalty chosen by them.

**Intervals.** Differences are paired: the same seed, the same items, the arm's error minus that of *random*. On test rows and suite, which all seeds share, the variance is that between seeds plus that between clusters of items (rows of one group; all items of one phenomenon). Elsewhere it is that between seeds. Intervals are 95 %, with Student's t and {freedom} of freedom; a bootstrap of so few seeds would be too narrow. Holm's correction is taken over all rows of a table. *Beat* and *lost to* are said only where the interval leaves out 0. Seeds share one pool, so the figures speak of this pool."""  # noqa: E501

LIMITATIONS = """## What this does not show

- Adversaries choose from rows that exist; people write new ones, and learn what fools a model. The simulation says what *choosing what fools* does to training data, no more.
- Labels are as right as their data sets. A row with a wrong or disputed label fools a good model, so such rows are likely to gather where adversaries choose; validators would sort some of them out, here nobody does. How many there are was not measured.
- {model}
- Test rows drawn like the pool favour random collection by design. The suite and the examples that fooled the first target stand for other tests.
- Numbers of examples are equal, effort is not: see tries per example."""  # noqa: E501

NEUTRALITY = """Examples that fooled some target are no neutral test: those of the adversarial arm were chosen against its own models, each of which is wrong on all of its round's at first. The first target is common to all arms, but the arm without retraining is trained on what fools it, and rows with wrong labels gather there. A model that guessed would get some of them right: less error there may mean no more than being unlike the first target. Read it beside the error on test rows."""  # noqa: E501
