"""English words by what they mean to a cause: forms of verbs, incidents, outcomes, places."""

from graphrag.causal_graph.grammar import any_of

_NOT_PAST = (
    "need|seed|feed|speed|bed|red|shed|weed|hundred|indeed|breed|greed|reed|wed|sled|kindred|sacred|naked|wicked|aged|biped|embed|bleed|creed|deed|heed|unused|unexpected|"
    "limited|united|so-called|supposed|increased|reduced|continued|repeated|sustained|prolonged|damaged|broken|tired|worn|expired|contaminated|missing"
)
_PAST = (
    "came|went|took|ran|lost|fell|broke|rose|made|left|met|got|gave|kept|told|said|saw|found|felt|became|began|grew|knew|held|stood|brought|bought|thought|caught|taught|"
    "fought|sent|spent|built|paid|sold|won|wrote|drove|flew|threw|drew|blew|froze|burst|burnt|shut|cut|hit|hurt|led|fed|slept|wept|swept|crept|leapt|dealt|meant|sank|shrank|"
    "drank|rang|sang|sprang|swam|spoke|woke|stole|chose|tore|wore|bore|swore|bit|hid|slid|struck|stuck|stung|hung|dug|spun|swung|ate|sat|lay|laid|shook|forgot|understood|withdrew|overheard|overslept|"
    "heard|put|let|set|quit|split|spread|shot|lit|bent|lent|ground|wound|bled|fled|sped|spilt|spoilt|learnt|undertook|cost|outgrew|misread|rebuilt|ceased|proved"
)
_PRESENT = (
    "stays|contains|needs|keeps|goes|makes|takes|means|seems|remains|becomes|says|gets|comes|gives|feels|sleeps|lives|requires|has|depends|tends|helps|leaves|falls|grows|"
    "loses|carries|lacks|wants|holds|knows|thinks|stops|breaks|fails|rises|drops|lies|sits|stands|believes|remain|become|seem|need|tend|want|know|keep|stay|thunder|lack|die|dies|exist|exists|occur|occurs"
)
_NOT_AFTER = "".join(
    rf"(?<!\b{word}\s)" for word in "the a an of his her their our my its this to poorly badly newly".split()
)  # "a leaked memo"
FINITE = (
    r"(?<![\w-])(?:(?:i|you|he|she|it|we|they|nobody|everybody|everyone|somebody|someone|nothing|there)(?:'\w+)?\s+(?:\w+ly\s+|never\s+|just\s+|also\s+|always\s+|no\s+longer\s+|still\s+|then\s+)?(?!and\b|or\b|of\b|in\b|to\b|for\b)\w+|(?:i|you|he|she|it|we|they|that|there)'(?:s|re|ve|ll|d|m)"
    r"|(?<!to\s)(?:is|are|was|were|has|have|had|do|does|did|can|could|will|would|shall|should|may|might|must|cannot|\w+n't|ain't)"
    rf"|{_NOT_AFTER}(?:(?!(?:{_NOT_PAST})(?!\w))\w{{2,}}ed(?!\s+by\b)|{_PAST}|{_PRESENT}))(?!\w)"
)
COPULA = any_of(
    "(?:is|are|was|were|isn't|aren't|wasn't|weren't|has been|have been|had been|may be|might be|could be|would be|will be|seems to be|appears to be|may have been|might have been|could have been|must have been)"
)
INCIDENTS = (
    r"(?<!\w)(?:coughs?|rash|rashes|fatigue|pain|pains|ache|headaches?|fever|illness|stress|anxiety|nausea|noise|noises|smell|smells|leaks?|faults?|failures?|errors?|mistakes?|problems?|issues?|troubles?|trouble|damage|delays?|shortages?|outages?|cracks?|stains?|"
    r"rust|damp|mould|vibrations?|rattle|drop|drops|dip|fall|rise|increase|decrease|decline|losses|loss|success|savings|difference|improvement|gains?|growth|complaints?|confusion|disputes?|conflicts?|tension|infections?|outbreaks?|fire|flood|flooding|crash|accident|injury|injuries|symptoms?|allergy|itching|swelling|deaths?|"
    r"heat|smoke|pollution|dust|bug|bugs|glitch|typo|drought|crisis|pressure|costs?|debts?|fear|anger|doubts?|hum|buzz|drip|puddle|discolou?ration|odou?r|spike|slump|surge)(?!\w)"
)
OUTCOMES = (
    r"(?<!\w)(?:\w{3,}(?:tion|tions|sion|sions|ments?|ances?|ences?|ness|nesses|ures?|als?|ities|ity|ages?|ings?)|roots?|nausea|pain|headaches?|dizziness|rash|fever|fatigue|drowsiness|cough|cramps|smoke|heat|noise|errors?|mistakes?|delays?|loss|losses|stains?|cracks?|leaks?|"
    r"growth|rise|fall|drop|gains?|savings|complaints?|results?|effects?|fire|fires|chaos|stress|panic|fear|anger|waves?|changes?|defects?|faults?|outages?|crash|crashes|rust|mould|fumes|sparks?|surge|spike|benefits?|shallow|wear|most|majority|half|lower|higher|fewer|more|less|better|worse|\w+er)(?!\w)"
)
ROADS = r"(?<!\w)(?:paths?|roads?|streets?|doors?|gates?|stairs|staircase|steps|corridors?|tracks?|trails?|lanes?|tunnels?|bridges?|hallway|passage|passageway|ladder|alley|avenue|motorway|path|driveway|exit|arrows?|signs?|footpath|bus|train|route|walkway|hatch|arch|links?|button)(?!\w)"
PLACES = r"^(?:(?:the|a|an|our|his|her|their)\s+)?(?:\w+\s+)?(?:lake|kitchen|cellar|garden|beach|river|square|boathouse|yard|hall|lobby|roof|attic|basement|village|summit|station|church|forest|terrace|courtyard|market|harbour|house|garage|bathroom|bedroom|exit|entrance|car\s+park|sea|valley|castle|town)(?!\w)"
THIS = "(?:this|that|it|these|which|all (?:this|that|of this))"
DETERMINER = r"(?:the|a|an|this|these|those|his|her|its|our|their|my|your|some|any|no|more|another|many|several|two|three|four|five|\d+)"
REASON = r"(?:causes?|reasons?|explanation|culprits?|factors?|origins?|sources?|triggers?|root)"
NOT_A_NOUN = "".join(
    rf"(?<!\b{word}\s)"
    for word in "the a an this that its his her their our my no any good common root main real true for of with without as every each one first likely probable possible under underlying immediate just show primary worthy lost noble in on".split()
)
MORE = r"(?:,?\s+(?:\w+ly|at\s+least\s+in\s+part|in\s+part|in\s+large\s+part|in\s+turn|above\s+all|again|once\s+more|eventually),?)?"
OBJECT = r"(?=\s+(?!of\b|for\b|is\b|are\b|was\b|were\b|and\b|or\b|that\b|to\b|in\b|on\b|at\b|by\b|,)\w)"
PARTICIPLES = "caused|provoked|prompted|induced|occasioned|engendered|brought\\s+about|brought\\s+on"
SETS_OFF = "triggered|sparked|set\\s+off|ignited|unleashed|touched\\s+off|started"
TO_DO = rf"(?=\s+(?:{DETERMINER}\s+)?(?:[\w'-]+\s+){{1,5}}?to\s+(?!the\b|a\b|an\b|his\b|her\b|our\b|their\b|my\b|victory\b|success\b|\d|\w+ing\b)\w)"
