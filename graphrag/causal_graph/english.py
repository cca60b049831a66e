"""English cues of cause and effect, and the tables that reading them needs."""

from graphrag.causal_graph.english_predicates import LABELS, NOUNS, PASSIVES, VERBS
from graphrag.causal_graph.english_words import FINITE, MORE, THIS
from graphrag.causal_graph.grammar import (
    CAUSES,
    CLEAR,
    LEADS_TO,
    LIKELY,
    SURE,
    VAGUE,
    CausalGrammar,
    Cue,
    Form,
    cues,
    word_set,
)

_THEREFORE = cues(Form.THEREFORE, LEADS_TO, CLEAR, (
    "as a (?:direct )?(?:result|consequence)(?: of (?:this|that|which))?(?! of)", "consequently", "therefore", "accordingly(?=,)", "(?:in|by) consequence(?! of)",
    r"(?:which is|that is|that's|this is|it is|it's|and that is) (?:exactly |precisely |partly |also )?(?:why|the reason why|the reason that|how come)",
    rf"(?:because of|due to|owing to|thanks to|on account of|as a result of|in view of|in light of) {THIS}(?=\s*,|\s+(?:the|we|i|he|she|it|they|our|my|his|her|their|a|an)\b)",
    "for (?:this|that|these|those) (?:very |same )?reasons?(?: alone)?", "hence(?! the name)", "thereby(?= \\w+ing)",
)) + cues(Form.THEREFORE, LEADS_TO, LIKELY, ["thus", r"and\s+so(?=\s+(?!on\b|forth\b|far\b|is\b|do\b|did\b|does\b)\w)", "so much so that", "with the result that", "to the point (?:that|where)", "the upshot (?:is|was) that"])  # fmt: skip
_SO = (
    Cue(
        r"(?<=[,;–—-]\s)so(?=,?\s+(?!that\b|far\b|long\b|much\b|many\b|as\b|on\b|forth\b|called|to\b|is\b|do\b|did\b|does\b|was\b\s+\w+$|big\b|what\b|please\b|be\b|good\b)\w)",
        Form.SO,
        LEADS_TO,
        LIKELY,
    ),
    Cue(
        r"so(?=\s+(?:i|we|he|she|it|they|you|the|my|our|his|her|their|this|nobody|everyone|no\s+one)\s+(?!that)\w)(?<!\w\sso)(?<!\w,\sso)",
        Form.SO,
        LEADS_TO,
        VAGUE,
        effect=FINITE,
    ),
)
_BECAUSE = cues(Form.BECAUSE, CAUSES, SURE, (
    "because(?! of)", "due to the fact that", "owing to the fact that", "thanks to the fact that", "on the grounds that", "on account of the fact that",
)) + cues(Form.BECAUSE, CAUSES, CLEAR, (
    "seeing (?:as|that|how)", "given that", "in view of the fact that", "in light of the fact that", "considering that", "inasmuch as", "insofar as", "by virtue of the fact that", "for fear that", "seeing as how",
)) + (
    Cue(r"cos|'cause|cuz", Form.BECAUSE, CAUSES, LIKELY, cause=FINITE),
    Cue(r"now\s+that", Form.BECAUSE, CAUSES, VAGUE),
    Cue(r"(?<=[,;]\s)for(?=\s+(?:he|she|it|they|we|i|there|nobody|no\s+one|the|her|his|my|our|their|its|neither|all|nothing|such)\s)", Form.BECAUSE, CAUSES, VAGUE, cause=FINITE),
    Cue(r"(?<!ever\s)(?<!has\s)(?<!have\s)(?<!had\s)since(?!\s+(?:the\s+)?(?:\d|early|late|mid|beginning|end\b|start|first|last|time|turn|then|when|january|february|march|april|may\b|june|july|august|september|october|november|december))(?=\s+(?:(?!\w+ed\b|was\b|were\b|had\b|then\b)[\w'-]+\s+){1,6}?(?:is|are|isn't|aren't|can|can't|cannot|don't|doesn't|needs?|lacks?|contains?|costs?|remains?|will|won't|do\s+not|does\s+not)\b)", Form.BECAUSE, CAUSES, LIKELY, cause=FINITE),
    Cue(r"(?<!ever\s)(?<!has\s)(?<!have\s)(?<!had\s)since(?!\s+(?:the\s+)?(?:\d|early|late|mid|beginning|end\b|start|first|last|time|turn|then|when|january|february|march|april|may\b|june|july|august|september|october|november|december))(?=\s+(?:\w+\W+){0,8}?(?:was|were|is|are|had|has|have|could|couldn't|can|can't|cannot|did|didn't|does|doesn't|don't|wasn't|weren't|isn't|aren't|hadn't|hasn't|haven't|would|wouldn't|will|won't|contains?|needs?|costs?|lacks?|remains?|wanted|needed|knew|lacked|contained)\b)", Form.BECAUSE, CAUSES, VAGUE, cause=FINITE, not_cause=r"^(?:then|when|january|february|march|april|june|july|august|september|october|november|december|\d)", not_effect=r"\b(?:has|have|had|'ve|haven't|hasn't|hadn't)\s+(?:not\s+|never\s+|always\s+)?(?:been|\w+ed|gone|seen|had|done|grown|eaten|slept|become|risen|fallen)\b|\b(?:years|months|weeks|long\s+time)\b"),
)  # fmt: skip
_BECAUSE_OF = cues(Form.BECAUSE_OF, CAUSES, SURE, (
    rf"because{MORE} of(?! course)", r"due,?(?: \w+ly| in part| in large part| above all)?,? to(?! (?:be|arrive|start|begin|open|close|end|finish|leave|return|expire|take|meet|retire|run|go|play|speak|visit|appear|launch|move|give|have|get|come|do|start)\b)(?! the fact that)", "owing to(?! the fact that)", "on account of", "as a (?:direct )?(?:result|consequence) of", "because of",
)) + cues(Form.BECAUSE_OF, CAUSES, CLEAR, (
    r"(?<!many\s)(?<!my\s)(?<!our\s)(?<!special\s)(?<!say\s)(?<!with\s)thanks(?: in part| largely)? to(?! (?:everyone|everybody|all of you|all who|you all|those who|all the)\b)(?! the fact that)", "in (?:view|light) of(?! the fact that)", "by reason of", "by virtue of", "for (?:lack|want|fear) of", "courtesy of", "at the insistence of", r"on(?= (?:the )?(?:[\w']+ )?(?:advice|orders|recommendation)\b)",
)) + (
    Cue(r"in\s+consequence\s+of", Form.BECAUSE_OF, LEADS_TO, CLEAR),
    Cue(r"out\s+of(?=\s+(?:\w+\s+)?(?:curiosity|spite|fear|habit|pity|boredom|respect|loyalty|love|jealousy|anger|necessity|desperation|shame|pride|concern|caution|kindness|guilt|embarrassment|greed|ignorance|laziness|sympathy|gratitude|politeness|frustration)\b)", Form.BECAUSE_OF, CAUSES, LIKELY),
    Cue(r"(?:through|from)(?=\s+(?:(?:sheer|our|his|her|their|my|its|own|the|a|an|pure|simple|plain|lack|of|too|much|constant|repeated|years)\s+){0,4}(?:carelessness|neglect|negligence|lack|ignorance|exhaustion|overwork|stress|fatigue|hunger|thirst|cold|exposure|illness|stupidity|inattention|fault|laziness|overuse|misuse|dehydration|overheating|inexperience|oversight|smoke\s+inhalation|corrosion|wear|vibration)\b)", Form.BECAUSE_OF, CAUSES, LIKELY),
    Cue(r"(?:with)(?=\s+(?:the|our|his|her|their|my|two|three|so\s+many|no)\s+[\w\s'-]{2,40}?(?:away|ill|off\s+sick|out\s+of\s+action|closed|broken|missing|gone)\b,)", Form.BECAUSE_OF, CAUSES, VAGUE),
    Cue(r"(?<!\w\s)given(?=\s+(?:the|our|his|her|their|its|how|this|these)\s)", Form.BECAUSE_OF, CAUSES, LIKELY),
    Cue(r"(?<=fined\s)for|(?<=arrested\s)for|(?<=sacked\s)for|(?<=fired\s)for|(?<=dismissed\s)for|(?<=disqualified\s)for|(?<=suspended\s)for|(?<=sued\s)for|(?<=banned\s)for|(?<=penalised\s)for|(?<=criticised\s)for|(?<=praised\s)for|(?<=scolded\s)for|(?<=expelled\s)for", Form.BECAUSE_OF, CAUSES, VAGUE, not_cause=r"^(?:the\s+)?\d|\b(?:weeks?|months?|years?|days?)\b"),
)  # fmt: skip
_GIVEN = (
    Cue(
        r"(?<=,\s)as(?=\s+(?:the|a|an|he|she|it|they|we|i|my|our|his|her|their|there|nobody|this|its|no)\s(?:[\w'-]+\s+){0,6}?(?:was|were|is|are|had|has|have|could|couldn't|can|can't|cannot|didn't|doesn't|don't|wasn't|weren't|isn't|aren't|did\s+not|does\s+not|lacks?|needs?|contains?|required|requires)\b)",
        Form.BECAUSE,
        CAUSES,
        VAGUE,
        cause=FINITE,
        not_cause=r"^(?:i|we|he|she|they|you|it)\s+(?:was|were|is|are)\s+\w+ing\b",
    ),
    Cue(r"as(?=\s+(?:nobody|no\s+one|none|nothing|neither|there)\b)", Form.BECAUSE, CAUSES, LIKELY, cause=FINITE),
    Cue(
        r"as(?=\s+(?:[\w'-]+\s+){1,9}?(?:was|were|is|are|had|has|have|could|couldn't|can|can't|cannot|did\s+not|didn't|does\s+not|doesn't|don't|wasn't|weren't|isn't|aren't|hadn't|hasn't|haven't|wouldn't|won't|nobody|no)\b)(?!\s+(?:soon|long|well|far|much|many|if|though|it\s+were|is|was|are|were|usual|the\s+\w+\s+was\s+\w+ing|(?:\w+\s+){1,3}(?:was|were|is|are)\s+\w+ing)\b)",
        Form.GIVEN_THAT,
        CAUSES,
        VAGUE,
        cause=FINITE,
    ),
    Cue(
        r"(?:having|being)(?=\s+(?:\w+ed|been|lost|left|run|forgotten|no|missed|unable|too|short|failed|spent|sold|broken|found|seen|heard|taken)\b)",
        Form.GIVEN_THAT,
        CAUSES,
        VAGUE,
    ),
    Cue(r"not\s+(?=(?:having|being|knowing|wanting|wishing)\b)", Form.GIVEN_THAT, CAUSES, VAGUE),
)
_CLAUSES = (
    Cue(
        r"(?:so|such)(?=\s+(?!that\b|as\b|far\b|called)(?:\w+\s+)(?:[\w'-]+\s+){0,9}?that\b)",
        Form.SO_THAT,
        LEADS_TO,
        LIKELY,
        joint=r"\sthat(?=\s)",
    ),
)

ENGLISH = CausalGrammar(
    cues=(*_BECAUSE, *_THEREFORE, *_BECAUSE_OF, *PASSIVES, *LABELS, *VERBS, *_SO, *_GIVEN, *NOUNS, *_CLAUSES),
    word=r"\w+(?:['-]\w+)*",
    finite=FINITE,
    auxiliaries=word_set(
        "is are was were be been being am has have had having do does did don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't can could may might must will would shall should cannot can't couldn't won't wouldn't shouldn't mightn't",
        "also probably likely possibly perhaps maybe still just even never not often sometimes usually always soon then eventually ultimately typically thus thereby further what seems seem seemed appears appear appeared tends tend tended risks risk risked threatens threaten threatened helps help helped known believed thought said expected feared bound going used got gets in turn itself themselves ever rarely seldom hardly barely only all both together without capable almost nearly largely mostly mainly partly too long first later again liable apt in part",
        "ended up able began begins started continues continued managed failed",
    ),
    weak_auxiliaries=word_set("to of that all only too what first later both together used long out said known even then again capable by"),
    adverb=r"(?!(?:anomaly|family|supply|reply|assembly|july|italy|fly|ally|rally|belly|jelly|bully|monopoly|apply|rely|only|holly|molly|billy|sally|emily|kelly)$)\w+ly",
    hypothetical_words=word_set(
        "can could may might must will would shall should can't couldn't wouldn't won't probably likely possibly perhaps maybe risks risk risked threatens threaten threatened expected feared believed thought seems seem appears appear appeared seemed allegedly reportedly presumably supposedly bound liable apt going arguably conceivably potentially capable"
    ),
    hypothetical_verb=r"(?!)",
    hypothetical_frame=r"\b(?:risk|danger|fear|fears|feared|worry|worried|possibility|chance|likelihood|afraid|concerned)\s+(?:that\s|of\s)|\bin\s+case\s|\bif\s(?![^,]*,\s)|\bunless\s|\bto\s+avoid\s|\blest\s|\bhope\s+that\s",
    infinitive=r"cause|provoke|induce|engender|lead|result|produce|generate|create|trigger|spark|prompt|unleash|ignite|force|contribute|bring|give|set|make|stem|arise|drive|be|necessitate|exacerbate|precipitate|start|culminate|end",
    modals=word_set("can could may might must will would shall should cannot can't couldn't won't wouldn't do does did don't doesn't didn't seems seem appears appear tends tend risks threatens threaten likely bound liable going expected known helped helps help said believed thought used apt began begins started continues"),
    participle=r"(?!)",
    gerund=r"\w+ing",
    negations=word_set("not never no don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't cannot can't couldn't won't wouldn't shouldn't neither nor hardly nothing rarely without"),
    negative_object=r"(?:no|nothing|neither)",
    reporting=r"(?:argues|argued|says|said|claims|claimed|believes|believed|thinks|suggests|suggested)\s+(?=(?:the|a|an|it|he|she|they|this|its|their|his|her)\s)|\w{3,}ed\s+that\s|(?:say|says|said|state|states|stated|report|reports|reported|find|finds|found|show|shows|showed|shown|conclude|concludes|concluded|believe|believes|believed|think|thinks|thought|explain|explains|explained|confirm|confirms|confirmed|reveal|reveals|revealed|suggest|suggests|suggested|note|notes|noted|claim|claims|claimed|argue|argues|argued|admit|admits|admitted|know|knows|knew|discovered|learned|learnt|clear|true|fact|indicate|indicates|indicated|warn|warns|warned|fear|fears|feared|suspect|suspects|suspected|agreed|agree|hear|heard|records|recorded|mean|means|meant|told\s+\w+|risk|possibility|chance|doubt|worried|danger|adds?|added|wrote|writes|realised|realized|noticed|see|saw|insists?|insisted|complained|remember|remembers)\s+that\s|(?:we|i|they)\s+fear\s+|whether\s",
    conjunctions=word_set("whereas while and but or nor yet so also then plus which moreover however still"),
    focus=word_set("by mostly partly mainly largely just only simply perhaps maybe probably not primarily chiefly precisely especially merely solely in part possibly exactly entirely presumably purely either apparently also above all particularly is was and it's n't isn't wasn't allegedly supposedly reportedly"),
    copulas=word_set("is are was were isn't aren't wasn't weren't be been has have had may might could would being it's that's"),
    coordination=r"(?<=\s)and\s",
    phrase_end=r"because|when|while|whereas|although|though|but|since|unless|until|before|after\s+(?:he|she|it|they|we|i)|if|so\s+that|as\s+(?:he|she|they|we|i|it)|than\s+(?:he|she|they|we|i)|according\s+to|whenever|instead\s+of",
    aside=r"which|who|whom|whose|where|when|although|though|if|after|before|despite|including|except|with|without|such\s+as|like|according|especially|even|in\s+fact|for\s+example|not\s+to\s+mention|says?|said|they\s+(?:agreed|said|think|thought)|he\s+said|she\s+said|until|in|on|at|during|by|from|whatever|however|to|as",
    relatives=word_set("which that who"),
    clause_relative=r",\s+which|—\s*which|–\s+which|;\s+which|a\s+(?:fact|decision|move|step|mistake|delay)\s+(?:that|which)|something\s+(?:that|which)|all\s+of\s+which|[.?!]\s+which",
    anaphors=word_set("this that it which these") | frozenset({"this in turn", "all this", "all of this", "this situation", "this fact", "that in turn", "and this"}),
    pronouns=word_set("he she it they him them his hers this that these those which who one another some what both all others"),
    prepositions=word_set("of to in on at with for from by about into"),
    correction=r"(?:(?:he|she|they|we|i|it)\s+)?simply|but(?:\s+rather|\s+also)?|rather|instead|simply",
    contrast_not=r"(?:\s|^),?\s*(?:and\s+)?not\s+(?:because\s+of|due\s+to|by|from|to|because)(?!\w)|\s,?\s*rather\s+than\s+(?:by\s+|from\s+|to\s+|of\s+)?|(?:,|\s)\s*(?:and\s+)?not(?=\s+(?:the|a|an|by|from)\s)",
    cleft=r"(?:it|that)\s*(?:is|was|isn't|wasn't|'s)(?:\s+(?:not|partly|mainly|only|just|precisely))?",
    cleft_that=r"\sthat\s",
    condition=r"perhaps|maybe|possibly|probably|if|unless|suppose|supposing|imagine|in\s+case",
    bare_participle=r"\w+ed|brought|set",
    exclusive=word_set("just only merely solely"),
    post_negation="",
    object_clitics=word_set(""),
    reflexive=word_set(""),
    complementizers=word_set("that"),
    without=word_set("without"),
)  # fmt: skip
