"""Short mathematical answers in LaTeX, written in one way.

After the rules by which the MATH data set compares answers: Hendrycks et al., Measuring Mathematical Problem Solving
With the MATH Dataset, NeurIPS Datasets and Benchmarks 2021.
"""

import re

GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
BARE = r"\\[a-zA-Z]+|[^{\\\s]"  # an argument without braces: one command or one character

# In this order: what is taken away or written in its long form.
RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\n|\\!", ""),
        (r"\\\\", r"\\"),
        (r"\\[td]frac", r"\\frac"),
        (r"\\(left|right)(?![a-zA-Z])", ""),
        (r"\^(\{\\circ\}|\\circ)", ""),  # degrees
        (r"\\?\$", ""),
        (r"\\text\{ .*", ""),  # units on the right
        (r"\\?%", ""),
        (r"(?<!\d)\.(?=\d)", "0."),
        (r"^\s*[A-Za-z]{1,2}\s*=(?=[^=]*$)", ""),  # "k = 5"
        (rf"\\sqrt(?!\[)\s*({BARE})", r"\\sqrt{\g<1>}"),
        (rf"\\frac\s*({BARE})", r"\\frac{\g<1>}"),
        (rf"(\\frac{GROUP})\s*({BARE})", r"\g<1>{\g<2>}"),
        (r"\s", ""),
        (r"^0\.5$", r"\\frac{1}{2}"),
        (r"^(-?\d+)/(-?\d+)$", r"\\frac{\g<1>}{\g<2>}"),
    )
)


def canonical_answer(answer: str) -> str:
    """Return the answer without what does not change its value; equal texts are equal answers, others may still be."""
    for pattern, replacement in RULES:
        answer = pattern.sub(replacement, answer)
    return answer
