"""Words as they are often misspelt, one in ten."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText, per_word
from dynabench.adversaries.perturbations.words import Word, like

_WRONG = dict(
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
del _WRONG["women"], _WRONG["sitting"], _WRONG["standing"], _WRONG["walking"]


def _change(word: Word, rng: Random) -> str | None:
    wrong = _WRONG.get(word.text.lower())
    return None if wrong is None or word.name else like(word.text, wrong)


_rule = per_word(_change)
TRANSFORMATION = PerText("misspellings", "Common misspellings", _rule)
