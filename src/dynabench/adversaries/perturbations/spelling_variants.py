"""British spellings of American words and the other way round."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText
from dynabench.adversaries.perturbations.edits import Edit
from dynabench.adversaries.perturbations.words import like, words

_PAIRS = [
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
_OTHER = dict(_PAIRS) | {british: american for american, british in _PAIRS}


def _rule(text: str, rng: Random) -> list[Edit]:
    return [
        Edit(word.start, word.end, like(word.text, _OTHER[word.text.lower()]))
        for word in words(text)
        if word.text.lower() in _OTHER and not word.name
    ]


TRANSFORMATION = PerText("spelling_variants", "British and American spelling", _rule)
