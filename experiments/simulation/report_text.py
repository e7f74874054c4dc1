"""The parts of the report that do not depend on the figures."""

ARM_DESCRIPTIONS = {
    "random": "- *random*: a random choice.",
    "uncertain": "- *uncertain*: the candidates on which the target's two best answers are closest.",
    "adversarial": "- *adversarial*: adversaries come one after another. Each tries examples of contexts in random order, submits the first that fools the target, and leaves after {tries} failures. The target is the arm's newest model.",  # noqa: E501
    "mixed": "- *half adversarial*: {half} of {each} adversarial, the others random.",
    "fixed": "- *no retraining*: adversarial, but the target is always the first one. The error is that of a model trained after each round on everything collected in this way; this model is never in the loop.",  # noqa: E501
}
"""How each arm selects its examples."""
ALL_CANDIDATES = "the rest"
CANDIDATES = "about {candidates:,} of the rest"
NUMBER_WORDS = {2: "two", 3: "three", 4: "four", 5: "five"}

METHOD = """## Method

**Rows.** A pool holds rows of public data sets with known answers, which replace validators. Near-duplicates and rows with the same premise stay together. About {test:,} test rows and {development:,} development rows are drawn once; the test rows resemble the pool and favour no adversarial arm. Each of {seeds} seeds then draws about {start:,} rows for the first target, {later:,} from which each round's test part is chosen, and keeps {rest} as candidates for training.

**Rounds.** In each of {rounds} rounds every arm takes {each} new examples for training and {each_test} for testing later models, and trains a new model on everything it has. All arms take equal numbers and differ in the choice:

{arm_descriptions}

**Model.** {model}

**Suite.** Short items from templates and words that were written for this project, grouped by phenomenon. They were used neither to train a model nor to choose a penalty.

**Intervals.** Differences are paired: the same seed, the same items, the arm's error minus that of *random*. On test rows and suite, which all seeds share, the variance is between seeds plus between clusters of items (rows of one group; all items of one phenomenon). Elsewhere it is between seeds. Intervals are 95 %, with Student's t and {freedom} of freedom; a bootstrap of so few seeds would be too narrow. Holm's correction covers all rows of a table. The text says *beat* and *lost to* only if the interval excludes 0. All seeds use one pool, so the figures hold for this pool."""  # noqa: E501

LIMITATIONS = """## Limitations

- Adversaries choose from existing rows. People write new ones and learn what fools a model. The simulation only shows how *choosing what fools* changes training data.
- Labels are only as good as their data sets. A row with a wrong or disputed label fools a good model, so adversaries are likely to choose such rows. Validators would remove some of them; here they stay. Their number was not measured.
- {model}
- Test rows drawn like the pool favour random collection by design. The suite and the examples that fooled the first target are the other tests.
- The arms have equal numbers of examples but not equal effort: see tries per example."""  # noqa: E501

NEUTRALITY = """Examples that fooled a target are no neutral test. Those of the adversarial arm were chosen against its own models, each of which is at first wrong on all examples of its round. The first target is common to all arms, but the arm without retraining is trained on what fools it, including rows with wrong labels. A model that guesses gets some of them right, so a lower error may only mean that a model differs from the first target. Compare it with the error on test rows."""  # noqa: E501
