"""French cues of cause and effect, and the tables that reading them needs."""

from graphrag.causal_graph.french_predicates import LABELS, NOUNS, PASSIVES, VERBS
from graphrag.causal_graph.french_words import DE, FINITE, A
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
    "c'est pourquoi", "voilà pourquoi", "c'est (?:donc )?(?:pour (?:cela|ça|cette raison|ce motif)|à cause de (?:cela|ça)|grâce à (?:cela|ça)) (?:que|qu')", "c'est (?:pour )?ce qui (?:explique|fait) (?:que|qu')", "c'est (?:la|une des) raisons? pour (?:laquelle|lesquelles)",
    "d'où", "par conséquent", "en conséquence(?! de)", "conséquemment", "du coup", "de ce fait", "par suite(?=,)", "(?:pour|en raison de) (?:cette|ces) raisons?", "pour ce motif",
    r"(?:à cause|en raison|du fait|à la suite|suite|grâce|par suite)(?: de| à)? (?:cela|ça|ceci|quoi)(?! qui)", "il en (?:résulte|découle|est résulté|a résulté|est découlé)(?: que| qu')?", "il s'ensuit(?: que| qu')?", "résultat des courses,?", "conséquence directe,?",
)) + cues(Form.THEREFORE, LEADS_TO, LIKELY, ["dès lors(?= ?,)", "ainsi donc", "aussi(?= (?:a-t-|avons-nous|avait-|faut-il|est-|sont-))"])  # fmt: skip
_SO = (
    *cues(Form.SO, LEADS_TO, CLEAR, (
    "si bien (?:que|qu')", "de (?:telle )?sorte (?:que|qu')", "de (?:telle )?(?:façon|manière) (?:que|qu')", "(?:à tel|au) point (?:que|qu')", "tant et si bien (?:que|qu')", "raison pour laquelle", "motif pour lequel", "ce pourquoi", "moyennant quoi",
    )),
    Cue(r"donc(?=\s+(?!que\b)\w)(?<=[,;]\sdonc)|(?<=\bet\s)donc(?=\s)", Form.SO, LEADS_TO, CLEAR),
    Cue(r"donc(?=,?\s+(?:on|nous|je|il|elle|ils|elles|le|la|les|un|une|j'|l'|ce|c'|pas|plus|personne|mon|ma|mes|notre|nos)\b)(?<!\w\sdonc)", Form.SO, LEADS_TO, LIKELY),
    Cue(r"(?<=,\s)alors(?=\s+(?:on|nous|je|j'|il|elle|ils|elles|le|la|les|l'|ma|mon|mes|notre|nos|personne|tout)(?!\w))(?!\s+que)", Form.SO, LEADS_TO, VAGUE, effect=FINITE),
)  # fmt: skip
_MIDWAY = (
    Cue(
        r"(?<!\w\s)aussi(?=\s[^.;,?!]{2,70}-(?:il|elle|ils|elles|on|t-il|t-elle|t-on|nous|je|vous)\b)",
        Form.THEREFORE,
        LEADS_TO,
        LIKELY,
    ),
    Cue(r"(?<=\w\s)donc(?!\s+(?:que|pas\s+encore)\b)", Form.MIDWAY, LEADS_TO, VAGUE),
)
_BECAUSE = cues(Form.BECAUSE, CAUSES, SURE, ("parce (?:que|qu')", "du fait (?:que|qu')", "à cause du fait (?:que|qu')")) + cues(
    Form.BECAUSE, CAUSES, CLEAR, (
        "puisqu(?:e|')", "étant donné (?:que|qu')", "vu (?:que|qu')", "attendu (?:que|qu')", "compte tenu du fait (?:que|qu')", "sous prétexte (?:que|qu')", "d'autant(?: plus| moins)? (?:que|qu')", "de peur (?:que|qu')", "considérant (?:que|qu')", "grâce au fait (?:que|qu')", "en raison du fait (?:que|qu')", "dans la mesure où", "faute (?:de|d') ?(?=(?:avoir|être|pouvoir|savoir)\\b)",
)) + (
    Cue(r"car(?=\s|,)(?!\s+(?:postal|scolaire|de\s+tourisme)\b)(?<!\ben\scar)(?<!\ble\scar)(?<!\bun\scar)(?<!\bdu\scar)(?<!\bau\scar)(?<!\bce\scar)(?<!\bpar\scar)", Form.BECAUSE, CAUSES, CLEAR, cause=r"\w+\s+\w+"),
    Cue(r"(?<=,\s)(?=(?:le|la|les|l'|son|sa|ses|leur|leurs|notre|nos|mon|ma|mes|aucun|aucune|personne|tous|toutes|rien)\b[^,.;:]{0,60}?\s?(?:étant|ayant)\b)", Form.BECAUSE, CAUSES, VAGUE),
)  # fmt: skip
_BECAUSE_OF = cues(Form.BECAUSE_OF, CAUSES, SURE, (
    rf"à cause {DE}(?! quoi)", rf"en raison {DE}", rf"du fait {DE}", rf"par (?:la )?faute {DE}", rf"à la suite {DE}", rf"par suite {DE}",
)) + cues(Form.BECAUSE_OF, CAUSES, CLEAR, (
    rf"grâce {A}(?! (?:vous|tous|toi\b(?=[,.!])))", rf"suite {A}", rf"faute {DE}", rf"compte tenu {DE}", rf"sous l'(?:effet|influence|action) {DE}", rf"sous le (?:coup|poids) {DE}", rf"à force {DE}", r"par(?= (?:manque|crainte|peur|souci|excès|précaution|mesure|mégarde|erreur|négligence|ignorance|solidarité|respect|jalousie|curiosité|habitude|pitié|dépit|ennui|paresse|prudence|fierté|amour|méfiance)\b)", r"sur(?= (?:(?:les?|la) |l')?(?:conseils?|recommandations?|ordres?|insistance)\b)", rf"en conséquence {DE}", rf"au vu {DE}", rf"eu égard {A}", rf"pour cause {DE}", rf"pour (?:des )?raisons {DE}", r"devant (?=(?:l'absence|le manque|la pénurie|l'ampleur|le refus|l'échec)\b)", "étant donné(?= (?:le|la|les|l'|son|sa|ce|cette))",
)) + (
    Cue(r"vu(?=\s+(?:l'|(?:le|la|les|son|sa|ses|ce|cet|cette|ces|leur|notre)\s(?!film|jour)))(?<!\bai\svu)(?<!\ba\svu)(?<!\bont\svu)(?<!avons\svu)(?<!avez\svu)(?<!\bas\svu)(?<!\bété\svu)(?<!avait\svu)(?<!jamais\svu)(?<!\bpas\svu)(?<!bien\svu)(?<!déjà\svu)(?<!aient\svu)", Form.BECAUSE_OF, CAUSES, LIKELY),
    Cue(r"pour\s+(?:ne\s+pas\s+|n')?(?=(?:avoir|être|s'être)\s+(?:\w+\s+){0,2}?(?!droit)\w*(?:é|ée|és|ées|i|is|u|us|ue|fait|dit|écrit|ouvert|offert|produit|construit|détruit)\b)", Form.BECAUSE_OF, CAUSES, CLEAR),
    Cue(r"pour(?=\s+(?:cause\s+d|excès|défaut|faute|travaux|vol|fraude|non-|absence|insuffisance|retard|conduite|tapage|harcèlement|négligence))", Form.BECAUSE_OF, CAUSES, LIKELY),
    Cue(r"(?=(?:ayant|étant|n'ayant|n'étant|s'étant)\s)", Form.GIVEN_THAT, CAUSES, VAGUE),
    Cue(r"(?=(?:craignant|redoutant|ignorant|sachant|manquant|voyant)\s)", Form.GIVEN_THAT, CAUSES, VAGUE),
    Cue(r"comme(?!\s+(?:si|le\s+(?:montre|dit|prévoit|rappelle|souligne|veut)|l'(?:indique|explique|a\s+)|(?:je|nous|on)\s+(?:vous\s+|te\s+)?l'|prévu|convenu|toujours|d'habitude|chaque|tous|on\s+(?:dit|peut|le|sait)|nous\s+l|vous\s+(?:le|pouvez)|pour|indiqué|dit|je\s+l|promis)\b)", Form.GIVEN_THAT, CAUSES, LIKELY, cause=FINITE),
)  # fmt: skip
_CLAUSES = (
    Cue(
        r"(?:tellement|à\s+tel\s+point)(?=\s(?:[^,.;:]{1,90}?\s)?(?:que|qu'))",
        Form.SO_THAT,
        LEADS_TO,
        LIKELY,
        joint=r"\s(?:que\s|qu')",
    ),
    Cue(
        r"(?:(?<=\w\s)si|tant(?!\s+qu)|telle?s?)(?!\s+(?:je|j'|tu|il|elle|on|nous|vous|ils|elles|le|la|les|un|une|vos|votre|mon|ma|mes|ce|cet|cela|ça|cette|ces|ceux|celui|celle|son|sa|ses|notre|nos|leur|leurs|l'|d'|s'|aucun|chaque|tout|toute|tous|plusieurs|besoin|possible|nécessaire|bien\s+que|que)\b)(?=\s(?:[^,.;:]{1,90}?\s)?(?:que|qu'))",
        Form.SO_THAT,
        LEADS_TO,
        LIKELY,
        joint=r"\s(?:que\s|qu')",
    ),
)

FRENCH = CausalGrammar(
    cues=(*_THEREFORE, *_SO, *_MIDWAY[:1], *_BECAUSE, *PASSIVES, *_BECAUSE_OF, *LABELS, *VERBS, *NOUNS, *_CLAUSES, *_MIDWAY[1:]),
    word=r"[^\W\d_]+'|\w+(?:-\w+)*",
    finite=FINITE,
    auxiliaries=word_set(
        "n' ne pas plus jamais guère point m' t' l' s' me te lui leur nous vous se y en a ont avait avaient aura auront aurait auraient ait aient est sont était étaient fut furent sera seront serait seraient soit soient été eu",
        "peut peuvent pourrait pourraient pourra pourront pouvait pouvaient puisse puissent va vont allait allaient risque risquent risquait risqueraient risquerait doit doivent devrait devraient devait semble semblent semblait paraît paraissent finit finissent finira finirait finirent fini",
        "vient venait bien aussi également déjà sans doute probablement peut-être souvent toujours parfois même donc ainsi encore ensuite alors finalement en partie surtout à lui seul elle-même lui-même avoir être pouvoir susceptible susceptibles capable capables faillit failli menace menacent commence commencent tend tendent ayant",
        "très tout fortement rapidement principalement",
    ),
    weak_auxiliaries=word_set("de d' par à sans en l' tout lui leur nous vous seul doute partie même que qu' le la les"),
    adverb=r"\w+ment(?<!élément)(?<!traitement)(?<!moment)(?<!règlement)(?<!changement)(?<!département)(?<!bâtiment)(?<!équipement)(?<!jugement)(?<!paiement)(?<!licenciement)(?<!médicament)(?<!mouvement)(?<!événement)(?<!vêtement)(?<!logement)(?<!document)(?<!argument)(?<!vieillissement)(?<!réchauffement)(?<!frottement)(?<!effondrement)(?<!gouvernement)(?<!glissement)(?<!déménagement)(?<!manquement)(?<!stationnement)(?<!allongement)(?<!dérèglement)(?<!aliment)(?<!sédiment)(?<!ralentissement)(?<!échauffement)(?<!dysfonctionnement)(?<!éboulement)(?<!débordement)(?<!froid)(?<!compliment)(?<!isolement)(?<!changement)(?<!lancement)(?<!retournement)(?<!engagement)(?<!remplacement)",
    hypothetical_words=word_set(
        "peut peuvent pourrait pourraient pourra pourront pouvait puisse puissent risque risquent risquait risquerait risqueraient peut-être probablement doute vraisemblablement éventuellement devrait devraient semble semblent paraît va vont susceptible susceptibles capable capables menace menacent allait allaient potentiellement possiblement sûrement"
    ),
    hypothetical_verb=r"\w+(?:er|u?ir|d)(?:a|ont|ait|aient)(?<!tirait)(?<!entraînerent)|(?:sera|seront|serait|seraient|aura|auront|aurait|auraient|soit|soient|ait|aient|puisse|puissent|fera|feront|ferait|feraient)",
    hypothetical_frame=r"\b(?:risque|danger|crainte|peur|possibilité|craint|craignent|craignons|crains|redoute|redoutent|redoutons|possible|probable|éviter)\s+(?:que|qu')|\bpour\s+(?:que|qu')|\bafin\s+(?:que|qu')|\bsi\s(?![^,]*,)",
    infinitive=r"\w+(?:er|ir|uire|aindre)|faire|mettre",
    modals=word_set("peut peuvent pourrait pourraient pourra pourront pouvait pouvaient puisse puissent va vont allait risque risquent risquait risquerait risqueraient doit doivent devrait devraient devait semble semblent paraît finit finissent finira fini finirent vient pouvoir susceptible susceptibles capable capables faillit failli menace menacent commence tend tendent avoir être"),
    participle=r"\w+(?:é|i|u|û)|conduit|produit|fait|contraint|mis|abouti|eu|traduit",
    gerund=r"\w+ant",
    negations=word_set("pas jamais non plus nullement aucunement rien guère ni aucun aucune"),
    negative_object=r"(?:à\s+)?(?:aucun|aucune|rien|nul|nulle|personne)",
    reporting=r"(?:di[ts]|disent|dis(?:ait|aient)|affirm|assur|conclu|expliqu|signal|indiqu|montr|démontr|confirm|révèl|révél|rapport|relat|écri[tv]|not|pens|croi|sai[ts]|sav|sembl|paraît|consid[èé]r|reconn|admet|admis|ajout|constat|détect|découv|découvr|trouv|inform|estim|soupçonn|rappel|redout|crai|soulign|précis|prouv|suppos|apprend|appris|cert|déclar|rapport|annonc|vu|voit|voyons|vérifi)\w*\s+(?:que\s|qu')|\w{3,}(?:aient|èrent)\s+(?:que\s|qu')|(?:clair|vrai|évident|probable|possible|sûr|certain|fait|risque|crainte|peur|dommage|est)\s+(?:que\s|qu')",
    conjunctions=word_set("soit est-ce et mais ou or ni puis donc car enfin aussi que qu' alors bref"),
    focus=word_set("ne surtout notamment principalement essentiellement précisément simplement seulement uniquement juste justement en partie grande peut-être probablement sans doute avant tout pas non ni apparemment vraisemblablement tout et c' est n' même bien plutôt ce mais sûrement éventuellement possiblement particulièrement"),
    copulas=word_set("est sont était étaient fut c' n' pas ce serait seraient"),
    coordination=r"(?<=\s)et\s",
    phrase_end=r"parce\s+que|parce\s+qu'|quand|lorsque|lorsqu'|tandis\s+que|alors\s+que|mais|car|puisque|puisqu'|pour\s+que|afin\s+que|selon|si|pendant\s+que|avant\s+que|jusqu'à\s+ce\s+que|même\s+si|bien\s+que|c'est-à-dire|sauf",
    aside=r"selon|d'après|qui|que|dont|où|lequel|laquelle|lesquels|lesquelles|à\s+laquelle|dans\s+laquelle|quand|lorsque|tandis|alors|bien\s+que|si|après|avant|malgré|même|sauf|hormis|comme|avec|sans|pour|notamment|surtout|par\s+exemple|c'est-à-dire|y\s+compris|craignent|craint|précise|explique|dit|affirme|note|d'ailleurs|en|à|au|aux|dans|sur|partie?s?|chez|depuis|pendant|durant|lors",
    relatives=word_set("qui que lequel laquelle lesquels lesquelles"),
    clause_relative=r"ce\s+qui|chose\s+qui|fait\s+qui|situation\s+qui|décision\s+qui|événement\s+qui",
    anaphors=word_set("cela ça ceci ce c'") | frozenset({"tout cela", "tout ça", "cette situation", "ce fait", "le tout"}),
    pronouns=word_set("il elle ils elles on lui leur eux cela ça ceci ce c' qui que celui celle ceux celles y en le la les l' un une autre certains personne s'"),
    prepositions=word_set("de d' du des à au aux en avec sans par pour dans sur sous vers chez contre"),
    correction=r"mais(?:\s+(?:bien|plutôt|aussi|surtout|également))?|c'est\s+plutôt|simplement",
    contrast_not=r"(?:\s|^),?\s*(?:et|mais)\s+non\s+(?:pas\s+)?(?:au\b|aux\b|à\b|du\b|des\b|de\b|d'|par\b|parce\s+(?:que|qu'))|,\s+(?:et\s+)?pas\s+(?:au\b|aux\b|à\b|du\b|des\b|par\b)|\splutôt\s+que\s+(?:de\s+|du\s+|par\s+|au\s+|aux\s+|à\s+)?",
    cleft=r"(?:c'est|c'était|ce\s+n'est\s+pas|ce\s+n'était\s+pas|c'est\s+(?:bien|surtout|aussi)|serait-ce|est-ce)",
    cleft_that=r"\s(?:que\s|qu')",
    condition=r"si|s'ils?|peut-être|à\s+supposer\s+que",
    bare_participle=r"\w+(?:é|u|û|i|t)e?s?",
    exclusive=word_set("seulement uniquement"),
    post_negation=r"\s+(?:pas|plus|jamais|guère|point)(?!\w)",
    object_clitics=word_set(""),
    reflexive=word_set("se s'"),
    complementizers=word_set("que qu'"),
    without=word_set("sans"),
)  # fmt: skip
