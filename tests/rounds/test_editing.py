"""Messages on a config beside its editor."""

from dynabench.rounds import config_review


def test_a_difference_shows_lines_around_it_and_leaves_the_rest_out():
    before = "\n".join(str(n) for n in range(20))
    lines = config_review.diff_lines(before, before.replace("\n10\n", "\nten\n"))
    assert [(line.sign, line.text) for line in lines] == [
        ("@", ""),
        *[(" ", str(n)) for n in (7, 8, 9)],
        ("-", "10"),
        ("+", "ten"),
        *[(" ", str(n)) for n in (11, 12, 13)],
    ]
    assert (lines[4].old, lines[5].new) == (11, 11)
    assert config_review.diff_lines(before, before) == []


def test_problems_are_told_in_the_order_of_their_lines():
    result = config_review.config_problems({"b": "Wrong. (line 12)", "a": "Bad (line 3).", "config": "Nothing."})
    assert [(item.path, item.message, item.line) for item in result] == [
        ("config", "Nothing.", None),
        ("a", "Bad.", 3),
        ("b", "Wrong.", 12),
    ]
