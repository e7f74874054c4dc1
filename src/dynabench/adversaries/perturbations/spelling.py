"""The same words written otherwise: contractions, misspellings, British and American spelling, digits for numbers."""

import re
from collections.abc import Sequence
from random import Random

from dynabench.adversaries.perturbations.text_edits import Edit
from dynabench.adversaries.perturbations.transformation import PerText, Transformation, per_word
from dynabench.adversaries.perturbations.words import Word, match_case, words

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


def _misspell(word: Word, rng: Random) -> str | None:
    wrong = _MISSPELLINGS.get(word.text.lower())
    return None if wrong is None or word.may_be_name else match_case(word.text, wrong)


def _swap_spelling_variants(text: str, rng: Random) -> list[Edit]:
    return [
        Edit(word.start, word.end, match_case(word.text, _VARIANTS[word.text.lower()]))
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


def _beside_a_number(text_words: Sequence[Word], at: int) -> bool:
    neighbours = [text_words[place].text.lower() for place in (at - 1, at + 1) if 0 <= place < len(text_words)]
    return any(word in _PARTS_OF_NUMBERS or word in _DIGITS for word in neighbours)


TRANSFORMATIONS: tuple[Transformation, ...] = (
    PerText("misspellings", "Common misspellings", per_word(_misspell)),
    PerText("contractions_expanded", "Contractions written out", _expand_contractions),
    PerText("contractions_made", "Contractions made", _contract),
    PerText("numerals", "Number words as digits", _write_numbers_as_digits),
    PerText("spelling_variants", "British and American spelling", _swap_spelling_variants),
)
