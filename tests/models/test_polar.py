import pytest

from dynabench.models.training import rows


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("A man is sleeping.", "Is a man sleeping?"),
        ("The two dogs are wet", "Are the two dogs wet?"),
        ("I can swim.", "Can I swim?"),
        ("A man sleeps.", ""),
        ("A man is not sleeping.", ""),
        ("Nobody isn't sleeping.", ""),
        ("The man who is asleep snores.", ""),
        ("Is it", ""),
        ("There is", ""),
        ("", ""),
    ],
)
def test_a_plain_statement_becomes_the_question_that_it_answers(statement, question):
    assert rows.polar_question(statement) == question
