"""Grammar of English questions. All patterns read flattened text."""

from graphrag.query_transformation.phrases import (
    Asking,
    Clauses,
    Comparing,
    Intents,
    QuestionGrammar,
    alternatives,
    exactly,
    folded,
    one_of,
)

_CAUSE = (
    r"(?:(?!the\b|an?\b|of\b)[\w-]+ ){0,2}?(?:reasons?|(?:root )?causes?(?!.*\b(?:rais(?:e[ds]?|ing)|charit\w+|donat\w+|fundrais\w+))|motives?|motivations?|grounds|explanations?|rationale"
    r"|factors?|triggers?|culprits?|origins?)(?! (?:number|code|list|field|column|card|no\b))\b"
)
_EFFECT = (
    r"(?:consequences?|effects?|side[- ]effects?|after[- ]?effects?|impacts?|repercussions?|fallout|aftermath|implications?"
    r"|ramifications?|outcomes?|upshot|ripple effects?|toll)(?! (?:number|code|list|field|column|report|study|assessment)\b)\b"
)
_ADVERB = r"(?:(?:\w+ly|then|finally|eventually|first|really|also) )?"
_HAVE = r"(?:(?:is it that|was it that|can|may|will|has|have|had|could have|might have|may have|would have|is|was|are|were|could|might|may|would) )?"
_STRONG = (
    r"(?:caus(?:e[ds]?|ing)|trigger(?:ed|s)?|provok(?:ed?|es)|prompt(?:ed|s)?|spark(?:ed|s)?|led (?:to|up to|\w+ .*\bto)|"
    r"lead(?:s|ing)? to|contribut(?:ed?|es|ing) to|explain(?:s|ed)?|account(?:s|ed)? for|g(?:ave|iven) rise to|underl(?:ies|ay))\b"
)
_WEAK = (
    r"(?:led|leads|made|makes|making|drove|drives|driven|driving|brought|brings|motivat(?:ed|es)|push(?:ed|es)|forc(?:ed|es)"
    r"|induced|kept|keeps|keeping|stopped|stops|stopping|prevent(?:ed|s|ing)|delay(?:ed|s|ing)|persuaded|convinced|inspired"
    r"|set off|went wrong|slowed|block(?:ed|s|ing)|hinder(?:ed|s)|held up|got into|possessed)\b"
)
_BEFORE_EVENT = (
    r"(?:because|as a (?:result|consequence)|due to|owing to|thanks to|following|in the wake|in the aftermath|after)\b"
)
_ASKED_TO = r"(?:did|does|do|will|would|could|can|might|has|have|had|is|was)"

_ADJECTIVES = one_of(
    "big large long short high low cheap expensive fast quick slow heavy light old young new strong weak warm cold hot wide narrow"
    " deep tall small great thick thin early late near close safe loud quiet soft hard rich poor easy simple clean dark bright"
    " wet dry busy tough sweet healthy happy noisy tasty fresh smooth costly risky lengthy roomy sturdy steep few"
)
_COMPARATIVE = (
    r"(?:more|less|fewer|better|worse|further|farther|(?:bigg|larg|long|short|high|low|cheap|fast|quick|slow|heavi|light|old|young|new"
    r"|strong|weak|warm|cold|hott|wid|narrow|deep|tall|small|great|thick|thinn|earli|lat|near|clos|saf|loud|quiet|soft|hard|rich"
    r"|poor|easi|simpl|clean|dark|bright|wett|dri|busi|tough|sweet|healthi|happi|noisi|tasti|fresh|smooth|costli|riski|lengthi"
    r"|roomi|sturdi|steep|strict|fair|tight|stiff|calm|sharp|firm|broad|brav|kind|nic|cool|mild|wis|dens|pur|rar|flat|fin)er)\b"
)
_SUPERLATIVE = (
    r"(?:most|least|best|worst|furthest|farthest|(?:bigg|larg|long|short|high|low|cheap|fast|quick|slow|heavi|light|old|young"
    r"|strong|weak|warm|cold|hott|wid|narrow|deep|tall|small|great|thick|thinn|saf|loud|quiet|soft|hard|rich|poor|easi|simpl"
    r"|clean|dark|bright|wett|dri|busi|tough|sweet|healthi|happi|noisi|tasti|fresh|smooth|costli|riski|lengthi|roomi|sturdi"
    r"|steep|strict|fair|tight|few)est)\b"
)
_TIME_NOUN = (
    r"(?:date|dates|deadline|due date|duration|timetable|schedule|expiry|expiration|timeline|chronology|opening hours)"
)

ASKING = Asking(
    opening=exactly(
        r"(?:(?:at|in|on|by|for|from|to|of|with|about|until|till|up to|since|under|through|after|before|during|because of"
        r"|due to|owing to|on account of|as a result of|thanks to|as of|according to|against|over|within) )?"
        r"(?:what|which|who|whom|whose|when|where|why|how)\b"
    ),
    sure=None,
    verbs=alternatives(
        r"(?:tell|remind|show|give|teach) (?:me|us)|(?:let me|to|i|we|i'd like to|like to|want to|need to|don't|do you|you) (?:know|see|understand"
        r"|find out|learn|remember|work out|check)|find out|look up|explain(?: to (?:me|us))?|check|remember|recall|figure out|work out|wondering"
        r"|wonder|know|curious|curious about|idea|clarify|determine|establish|say|describe|list|find|confirm"
    ),
    polite=alternatives(
        r"(?:please|hi|hello|hey|ok|so|and|well|also|can|could|would|will|you|kindly|i|we|i'd|want|need|like|to|know|see|tell|give|show|find"
        r"|list|me|us|all|explain|describe|summarise|summarize|for|look|up|out|get|understand)\b[ ,]*"
    ),
    relative=exactly(r"(?:(?:in|on|at|to|for|of|by|with|from) )?(?:which|who|whom|whose|when|where)\b"),
    last=alternatives(r"\b(?:when|what time|how long|what date|why|how come)\W*$"),
)
INTENTS = Intents(
    effects=alternatives(
        rf"what (?:\w+ )?(?:happen(?:ed|s|ing)?|chang(?:ed|es)|occurred|went on|arose)\b.{{0,140}}?\b{_BEFORE_EVENT}",
        r"what (?:happens|would happen|will happen|could happen|might happen|changes)\b.{0,40}\b(?:if|when|to)\b",
        r"what (?:all )?(?:(?:has|have|had|might|could|would|will) )?(?:come|came|comes|resulted|results?|followed|follows|ensued"
        r"|stemmed|arisen|flowed|emerged)\b(?! (?:the|an?) \w+ (?:was|is)\b)(?! (?:up|in|with|first|next|to)\b)",
        r"what (?:has |have )?(?:become|became) of\b|how [^?]{1,120}\b(?:affected|impacted|influenced|disrupted)\b",
        r"what changed (?:for|in|at|on|when|with|once)\b",
        rf"what {_ASKED_TO} .{{1,200}}?\b(?:lead to|led to|result in|resulted in|(?<!good )(?<!the )(?<!a )(?<!of )(?<!for )cause|trigger"
        r"|bring about|brought about|provoke|provoked|mean for|meant for|entail|give rise to|do to|done to|set off|spark|unleash|"
        r"change for|change (?:in|about|at)|inflict|set in motion)\b",
        rf"(?:what|which)(?:'s| is| was| are| were| will be| would be| have been| has been| might be| could be)?"
        rf"(?: (?:the|an?|its|their|any|some|sort of|kind of))? (?:(?!the\b|an?\b|of\b)[\w-]+ ){{0,2}}?{_EFFECT}",
        r"what (?:is|was|were|are|have been|has been|will be) the (?:[\w-]+ )?results? of (?:\w+ing\b|(?:the|our|their|this|that) (?:decision|change|move|strike|delay|closure|cut"
        r"|accident|failure|ban|fire|flood|storm|merger|reform|switch))",
        r"how (?:badly |much |far |seriously |strongly )?(?:did|does|do|has|have|had|will|would|could|might|is|was|were|are)\b.{1,200}?\b(?:affect(?:ed|ing)?|impact(?:ed|ing)?"
        r"|influence[d]?|hurt|harm(?:ed)?|hit|damage[d]?|alter(?:ed)?|benefit(?:ed)?|shape[d]?|disrupt(?:ed)?)\b",
        r"how (?:did|has|have|will|does) (?:the|this|that|our|their|\w+'s) .{1,120}?\bchanged? (?:the|our|my|their|his|her|how|life|things|work)\b",
        r"(?:in|with|to) what (?:way|ways|extent|effect|consequences?|results?)\b.{0,120}(?:affect|impact|influenc|change|effect|consequence|result)",
        rf"(?:the |any |some )?(?:(?!the\b|an?\b|of\b)[\w-]+ )?{_EFFECT} (?:of|on|from|that|for|caused|following|after|which)\b",
        r"where did .{1,120}\blead\b",
        rf"(?:what|which) (?:[\w-]+ ){{1,3}}{_ASKED_TO} .{{1,200}}?\b(?:lead to|result in|bring about|give rise to|set off|trigger|spark)\W*$",
    ),
    causes=alternatives(
        r"why\b|how come\b|how is it (?:possible )?that|how's it that|how can it be\b|how did it (?:come|happen|turn out)\b",
        r"how (?:do|did|does|can|could|would|might|should) [\w' ]{1,60}?\b(?:explain|account for|justify)\b",
        r"how (?:is|was|are|were|can|could|has|have|might)\b.{1,160}?\b(?:explained|accounted for|justified)\b",
        r"how (?:did|does|do|has|have|had|could|was|is)\b.{1,240}?\b(?:come about|came about|come to|arise|arisen|arose|originate[d]?|end up"
        r"|ended up|go wrong|gone wrong|wind up|happen|happened|get started|possible|get (?:\w+ed|lost|stolen|broken|stuck|burnt|lost))\b",
        r"(?:because of|due to|owing to|on account of|as a result of|thanks to) (?:what|which|who|whom|whose)\b",
        r"(?:for|on|from|under|with|by) (?:what|which) (?:\w+ ){0,2}?(?:reasons?|motives?|grounds|causes?|pretext)\b",
        r"to (?:what|which|whom)\b.{0,200}?\b(?:attribut\w+|ow(?:e|es|ed|ing)|due|put down|puts? .* down|ascrib\w+|blam\w+|trace[ds]?|chalk\w*|pin\w*)\b",
        r"what\b.{0,200}?\b(?:due|attribut\w+|ascribed|owing|put down|chalked up|blamed|down) (?:to|on)\b",
        r"what (?:do|does|did)\b.{1,120}?\b(?:blame|give as the (?:reason|cause)|see as the (?:reason|cause)|cite as)\b",
        r"what(?:'s| is| was| lies| lay| were| are| stands| stood| could be| might be) (?:(?:the )?\w+ )?(?:behind|to blame|responsible for|at the root"
        r"|at the bottom|driving|causing|holding|keeping|making|preventing|delaying|wrong)\b",
        rf"(?:what|who or what|which (?!of\b)\w+(?: \w+)?) {_ADVERB}{_HAVE}{_ADVERB}(?:been )?{_STRONG}",
        rf"what {_ADVERB}{_HAVE}{_ADVERB}(?:been )?{_WEAK}",
        rf"what(?:'s| is| was| are| were|'re| were all| do you think (?:is|was)| could be| might be)? (?:the |a |an |its |their |his |her"
        rf" |your |our |my |any |all the )?{_CAUSE}",
        rf"which {_CAUSE}",
        rf"(?:the |any |all |all the |some )?{_CAUSE} (?:why|for|of|behind|that|which|as to|given|cited|contributing|leading|he|she|they"
        r"|we|it|you)\b",
        r"(?:is|was|were|are|did|does|has) .{1,200}\b(?:because|caused by|due to)\b",
        r"whose (?:fault|mistake) (?:was|is)\b.*that",
    ),
    times=alternatives(
        r"(?:since |until |till |by |from |for |as of |up to )?when\b",
        r"(?:(?:in|on|at|by|for|until|till|since|from|during|before|after|to|up to|within) )?(?:what|which) (?:(?:exact|other|calendar|precise|specific"
        r"|particular|academic|financial|due|closing|start|end|opening|first|last) )?(?:time|times|day|days|date|dates|months?|years?|weeks?|weekdays?|weekend|hours?|decade|century|quarter|season"
        r"|period|order|sequence|deadline|time ?frame|age)\b(?! (?:format|zone|sheet|off))",
        r"(?:(?:for|in|within|after|since|by|from) )?how (?:long|often|frequently|soon|late|early|recently|long ago|far (?:in advance|ahead|back)|many (?:more )?(?:seconds|minutes|hours|days|weeks|months"
        r"|years|decades)|much (?:time|longer|notice)|old)\b(?! (?:is|are) the (?:\w+ )?(?:bridge|trail|path|road|river|wall|cable|table))",
    ),
    timely=alternatives(
        r"how [^?]{1,100}?\b(?:changed|evolved|developed|grown|grew|varied|risen|rose|fallen|fell|increased|decreased|progressed)\b.{0,60}?\b(?:since|over|between|from|in|during"
        r"|through|across|by)\b|[^?]{1,80}\b(?:next|last) (?:due|serviced|paid|checked|seen|changed|cleaned)\W*$|[^?]{1,80}\bdue\W*$",
        r"which (?:\w+ ){0,3}?(?:came|comes|happened|was|is|arrived|started|finished|ended) (?:\w+ )?(?:first|last|earlier|later|earliest|latest)\b|in which order\b",
        r"how (?:has|have|did|does|do|is|are|was|were|had)\b.{1,160}?\b(?:changed?|evolved?|develop(?:ed)?|developing|grown?|grow|grew|varied|vary|fluctuated?|moved?|risen?"
        r"|rise|fallen|fall|progressed?|trended|increased?|decreased?|declined?|dropped|drop|shifted|changing|evolving)\b(?! (?:the|our|my|their|his|her|your)\b)",
        r"what (?:has been |was |is )?(?:the )?(?:[\w-]+ )?(?:evolution|trend|development|progression|trajectory) (?:of|in)\b",
        rf"what(?:'s| is| was| are| were| will be)? (?:the |our |its |his |her |my |their )?(?:[\w'-]+ ){{0,4}}?(?:{_TIME_NOUN}|start time|end time|(?:last|first|final|earliest|latest|exact) (?:day|month|year|time)|sequence of|length of|time of|order of|age of|lifespan|trend|evolution)\b"
        r"(?! (?:format|number|code))",
        rf"(?:the |latest |last |next |final |exact |first |closing |start |end |due |expiry |delivery |birth |renewal |payment |publication |arrival |departure |completion |submission )*(?:{_TIME_NOUN}|date of|dates? for|day (?:of|on|when|that)|year (?:of|in|when|that)"
        r"|time (?:of|when|that)|evolution|trend|history of|age of|order of|sequence of|length of (?:time|the|stay)|how long)\b",
        r"is there (?:already |yet )?an? (?:\w+ )?(?:date|deadline|time)\b",
        rf"[^?]{{1,80}}\b(?:{_TIME_NOUN}|birthday|departure time|arrival time)\W*$",
        r"(?:did|does|was|were|has|is|are) .{1,160}\b(?:before|after|earlier than|later than) .{1,120}",
    ),
    compares=alternatives(
        r"(?:a )?(?:quick |short |side-by-side )?compar(?:e|ing|ison)\b|contrast\b|(?:the |any |main |key |biggest )*(?:differences?(?! (?:account|number|column|field))|similarities|distinctions?|contrasts?)\b",
        r"how (?:different|similar|alike)\b|(?:what|which)?(?:'s| is| are| were)? ?(?:the )?(?:advantages?|benefits?|drawbacks?|pros and cons|strengths|merits) .*\b(?:over|compared|versus|vs)\b",
        r"how (?:do|does|did|is|are|was|were|would|has|have)\b.{1,240}?\b(?:compare[ds]?|differ(?:s|ed|ent|ently)?|stack up|measure up|match up|contrast|vary between)\b",
        r"(?:what|which)(?:'s| is| are| was| were)? (?:the |any |some )?(?:[\w-]+ ){0,3}?(?:differences?(?! (?:account|number|column|field))|similarities|distinctions?|distinguishes|sets? .* apart|gap between|in common)\b",
        r"what (?:distinguishes|separates|sets)\b|in what (?:way|ways|respects?)\b.*\b(?:differ|different|alike|similar)\b|where do .* differ",
        rf"(?:which|which of|what|who)\b[^?]{{0,160}}?\b(?:{_COMPARATIVE}|{_SUPERLATIVE})[^?]*?[,:?] ?[^?]*\bor\b",
        rf"which\b[^?]{{0,160}}?\b(?:is|are|was|were|has|have|had|costs?|offers?|gets?|got|took|takes|performs?|performed|did|does|comes?|came|works?|worked|sells?|sold|scored|lasts?|lasted|runs?"
        rf"|pays?|paid|uses?|used|makes?|made|earn(?:ed|s)?|seems?|looks?|weighs?|rates?|rated)\b (?:the )?(?:\w+ )?(?:{_COMPARATIVE}|{_SUPERLATIVE})",
        rf"which (?:of\b[^?]{{1,80}}|one) .{{0,60}}\b(?:{_COMPARATIVE}|{_SUPERLATIVE})",
    ),
    found_comparing=alternatives(
        rf"\b{_COMPARATIVE}\b[^?]{{0,120}}?\bthan\b",
        r"\b(?:versus|vs)\b|\b(?:as|in) compar(?:ed|ison) (?:to|with)\b|\bcompared? (?:to|with|against)\b|\bas \w+ as\b(?! (?:possible|well|soon|long|far|many|much))",
        rf"\b(?:whether|is|are|was|were|does|do|did|has|have|will|would|should)\b[^?]*?\b{_COMPARATIVE}\b[^?]*?\bor\b",
        rf"\b(?:whether|is|are|was|were|does|do|did|has|have|will|would|which|should)\b[^?]*?\bor\b[^?]*?\b{_COMPARATIVE}",
        rf"\bor [^?]{{1,60}}[:,?] *(?:who|which|what|where)\b[^?]*?\b(?:{_COMPARATIVE}|{_SUPERLATIVE})",
        r"\bthe same as\b|\bdiffer(?:s|ent)? from\b|\bbetween .* and .* which\b",
    ),
    not_comparing=alternatives(
        r"\b(?:other|rather|sooner|no later|no more) than\b|\bmore or less\b|\bor (?:more|less|better|so)\b",
        r"\b(?:more|less|fewer|greater|higher|lower|bigger|longer|older|later|earlier|better|larger|shorter) than (?:[£$€]? ?\d|an?\b|one\b|two\b|three\b|four\b|five\b|six\b|ten\b"
        r"|twenty\b|fifty\b|half\b|once\b|twice\b|\w+ (?:hundred|thousand|million|percent|weeks?|days?|months?|years?|hours?|minutes?|euros?|pounds?|dollars?))",
        r"\bas (?:soon|long|far|well|many|much) as\b",
    ),
    last_time=alternatives(r"\b(?:when|what time|how long|what date)\W*$"),
)
MULTI_HOP = alternatives(
    r"\bof the (?:\w+ ){1,3}(?:who|that|which|where|whose)\b",
    r"\b(?:sister|brother|mother|father|wife|husband|son|daughter|aunt|uncle|cousin|boss|manager|assistant|owner|author|founder|director|head"
    r"|neighbour|neighbor|landlord|lawyer|doctor|successor|predecessor|employer|partner|friend|secretary|president|ceo) of (?:the|our|my|his|her|their) "
    r"(?:\w+ ){0,2}(?:director|author|owner|founder|manager|head|company|firm|person|man|woman|teacher|doctor|president|chair|treasurer"
    r"|winner|editor|architect|plumber|lawyer|secretary|\w+(?:er|or|ist|ant))\b",
    r"\bof (?:the|our|my) \w+ (?:that|who|which) \w+ed\b",
    r"\b(?:\w+'s|his|her|their|whose) (?:boss|sister|brother|mother|father|wife|husband|manager|employer|author|founder|owner|director)'s\b",
    r"\b(?:number|address|name|email|phone|job|salary|birthplace|nationality|age|title) of the \w+ (?:who|that|which)\b",
    r"\bthe \w+ (?:where|in which) (?:the )?[\w' ]{1,60}(?:was born|is based|was made|lives|works|studied|was founded)\b",
    r"\b(?:founder|author|owner|director|head|ceo|president|inventor|designer|builder) of the [\w ]{1,40}\b(?:that|which|who)\b",
    r"\b(?:who|where|when|what|which|how)\b.{0,80}\bthe (?:\w+ )?(?:\w+er|\w+or|\w+ist|architect|doctor|person|man|woman|company|firm|agency|lawyer|plumber) (?:who|that|which) .{1,80}\b(?:live|lives|born|work|works|study|studied|come|drive|drives|earn|play|plays|retire|die)\b",
)
CLAUSES = Clauses(
    joint=exactly(
        r"\?+",
        r";",
        r"(?:[,;] *)?\b(?:and|plus|as well as|but)\b,? *(?:also |then |besides )?(?:(?:please )?(?:tell me|explain|show me|say|list) )?(?=OPENING)",
        r"[,;] *(?:also |then )?(?=OPENING)",
        r"(?:[,;] *(?:and |also )?|\band (?:also )?)(?=(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should|must) (?:it|he|she|they|there|that|this|one|i|we|you)\b)",
        r"\band (?:please )?(?:tell me|explain|show me|give me)\b *",
    ),
    determiners=folded("the a an my your his her its our their this that these those every each"),
    prepositions=folded(
        "of in on at by for with about against between into through during before after above below to from up down out"
        " off over under within without since until than per via upon as like behind near regarding concerning"
    ),
    binding=folded("of on against"),
    breaks=folded(
        "and or nor but if because while although whether who which that what when where why how whom whose"
        " i you he she it we they me him us them"
        " is am are was were be been being do does did done has have had having can could shall should will would may might must"
        " not no only very too also just then there here now again once ever never still yet any all both more most than"
        " less today yesterday tomorrow last next so first",
    ),
    weak_heads=folded(
        "time date day year month place city iban code phone email password name price cost noise colour color size weight result reason cause consequence effect address number title amount value"
        " length height age point temperature capacity speed range owner author director head president founder manager editor result results causes reasons effects"
        " consequences impact state condition status"
    ),
)
COMPARING = Comparing(
    joints=alternatives(
        r"\b(?:versus|vs\.?|v\.|compared (?:to|with|against)|as compared (?:to|with)|in comparison (?:to|with)|as opposed to)(?=\W)"
    ),
    than=alternatives(r"\bthan\b", r"\bas\b"),
    grades=alternatives(_COMPARATIVE, _SUPERLATIVE),
    words=folded(
        "compare compares compared comparing comparison contrast contrasts difference differences differ differs differed different"
        " differently distinguish distinguishes distinction similar similarity similarities versus vs than more less fewer better worse"
        " most least best worst between whether either which rather similarly common both same as advantage over"
    ),
    rest=folded(
        "others other rest average usual expected before previously ever now last previous year month week quarter time day today"
        " earlier one ones anyone anything everyone all them any planned forecast budgeted ago was it that it's necessary we i they he she"
    ),
)
ENGLISH = QuestionGrammar("en", ASKING, INTENTS, CLAUSES, COMPARING, MULTI_HOP)
