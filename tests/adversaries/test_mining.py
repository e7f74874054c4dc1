"""Hard cases in unlabelled text: broken rules, disagreement, models that are unsure; near-duplicates once."""

import pytest

from dynabench.adversaries import corpus_mining
from dynabench.adversaries.protocol import AttackContext
from dynabench.kit.errors import Invalid
from dynabench.models.protocol import ModelOutput

RULES = "- {name: praise, answer: positive, words: [splendid]}\n"


class Knows:
    """Says positive where one word occurs, and is unsure of questions."""

    labels = ("positive", "negative")

    def __init__(self, word):
        self.word = word

    def ask(self, batch):
        return [self.label_of(row["statement"]) for row in batch]

    def label_of(self, text):
        label = "positive" if self.word in text else "negative"
        sure = 0.5 if "?" in text else 0.99
        return ModelOutput({"label": label}, {label: sure, "other": 1 - sure})


def answer_lists(*texts):
    attack_contexts = [AttackContext(f"line {n}", {}, {"statement": text}) for n, text in enumerate(texts, start=1)]
    models = {"a": Knows("good"), "b": Knows("fine"), "c": Knows("fine")}
    return corpus_mining.choose_hardest(
        corpus_mining.find_hard_cases(attack_contexts, models, "label", corpus_mining.read_rules(RULES)), 10
    )


def test_broken_rules_come_before_disagreement_before_doubt():
    chosen = answer_lists("It was bad.", "Was it bad?", "It was fine.", "It was splendid.", "It was good and fine.")
    assert [(item.context.uid, item.claimed) for item in chosen] == [
        ("line 4", "positive"),
        ("line 3", "positive"),
        ("line 2", "negative"),
    ]
    findings = corpus_mining.build_report(chosen, "label", ["a", "b", "c"]).findings
    assert [item.facts["claimed_by"] for item in findings] == ["rule", "other models", "first model"]
    assert findings[1].facts["said"] == ["a: negative", "b: positive", "c: positive"]
    assert (findings[0].texts, findings[0].label) == ({"statement": "It was splendid."}, "positive")


def test_near_duplicates_are_one_case():
    item = "The hotel by the sea had a fine view, said everybody who came there in the summer."
    assert len(answer_lists(item, item.replace("summer", "Summer!"), "All was fine.")) == 2


@pytest.mark.parametrize("text", ["a: [", "praise", "- {answer: x}", "- {answer: x, regex: '('}", "- {words: [a]}"])
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(Invalid):
        corpus_mining.read_rules(text)
