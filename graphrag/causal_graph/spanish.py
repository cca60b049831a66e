"""Spanish cues of cause and effect, and the tables that reading them needs."""

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
from graphrag.causal_graph.spanish_predicates import LABELS, NOUNS, PASSIVES, VERBS
from graphrag.causal_graph.spanish_words import ARTICLE, FINITE, INCIDENTS, OF, THIS, TO

_THEREFORE = cues(Form.THEREFORE, LEADS_TO, CLEAR, (
    rf"(?:es )?(?:por|debido a|gracias a|a causa de|a raíz de|a consecuencia de|como consecuencia de|como resultado de|fruto de|en vista de) {THIS}(?: mismo)?(?! de\b)(?: por lo que| que)?",
    r"por (?:esta|esa|este|ese|dicha|dicho|tal|estas|esas|estos|esos)(?: misma| mismo)? (?:raz[oó]n|razones|motivos?|causas?)",
    "por (?:lo )?tanto", "por consiguiente", "en consecuencia", "consecuentemente", "así pues", "de resultas", "total,? que",
    "como (?:consecuencia|resultado)(?! de)", "de ahí(?: que)?",
))  # fmt: skip
_SO = cues(Form.SO, LEADS_TO, CLEAR, (
    r"por lo que(?! (?:respecta|se refiere|a |al |toca|parece|sé|veo|cuentan|dicen|hizo|hace|pagu?|cuesta|vale|es\b))", "por lo cual", "así que", "conque", "con lo cual",
    "de (?:tal )?(?:modo|manera|forma|suerte) que",
    "(?:motivo|motivos) por (?:el|los) (?:que|cual|cuales)", "(?:razón|razones|causa) por (?:la|las) (?:que|cual|cuales)",
    "hasta (?:el|tal) punto (?:de )?que",
)) + cues(Form.SO, LEADS_TO, LIKELY, ["con lo que"])  # fmt: skip
_BECAUSE = cues(Form.BECAUSE, CAUSES, SURE, (
    "debido,? a que", "a causa de que", "por culpa de que", "porque", "gracias a que", "a raíz de que", "a consecuencia de que",
)) + cues(Form.BECAUSE, CAUSES, CLEAR, (
    "ya que", "puesto que", "dado que", "visto que", "en vista de que", "habida cuenta de que", "en la medida en que", "por el hecho de que", "por miedo a que", "como quiera que",
)) + (
    Cue(r"teniendo\s+en\s+cuenta\s+que", Form.BECAUSE, CAUSES, VAGUE),
    Cue(r"(?<=[,;]\s)pues(?!\s+(?:bien|eso|nada|sí|no\s+sé|mira|claro)\b)", Form.BECAUSE, CAUSES, VAGUE, cause=FINITE),
)  # fmt: skip
_BECAUSE_OF = cues(Form.BECAUSE_OF, CAUSES, SURE, (
    rf"debido(?:,? (?:\w+mente|sobre todo|en parte|en gran medida),?)? {TO}", rf"a causa(?:, (?:\w+mente|sobre todo|en parte),)? {OF}", rf"por culpa {OF}", rf"a raíz {OF}",
)) + cues(Form.BECAUSE_OF, CAUSES, CLEAR, (
    rf"(?:a|como) consecuencia {OF}", rf"como resultado {OF}", rf"a resultas {OF}", rf"a (?:fuerza|falta) {OF}", rf"por (?:efecto|obra|mor) {OF}", rf"por motivos? {OF}", rf"por razones {OF}", rf"por causa {OF}", rf"en vista {OF}",
    rf"gracias {TO}(?! (?:todos|todas|ti|usted|ustedes|vosotros|dios|todo el mundo|cada uno|quienes|los que)\b)", "de tanto(?= \\w+[aei]r)",
)) + (
    Cue(r"dad[oa]s?(?=\s+(?:el|la|los|las|su|sus|este|esta)\s)", Form.BECAUSE_OF, CAUSES, LIKELY),
    Cue(r"ante(?=\s+(?:la|el)\s+(?:falta|imposibilidad|ausencia|escasez|negativa|subida|avalancha|mal\s+tiempo)\b)", Form.BECAUSE_OF, CAUSES, LIKELY),
    Cue(r"al(?=\s+(?:no\s+\w+[aei]r|(?:haber|carecer|faltar|ver|estar|ser|quedar)(?:se|lo|le)?)\b)", Form.BECAUSE_OF, CAUSES, VAGUE),
    Cue(rf"por(?=\s+(?:{ARTICLE}\s+)?(?:(?:mal|mala|buen|buena|simple|puro|pura|nuevo|nueva|fuerte|grave|presunt[oa]|constante|excesiv[oa]|fuertes|graves|continu[oa]s|repetid[oa]s|\w+mente)\s+)?{INCIDENTS})", Form.BECAUSE_OF, CAUSES, LIKELY),
    Cue(r"(?<!ó\s)(?<!aron\s)(?<!\ba\s)(?<!empezar\s)(?<!estar\s)(?<!está\s)(?<!están\s)(?<!queda\s)(?<!quedan\s)(?<!opta\s)(?<!optar\s)(?<!lucha\s)(?<!luchar\s)(?<!interés\s)(?<!preocupa\s)(?<!termina\s)(?<!acaba\s)(?<!esfuerzo\s)(?<!esfuerzos\s)(?<!lucha\s)(?<!afán\s)(?<!intento\s)(?<!caracteriza\s)(?<!caracterizan\s)(?<!preocupación\s)(?<!preocupado\s)(?<!preocupados\s)por(?=\s+(?:no\s+)?(?!ayer|lugar|mar\b|azar|placer|mujer|doquier|cualquier|poder|hogar|primer|tercer|sector|particular|celular|militar)(?!perla|isla)\w+(?:ar|er|ir)(?:se|lo|la|los|las|le|les)?\b)", Form.BECAUSE_OF, CAUSES, VAGUE, not_effect=r"^(?:muchas\s+)?gracias|^perd[oó]n|^enhorabuena|^felicidades"),
)  # fmt: skip
_CLAUSES = (
    Cue(
        r"(?<!por\s)(?<!lo\s)(?<!mientras\s)(?<!un\s)(?<!de\s)(?<!entre\s)(?<!en\s)(?<!no\s)tan(?:to|ta|tos|tas)?(?=\s(?:[^,.;:]{1,90}?\s)?que\b)(?![^,.;:]{0,60}\bcomo\b)",
        Form.SO_THAT,
        LEADS_TO,
        LIKELY,
        joint=r"\sque(?=\s)",
    ),
    Cue(r"tal(?:es)?(?=\s+\w+(?:\s+\w+)?\s+que\b)(?!\s+vez)", Form.SO_THAT, LEADS_TO, VAGUE, joint=r"\sque(?=\s)"),
    Cue(
        r"como(?!\s+(?:muestra|indica|dice|señala|explica|se\s|ya\s|hemos|habíamos|vimos|siempre|es\s+(?:habitual|lógico|natural|sabido)|era\s+de|todos|si\b|para|cada|decía|dijo|recoge|refleja|recordará))",
        Form.GIVEN_THAT,
        CAUSES,
        LIKELY,
        cause=FINITE,
    ),
)

SPANISH = CausalGrammar(
    cues=(*_THEREFORE, *_SO, *_BECAUSE, *_BECAUSE_OF, *PASSIVES, *LABELS, *VERBS, *NOUNS, *_CLAUSES),
    word=r"\w+(?:-\w+)*",
    finite=FINITE,
    auxiliaries=word_set(
        "se me te le les nos os lo la los las ha han había habían hubo he hemos habrá habrán habría habrían haya hayan puede pueden podría",
        "podrían podrá podrán podía podían pudo pudieron pudiera pudieran pueda puedan suele suelen solía solían va van iba iban iría debe deben debería deberían debió acabó acaba acabaron acabará acabaría",
        "terminó termina terminaron terminará terminaría siendo sido está están estaba estaban estuvo estuvieron es son fue fueron era eran será serán sería serían sea sean viene vienen vino vinieron sigue siguen empezó empezaron comenzó",
        "llegó volvió vuelve parece parecen parecía haber poder amenaza amenazan intenta intentó logró consiguió ya también todavía aún además quizá quizás tal vez luego después entonces siempre solo sólo casi apenas incluso bien así",
        "sin susceptible susceptibles capaz capaces encontrarse verse ser estar resulta resultó pareció podido",
    ),
    weak_auxiliaries=word_set("a por de con que lo la los las"),
    adverb=r"\w+mente",
    hypothetical_words=word_set(
        "puede pueden podría podrían podrá podrán podía podían pudiera pudieran pueda puedan poder quizá quizás tal vez acaso posiblemente probablemente seguramente supuestamente presuntamente debería deberían debió iría amenaza amenazan susceptible susceptibles capaz capaces parece parecen mejor va van"
    ),
    hypothetical_verb=r"\w*(?:[aei]rán?|[aei]rían?|drán?|drían?|zcan?|jeran?|jesen?|aran?|asen?|ieran?|iesen?)|(?:haya|hayan|sea|sean|fuera|fueran|fuese|haga|hagan|dé|den|traiga|traigan)|(?:caus|provoqu|ocasion|origin|motiv|acarre|suscit|propici|gener|conllev|desencaden|desat|dispar|llev|deriv|result|desemboqu|obligu|fuerc)en?",
    hypothetical_frame=r"(?:riesgo|peligro|posibilidad|probabilidad|temor|miedo|posible|probable)\s+(?:\w+\s+)?(?:de|a)?\s*que\s|\btem(?:e|en|o|emos|ía|ían)\s+que\s|\bpara\s+que\s|\bsi\s(?![^,]*,)",
    infinitive=r"\w+[aeií]r(?:se)?",
    modals=word_set(
        "puede pueden podría podrían podrá podrán podía podían pudo pudieron pudiera pudieran pueda puedan suele suelen solía solían va van iba iban debe deben debería debió acabó acaba acabaron terminó termina terminaron empezó empezaron comenzó llegó volvió vuelve parece parecen amenaza amenazan susceptible susceptibles capaz capaces poder haber iría acabará terminará acabaría terminaría logró consiguió"
    ),
    participle=r"\w+[aií]d[oa]s?|hecho|supuesto",
    gerund=r"\w+(?:ando|iendo|yendo)",
    negations=word_set("no nunca jamás tampoco ni ningún ninguna ninguno nadie"),
    negative_object=r"(?:ningún|ninguna|ninguno|nada)",
    reporting=r"(?:dic|dij|afirm|asegur|conclu|explic|señal|indic|muestr|mostr|demuestr|demostr|confirm|revel|recog|cre|piens|pens|sab|sup|parec|consider|reconoc|admit|añad|constat|detect|descubr|encontr|inform|asum|advert|adviert|sospech|result|recuerd|record|coment|cuent|cont|opin|argument|sugir|suger|plante|propon|insist|escrib|propus|not|declar|sostien|sostuv|aleg|apunt|subray|destac)\w*\s+que\s|(?<!\w)(?!tuv|hub|hic|ten|hac|logr|permit|oblig)\w+(?:ó|aron|ieron|aban|ían)\s+que\s|(?:claro|cierto|verdad|evidente|probable|posible|seguro|hecho\s+de|riesgo\s+de|temor\s+(?:de|a)|miedo\s+a|posibilidad\s+de|vi|vio|vimos|vieron|veo|vemos|es|creo|tem\w+)\s+que\s",
    conjunctions=word_set("mientras y e o u pero aunque sino que mas además también incluso luego entonces es pues así"),
    focus=word_set("sobre todo principalmente fundamentalmente precisamente especialmente simplemente solo sólo solamente únicamente justo justamente en parte gran medida probablemente posiblemente quizá quizás tal vez acaso seguramente mayormente básicamente exclusivamente sencillamente debido ni no y porque presumiblemente supuestamente a lo mejor más bien"),
    copulas=word_set("es son fue fueron era eran está están estaba sea ha sido"),
    coordination=r"(?<=\s)[ye]\s",
    phrase_end=r"como\s+para|porque|cuando|mientras|aunque|pero|ya\s+que|puesto\s+que|para\s+que|sino|según|si|así\s+que|por\s+lo\s+que|hasta\s+que|antes\s+de\s+que|sin\s+que",
    aside=r"según|que|quien|quienes|cual|el\s+cual|la\s+cual|lo\s+que|a\s+la\s+que|al\s+que|en\s+el\s+que|en\s+la\s+que|donde|cuando|aunque|si|tras|después|antes|a\s+pesar|incluso|excepto|salvo|como|con|sin|para|ni\s+siquiera|sobre\s+todo|por\s+ejemplo|es\s+decir|entre\s+ellos|aclar\w+|explic\w+|dij\w+|afirm\w+|asegur\w+|segun|junto|además|cuyo|cuya|cuyos|cuyas|esa\s+misma|ese\s+mismo|en",
    relatives=word_set("que cual cuales quien quienes"),
    clause_relative=r"lo\s+(?:que|cual)|cosa\s+que|algo\s+que|hecho\s+que|situación\s+que|circunstancia\s+que|decisión\s+que",
    anaphors=word_set("esto eso ello aquello") | frozenset({"todo esto", "todo ello", "todo eso", "este hecho", "esta situación", "este problema", "lo anterior"}),
    pronouns=word_set("él ella ellos ellas ello esto eso lo la le les se este esta estos estas ese esa aquello que quien uno una otro otra el los las") | frozenset({"lo que"}),
    prepositions=word_set("de a en con por para del al sobre hasta desde ante bajo tras entre"),
    correction=r"sino(?:\s+también|\s+además|\s+sobre\s+todo)?|simplemente|más\s+bien|sencillamente|lo\s+que\s+pas|la\s+verdad\s+es",
    contrast_not=r"(?:\s|^)(?:y|,)\s*no\s+(?:al?|del?|por)(?!\w)|(?:\s|^)(?:y|,)\s*no\s+porque(?!\w)",
    cleft=r"(?:no\s+)?(?:es|fue|era|ha\s+sido)",
    cleft_that=r"\s(?:por\s+lo\s+)?que\s",
    condition=r"si|quizás?|tal\s+vez|a\s+lo\s+mejor|posiblemente|probablemente",
    bare_participle=r"\w+[aií]d[oa]s?",
    exclusive=word_set("solo sólo solamente únicamente"),
    post_negation="",
    object_clitics=word_set("lo la los las"),
    reflexive=word_set("se"),
    complementizers=word_set("que"),
    without=word_set("sin"),
)  # fmt: skip
