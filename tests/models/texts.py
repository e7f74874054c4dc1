"""Texts that break careless code."""

HARD = [
    "",
    " \t\n",
    "plain words, and a comma.",
    "don't re-enter the café — it's closed…!!!",
    "👩‍👩‍👧‍👦 love 👍🏽 this 😡😡 🇪🇺 film ❤️",
    "هذا فيلم جميل جدًا",
    "שלום עולם, a mixed טקסט",
    "इस फ़िल्म में कुछ नहीं है",
    "日本語のテキストと English",
    "e\u0301clair nai\u0308ve",
    "zero\u200bwidth \ufeffmark \x00 nul \x1b escape",
    "\ud800 lone surrogate".encode("utf-8", "replace").decode(),
    "a" * 5000,
    "!" * 3000,
    "word " * 3000,
    "<script>alert(1)</script> [CLS] [SEP] [MASK]",
]
