"""Changes of how a text is written: characters, punctuation, spelling."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random

from dynabench.adversaries.perturbations.transformation import (
    NEGATIONS,
    REAL_WORDS,
    Edit,
    EditRule,
    PerText,
    SourceWord,
    Transformation,
    match_case,
    per_match,
    per_word,
    protected_spans,
    replace_in_case,
    words,
)

_KEYBOARD_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOUR_KEYS = {
    letter: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in _KEYBOARD_ROWS for at, letter in enumerate(row)
}  # fmt: skip
_DIGITS_FOR_LETTERS = str.maketrans("aeio", "4310")
_CYRILLIC_FOR_LATIN = str.maketrans("aceopxyijs", "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455")
"""Letters that look the same (confusable by Unicode UTS #39)."""
_ACCENTED_VOWELS = dict(zip("aeiou", "\u00e1\u00e9\u00ed\u00f3\u00fa", strict=True))


def typing_error(change: Callable[[str, int, Random], str]) -> EditRule:
    """Return a rule that makes one typing error in one word of ten.

    `change` gets a plain word, a place inside it (not its ends) and the random generator. An error that makes another
    word is not written.
    """

    def misspell(word: SourceWord, rng: Random) -> str | None:
        if not word.plain:
            return None
        new = change(word.text, rng.randrange(1, len(word.text) - 1), rng)
        return None if new in REAL_WORDS else new

    return per_word(misspell)


def _press_neighbour_key(word: str, at: int, rng: Random) -> str:
    return word[:at] + rng.choice(_NEIGHBOUR_KEYS[word[at]]) + word[at + 1 :]


def _swap_letters(word: str, at: int, rng: Random) -> str:
    at = min(at, len(word) - 3)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _drop_letter(word: str, at: int, rng: Random) -> str:
    return word[:at] + word[at + 1 :]


def _double_letter(word: str, at: int, rng: Random) -> str:
    return word[:at] + word[at] + word[at:]


def _write_digits(word: SourceWord, rng: Random) -> str | None:
    return word.text.translate(_DIGITS_FOR_LETTERS) if word.plain else None


def _insert_zero_width_space(word: SourceWord, rng: Random) -> str | None:
    if not word.text.isalpha() or len(word.text) < 4:
        return None
    at = rng.randrange(1, len(word.text))
    return f"{word.text[:at]}\u200b{word.text[at:]}"


def _write_cyrillic_letter(word: SourceWord, rng: Random) -> str | None:
    places = [at for at, letter in enumerate(word.text) if ord(letter) in _CYRILLIC_FOR_LATIN]
    if word.may_be_name or len(word.text) < 4 or not places:
        return None
    at = rng.choice(places)
    return word.text[:at] + word.text[at].translate(_CYRILLIC_FOR_LATIN) + word.text[at + 1 :]


def _accent_vowel(word: SourceWord, rng: Random) -> str | None:
    places = [at for at, letter in enumerate(word.text) if letter in _ACCENTED_VOWELS]
    if not word.plain or not places:
        return None
    at = rng.choice(places)
    return word.text[:at] + _ACCENTED_VOWELS[word.text[at]] + word.text[at + 1 :]


def _capitalise_all(text: str, rng: Random) -> list[Edit]:
    return [Edit(word.start, word.end, word.text.upper()) for word in words(text)]


def _lower_all(text: str, rng: Random) -> list[Edit]:
    """Abbreviations such as US keep their capitals, unless the whole text is in capitals."""
    shouted = text.isupper()
    return [
        Edit(word.start, word.end, word.text.lower())
        for word in words(text)
        if shouted or len(word.text) == 1 or not word.text.isupper()
    ]


def _capitalise_word(word: SourceWord, rng: Random) -> str | None:
    return word.text.upper() if len(word.text) > 2 and word.text.islower() else None


_LAST_MARK = re.compile(r"(?<![.!?…])([.!?]?)(?=[\"'”’)\]]*\s*$)")
_REMOVABLE_MARK = re.compile(r"(?<=[a-z])[,;](?=\s)|(?<=[a-z]{3})\.(?=\s*$)")
"""Commas and full stops; marks that change the meaning (?, !, quotes) and those in numbers stay."""
_SPACE_AFTER_MARK = re.compile(r"(?<=[a-z]{2}[,;:!?.]) (?=[A-Za-z]{2})")
_WORDS_OF_DEGREE = frozenset(
    """so very really good great bad nice cool fun funny love hate long slow boring happy sad cute sweet awful amazing
    wonderful terrible beautiful ugly huge cold hot please well way totally super""".split()
)
_LAST_VOWEL = re.compile(r"[aeiouy](?=[^aeiou]*$)")


def _add_punctuation(text: str, rng: Random) -> list[Edit]:
    """The mark that ends the text is written twice; dots are added where there is none."""
    match = _LAST_MARK.search(text.rstrip())
    if match is None or not text[: match.start()].strip() or not text[match.start() - 1].isascii():
        return []
    at = match.end()
    return [Edit(at, at, {"!": "!!", "?": "?", ".": ".."}.get(match[1], "..."))]


def _remove_punctuation(text: str, rng: Random) -> list[Edit]:
    spans = protected_spans(text)
    return [
        Edit(match.start(), match.end(), "")
        for match in _REMOVABLE_MARK.finditer(text)
        if not any(start <= match.start() < end for start, end in spans)
    ]


def _double_spaces(text: str, text_words: Sequence[SourceWord]) -> list[Edit]:
    return [
        Edit(word.end, word.end, " ")
        for word, after in pairwise(text_words)
        if text[word.end : after.start] == " "
    ]  # fmt: skip


def _drop_spaces_after_marks(text: str, text_words: Sequence[SourceWord]) -> list[Edit]:
    return [Edit(match.start(), match.end(), "") for match in _SPACE_AFTER_MARK.finditer(text)]


def _split_word(word: SourceWord, rng: Random) -> str | None:
    if not word.plain or len(word.text) < 7:
        return None
    at = rng.randrange(3, len(word.text) - 2)
    return f"{word.text[:at]} {word.text[at:]}"


def _merge_words(text: str, text_words: Sequence[SourceWord]) -> list[Edit]:
    """Two short words stay apart, since another word may come out, and so does what stands beside a negation."""
    return [
        Edit(word.end, after.start, "")
        for word, after in pairwise(text_words)
        if text[word.end : after.start] == " "
        and _may_be_merged(word)
        and _may_be_merged(after)
        and max(len(word.text), len(after.text)) > 4
    ]


def _may_be_merged(word: SourceWord) -> bool:
    return word.text.islower() and word.text.isalpha() and len(word.text) > 2 and word.text not in NEGATIONS


def _repeat_vowel(word: SourceWord, rng: Random) -> str | None:
    """Sooo: the last vowel of a word of degree or feeling, three times."""
    if word.text.lower() not in _WORDS_OF_DEGREE or word.may_be_name:
        return None
    return _LAST_VOWEL.sub(lambda match: match[0] * 3, word.text, count=1)


_CONTRACTIONS = {
    "is not": "isn't", "are not": "aren't", "was not": "wasn't", "were not": "weren't", "do not": "don't",
    "does not": "doesn't", "did not": "didn't", "has not": "hasn't", "have not": "haven't", "had not": "hadn't",
    "can not": "can't", "cannot": "can't", "could not": "couldn't", "will not": "won't", "would not": "wouldn't",
    "should not": "shouldn't", "must not": "mustn't", "need not": "needn't", "i am": "i'm", "you are": "you're",
    "we are": "we're", "they are": "they're", "i have": "i've", "you have": "you've", "we have": "we've",
    "they have": "they've", "i will": "i'll", "you will": "you'll", "he will": "he'll", "she will": "she'll",
    "it will": "it'll", "we will": "we'll", "they will": "they'll",
}  # fmt: skip
"""Contractions by the words they stand for, without those that may stand for two things ('s, 'd)."""
_EXPANSIONS = {short: long for long, short in _CONTRACTIONS.items() if long != "can not"}
_CONTRACTIBLE = re.compile(rf"(?<![\w'’-])(?:{'|'.join(_CONTRACTIONS)})(?=[ ,][a-z])", re.IGNORECASE)
_MAIN_VERB_HAVE = re.compile(r"(?:have|has) (?:to|a|an|the|my|your|our|no)\b", re.IGNORECASE)
_CONTRACTED = re.compile(rf"(?<![\w'’-])(?:{'|'.join(_EXPANSIONS)})(?![\w'’-])".replace("'", "['’]"), re.IGNORECASE)
_SUBJECT = re.compile(r" (?:i|you|he|she|it|we|they|the|a|this|that)\b", re.IGNORECASE)
_MISSPELLINGS = dict(
    pair.split(":")
    for pair in """
    absolutely:absolutly accommodate:accomodate achieve:acheive across:accross actually:actualy address:adress
    amazing:amazeing apparently:apparantly appearance:appearence argument:arguement basically:basicly
    beautiful:beautifull because:becuase beginning:begining believe:beleive boring:borring business:buisness
    calendar:calender category:catagory character:charactor children:childern colleague:collegue comedy:commedy
    coming:comming committee:commitee completely:completly conscious:concious definitely:definately
    different:diffrent disappear:dissapear disappointed:dissapointed disappointing:dissapointing doing:doeing
    embarrassing:embarassing enough:enuogh environment:enviroment especially:especialy everything:everthing
    excellent:excelent existence:existance experience:experiance familiar:familar favorite:favorate
    finally:finaly foreign:foriegn forward:foward friend:freind friends:freinds further:futher general:genral
    generally:generaly government:goverment grammar:grammer guarantee:garantee happened:happend happiness:happyness
    hilarious:hillarious humorous:humerous immediately:immediatly independent:independant intelligent:inteligent
    interesting:intresting knowledge:knowlege language:langauge library:libary maintenance:maintainance
    memorable:memorible mischievous:mischievious mystery:mistery necessary:neccessary noticeable:noticable
    occasion:ocassion occurred:occured opposite:oposite original:orignal outside:outsied people:poeple
    perfect:perfact performance:preformance personal:personnal pleasant:plesant possible:posible predictable:predictible
    president:presidant previous:previuos probably:probaly public:publick really:realy received:recieved
    receive:recieve recommend:reccomend relevant:relevent religious:religous remember:rember restaurant:restaraunt
    ridiculous:rediculous romantic:romantick running:runing school:shcool science:sience sentence:sentance
    separate:seperate similar:similiar sincerely:sincerly sitting:siting something:somthing soldier:soilder
    special:speical standing:standin street:streat strength:strenght successful:succesful surprise:suprise
    surprising:suprising swimming:swiming terrible:terible thought:thougt together:togather tomorrow:tommorow
    tongue:tounge truly:truely until:untill unfortunately:unfortunatly usually:usualy walking:walkin watching:wacthing
    weird:wierd wearing:waering whole:hwole woman:womman women:womman writing:writting young:yuong
    """.split()
)
del _MISSPELLINGS["women"], _MISSPELLINGS["sitting"], _MISSPELLINGS["standing"], _MISSPELLINGS["walking"]
_AMERICAN_BRITISH = [
    pair.split(":")
    for pair in """
    color:colour colors:colours colored:coloured colorful:colourful favorite:favourite favorites:favourites
    flavor:flavour flavors:flavours honor:honour honored:honoured humor:humour labor:labour neighbor:neighbour
    neighbors:neighbours neighborhood:neighbourhood behavior:behaviour rumor:rumour endeavor:endeavour
    center:centre centers:centres theater:theatre theaters:theatres fiber:fibre liter:litre somber:sombre
    organize:organise organized:organised organization:organisation realize:realise realized:realised
    realizes:realises recognize:recognise recognized:recognised apologize:apologise criticize:criticise
    emphasize:emphasise analyze:analyse analyzed:analysed paralyzed:paralysed memorize:memorise
    defense:defence offense:offence traveling:travelling traveled:travelled traveler:traveller
    canceled:cancelled modeling:modelling jewelry:jewellery gray:grey catalog:catalogue dialog:dialogue
    aluminum:aluminium airplane:aeroplane mom:mum pajamas:pyjamas skeptical:sceptical plow:plough mustache:moustache
    skillful:skilful fulfill:fulfil marvelous:marvellous savory:savoury odor:odour parlor:parlour armor:armour
    harbor:harbour vapor:vapour tumor:tumour splendor:splendour savior:saviour
    """.split()
]
_VARIANTS = dict(_AMERICAN_BRITISH) | {british: american for american, british in _AMERICAN_BRITISH}
_DIGITS = {
    word: str(number)
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
}
"""From two on: *one* is often no number."""
_PARTS_OF_NUMBERS = frozenset(
    """hundred thousand million billion dozen half point and or to percent first second third quarters twenty thirty
    forty fifty sixty seventy eighty ninety""".split()
)


def _contract(text: str, rng: Random) -> list[Edit]:
    return [
        Edit(match.start(), match.end(), match_case(match[0][:1] + "x", _CONTRACTIONS[match[0].lower()]))
        for match in _CONTRACTIBLE.finditer(text)
        if not _MAIN_VERB_HAVE.match(text, match.end() - 4)
    ]


def _expand_contractions(text: str, rng: Random) -> list[Edit]:
    """Nothing where a subject follows: "isn't it" is not "is not it"."""
    return [
        Edit(
            match.start(), match.end(), match_case(match[0][:1] + "x", _EXPANSIONS[match[0].lower().replace("’", "'")])
        )
        for match in _CONTRACTED.finditer(text)
        if not (match[0].lower().endswith(("n't", "n’t")) and _SUBJECT.match(text, match.end()))
    ]


def _misspell(word: SourceWord, rng: Random) -> str | None:
    wrong = _MISSPELLINGS.get(word.text.lower())
    return None if wrong is None or word.may_be_name else match_case(word.text, wrong)


def _swap_spelling_variants(text: str, rng: Random) -> list[Edit]:
    return [
        replace_in_case(word, _VARIANTS[word.text.lower()])
        for word in words(text)
        if word.text.lower() in _VARIANTS and not word.may_be_name
    ]


def _write_numbers_as_digits(text: str, rng: Random) -> list[Edit]:
    text_words = words(text)
    return [
        Edit(word.start, word.end, _DIGITS[word.text])
        for at, word in enumerate(text_words)
        if word.text in _DIGITS and not _beside_a_number(text_words, at)
    ]


def _beside_a_number(text_words: Sequence[SourceWord], at: int) -> bool:
    neighbours = [text_words[place].text.lower() for place in (at - 1, at + 1) if 0 <= place < len(text_words)]
    return any(word in _PARTS_OF_NUMBERS or word in _DIGITS for word in neighbours)


TRANSFORMATIONS: tuple[Transformation, ...] = (
    PerText("keyboard_typos", "Typing errors: a key beside", typing_error(_press_neighbour_key)),
    PerText("swapped_letters", "Typing errors: two letters swapped", typing_error(_swap_letters)),
    PerText("dropped_letters", "Typing errors: a letter left out", typing_error(_drop_letter)),
    PerText("doubled_letters", "Typing errors: a letter twice", typing_error(_double_letter)),
    PerText("leetspeak", "Digits for letters", per_word(_write_digits)),
    PerText("zero_width", "Invisible characters", per_word(_insert_zero_width_space)),
    PerText("look_alikes", "Look-alike characters", per_word(_write_cyrillic_letter)),
    PerText("accents", "Accents added", per_word(_accent_vowel)),
    PerText("upper_case", "All in capitals", _capitalise_all),
    PerText("lower_case", "All in small letters", _lower_all),
    PerText("random_case", "Some words in capitals", per_word(_capitalise_word, every=5)),
    PerText("punctuation_added", "Punctuation added", _add_punctuation),
    PerText("punctuation_removed", "Punctuation left out", _remove_punctuation),
    PerText("whitespace_added", "Spaces added", per_match(_double_spaces)),
    PerText("whitespace_removed", "No space after punctuation", per_match(_drop_spaces_after_marks)),
    PerText("split_words", "A word split in two", per_word(_split_word)),
    PerText("merged_words", "Two words run together", per_match(_merge_words)),
    PerText("emphasis", "Letters repeated for emphasis", per_word(_repeat_vowel)),
    PerText("misspellings", "Common misspellings", per_word(_misspell)),
    PerText("contractions_expanded", "Contractions written out", _expand_contractions),
    PerText("contractions_made", "Contractions made", _contract),
    PerText("numerals", "Number words as digits", _write_numbers_as_digits),
    PerText("spelling_variants", "British and American spelling", _swap_spelling_variants),
)
