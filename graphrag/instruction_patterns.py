"""How orders to a language model read, in Spanish, French and English: folded text, without accents or capitals."""

import re

# Between two words of a pattern: marks, and up to so many other words («ignore all of the previous instructions»).
_GAP = r"\W+(?:\w+\W+){0,%d}"
_CLAUSE_GAP = r"(?:[^\w.!?\n]|\.(?=\w))+(?:\w+(?:[^\w.!?\n]|\.(?=\w))+){0,%d}"  # within a sentence


def _near(*words: str, apart: int = 4, gap: str = _GAP) -> str:
    return rf"\b(?:{(')' + gap % apart + '(?:').join(words)})\b"


_FORGET = (
    "ignor(?:e[sz]?|es?|ar|a|ad|en?|ing|ieren|iere|are)|disregard|forget|override|bypass|overrule|neglect"
    "|olvid(?:a|e|es|ar|ad|en)|descart(?:a|e|ar|en)|omit(?:e|a|ir|an)|pasa por alto|haz caso omiso"
    "|oubli(?:e[sz]?|er)|neglige[sz]?|ne (?:tiens|tenez) (?:pas|aucun) compte|fais abstraction|faites abstraction"
    "|vergiss|ignora(?:te|re)|dimentica|esqueca|desconsidere"
)
_EARLIER = (
    "previous|prior|preceding|above|earlier|foregoing|existing|original|initial|system|your|all"
    "|previas?|previos?|anteriores|anterior|todas?|todos?|sistema|tus|sus|dadas|iniciales"
    "|precedente?s?|precedents?|anterieure?s?|toutes?|tous|systeme|tes|vos|ci-dessus|initiales?"
    "|vorherigen|precedenti|anteriores"
)
_RULES = (
    "instructions?|prompts?|rules|guidelines|directions|directives?|orders|commands|restrictions|safeguards|context"
    "|instrucci(?:on|ones)|reglas|ordenes|indicaciones|directrices|restricciones|contexto"
    "|contexte|consignes?|regles|ordres|anweisungen|istruzioni|instrucoes"
)
_REVEAL = (
    "reveal|show|print|display|output|repeat|leak|dump|give me|tell me|send|expose|disclose|return|share|list"
    "|revela|muestra(?:me)?|muestrame|imprime|repite|dame|dime|envia(?:me)?|devuelve(?:me)?|ensena(?:me)?|filtra|lista(?:me)?"
    "|revele[sz]?|devoile[sz]?|affiche[sz]?|montre[sz]?|donne[sz]?(?:-moi)?|imprime[sz]?|repete[sz]?|envoie|envoyez|renvoie|divulgue[sz]?"
)
_SECRET = (
    "system prompt|(?:your|the) (?:initial |hidden |original |full )?prompt|(?:your|the (?:initial|hidden|original|system)) instructions|passwords?|api keys?|secret keys?"
    "|access keys?|credentials|environment variables?|os environ|env vars?|tokens? secrets?"
    "|prompt (?:del|de) sistema|(?:tu|tus|el) prompt|tus instrucciones|instrucciones del sistema|contrasenas?|claves? (?:api|secretas?|de acceso)|credenciales"
    "|variables? de entorno"
    "|(?:all|every) (?:of )?(?:the )?(?:user|customer)s? (?:data|emails|records|accounts)"
    "|(?:datos|correos|emails) de (?:todos )?los (?:usuarios|clientes)|(?:donnees|emails|courriels) (?:de tous les|des) (?:utilisateurs|clients)"
    "|prompt (?:du )?systeme|(?:ton|votre|le) prompt|tes instructions|instructions systeme|mots? de passe|cles? (?:api|secretes?)"
    "|identifiants de connexion|donnees sensibles|variables? d environnement"
)
_ANSWER = (
    r"your (?:final |next )?(?:answer|response|reply|output|message)s?|tu (?:proxima )?(?:respuesta|contestacion)"
    r"|(?:ta|votre) (?:prochaine )?reponse"
)
_SHAPE = (
    "include|add|append|insert|integrate|modify|augment|enhance|replace|substitute|convert|render|rearrange|scramble"
    "|remove|group|combine|introduce|misspell|jumble|anagram|encode|translate|embed|mention"
    "|incluye|anade|agrega|inserta|integra|modifica|reemplaza|sustituye|convierte|escribe|empieza|termina|acaba|codifica|elimina"
    "|inclus|ajoute|insere|integre|modifie|remplace|convertis|ecris|commence|termine|code|supprime|mentionne"
    "|incluez|ajoutez|inserez|integrez|modifiez|remplacez|ecrivez|commencez|terminez|supprimez"
)
_ONLY = (
    r"\b(?:reply|respond|answer|output|say|write|print|return)\W+(?:with\W+(?:only|just|exactly|nothing but)"
    r"|(?:only|just|exactly|nothing but)\W+(?:with|the (?:words?|text|phrase|number)|this|yes|no))\b"
    r"|\b(?:responde|contesta|escribe|di|devuelve|imprime)\W+(?:con\W+)?(?:solo|solamente|unicamente|exactamente)\W+(?:con|la palabra|la frase|el texto|lo siguiente|esto|si|no)\b"
    r"|\b(?:reponds|ecris|dis|renvoie|affiche)\W+(?:seulement|uniquement|exactement|rien d autre)\b"
    r"|\b(?:repondez|ecrivez)\W+(?:seulement|uniquement|exactement)\W+(?:par|avec|le mot|la phrase|ceci|oui|non)\b"
)
_MODEL = "dan|ai|a i|assistant|chatbot|language model|llm|gpt|ia|asistente|modelo de lenguaje|modele de langage"
_POWERFUL = (
    "(?:system )?administrator|admin|root|hacker|jailbroken|unrestricted|developer|administrador|desarrollador|administrateur"
    "|developpeur|pirate informatique"
)
_BEGINNING = r"(?<!\w )\b(?:(?:please|now|por favor|ahora|maintenant)\W+)?"
_ROLE = (
    rf"\b(?:you are|you re|eres|tu es|vous etes)\W+(?:(?:now|ahora|maintenant|desormais)\W+)?(?:\w+\W+){{0,4}}(?:{_MODEL})\b(?! +(?:manager|director|social|maternelle|de direction))"
    rf"|{_BEGINNING}(?:act|behave|roleplay|pose) as\W+(?:\w+\W+){{0,4}}(?:{_MODEL}|{_POWERFUL})\b"
    rf"|{_BEGINNING}(?:actua|actue|comportate|comportese) como\W+(?:\w+\W+){{0,4}}(?:{_MODEL}|{_POWERFUL})\b"
    rf"|{_BEGINNING}(?:agis|agissez|comporte toi|comportez vous) (?:comme|en tant que)\W+(?:\w+\W+){{0,4}}(?:{_MODEL}|{_POWERFUL})\b"
    r"|\b(?:pretend (?:to be|you are|that you are)|simulate being|finge (?:ser|que eres)|simula (?:ser|que eres)|hazte pasar por"
    rf"|fais semblant d etre|joue le role d\w*)\W+(?:\w+\W+){{0,4}}(?:{_MODEL}|{_POWERFUL})\b"
    r"|\b(?:developer|debug|god|jailbreak|dan|maintenance) mode (?:on|enabled|activated|is)\b|\bmodo (?:desarrollador|dios|depuracion|jailbreak)\b"
    r"|\bmode (?:developpeur|debogage|jailbreak)\b|\bdo anything now\b|\b(?:enter|enable|activate) (?:developer|debug|god|dan|maintenance) mode\b"
    rf"|\b(?:{_MODEL})\W+(?:without|sin|sans|with no|no)\W+(?:\w+\W+){{0,2}}(?:restrictions?|restricciones|filtros?|filtres?|filters?|limites?|limits)\b"
    r"|\b(?:from now on|a partir de ahora|desde ahora|a partir de maintenant|desormais)\W+(?:you (?:will|must|are|only|always)|respond|answer|reply|act|tu|eres|responde|responderas|debes|actua|contesta|reponds|agis)\b"
    r"|\b(?:i am|i m|soy|je suis)\W+(?:your|tu|ton|votre)\W+(?:developer|administrator|creator|owner|desarrollador|administrador|creador|developpeur|administrateur|createur)\b"
)  # fmt: skip
_NEW = (
    r"\b(?:new|updated|real|actual|important) (?:system )?(?:instructions?|prompt|directives?|task)\b\s*[:=]"
    r"|\b(?:nuevas?|verdaderas?) (?:instruccion(?:es)?|orden(?:es)?|tarea)\b\s*[:=]"
    r"|\b(?:nouvelles?|vraies?) (?:instructions?|consignes?|taches?)\b\s*[:=]"
    r"|\b(?:note|message|attention|instructions?|notice|nota|mensaje|instrucciones|aviso)\W+(?:to|for|para|a|pour|a l attention de|a l)\W+(?:(?:the|any|all|la|el|los|l|le|les|toute?s?)\W+)?"
    r"(?:ai|llm|language model|assistant|chatbot|ia|asistente|modelo|modele|agent)s?\b"
    r"|\b(?:ai|llm) (?:assistant|agent|model)s?\W+(?:must|should|reading this|processing this)\b"
    r"|\b(?:user|owner|administrator|developer) has authori[sz]ed you\b"
    r"|\b(?:do not|don t|never|without)\W+(?:tell|mention|inform|telling|informing)\w*\W+(?:\w+\W+){0,3}the user\b"
    r"|\b(?:no|sin)\W+(?:\w+\W+){0,2}(?:digas|menciones|informes|decirselo|avisar)\W+(?:\w+\W+){0,2}(?:al|el) usuario\b"
    r"|\bne\W+(?:\w+\W+){0,2}(?:dis|mentionne|informe)\W+(?:\w+\W+){0,4}l utilisateur\b"
    r"|\bif you are an? (?:ai|llm|language model|assistant)\b|\bsi (?:eres|es usted) una? (?:ia|asistente|modelo)\b|\bsi (?:tu es|vous etes) une? (?:ia|assistant|modele)\b"
)
_MANNER = (
    rf"(?:use|write|provide|begin|start|end|finish){_CLAUSE_GAP % 8}(?:in|to|from|with) (?:{_ANSWER})"
    r"|(?:provide|write|begin|start|end|finish|give) your (?:response|reply|answer)(?: in (?!the|this|writing|person|block|ink)| using| with(?:out)?| as)"
)
ORDERS = re.compile(
    "|".join(
        (
            _near(_FORGET, _EARLIER, _RULES),
            _near(_FORGET, _RULES, _EARLIER, apart=3),
            _near("do not|don t|never|no|ne", "follow|obey|sigas|obedezcas|suis|suivez", _EARLIER, _RULES, apart=2),
            _near("do not|don t|never|no|ne", "follow|obey|sigas|obedezcas|suis|suivez", _RULES, _EARLIER, apart=2),
            _near(_REVEAL, _SECRET, apart=6),
            _near(
                "what|which|cuale?s?|que|quel|quelles?|quels",
                "(?:your|tu|tus|ton|tes) (?:system |initial |exact )?(?:prompt|instructions|instrucciones)",
                apart=3,
            ),
            _near(_SHAPE, _ANSWER, apart=14, gap=_CLAUSE_GAP),
            rf"\b(?:{_MANNER})\b",
            rf"{_BEGINNING}(?:replace|substitute|convert|swap|reemplaza|sustituye|cambia|remplace|change)\W+(?:\w+\W+){{0,3}}(?:letters?|vowels?|consonants?|letras?|vocales|consonantes|lettres?|voyelles|consonnes)\b",
            rf"\b(?:in|en|dans) (?:{_ANSWER})\W+(?:{_SHAPE}|suggest|tease|sugiere|suggere)\b",
            _near("linking to|suggest", "www|https?", apart=2),
            _near(
                "mark|grade|rate|marca|califica|marque|note",
                "(?:answer|response|respuesta|reponse)",
                "correct|correcta|correcte|valid",
                apart=4,
            ),
            _ONLY,
            _ROLE,
            _NEW,
        )
    )
)
# What separates the turns of a conversation for one model or another, and the words of who speaks on a line of their own.
TOKENS = re.compile(
    r"<\|[\w|]{2,40}\|>|\[/?(?:INST|SYS)\]|<</?SYS>>|</?(?:system|assistant|instructions?|excerpts?|causal_chains)>"
    r"|\[(?:system|sistema|systeme|système|admin|assistant)\]|\{\{-?\s*\w*(?:system|prompt|instruction)\w*\s*-?\}\}|<start_of_turn>|<end_of_turn>"
    r"|^[ \t>#*_-]*(?:system|sistema|systeme|système|assistant|asistente|developer|admin|administrator|administrador|administrateur|root)(?: (?:message|prompt|override))?[*_ \t]*:[*_]*[ \t]*$"
    r"|^[ \t>#*_-]*(?:(?:system|assistant) (?:message|prompt|override)|###? ?(?:instruction|system)s?)[*_ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
FOLLOWING = re.compile(
    r"\W*(?:and |then |now |y |luego |ahora |et |puis |maintenant )?(?:say|write|print|reply|respond|answer|output|mark|send|reveal|repeat|tell"
    r"|do not|execute|follow|visit|click|di|escribe|responde|contesta|marca|envia|revela|repite|muestra|ejecuta|no |sigue|visita"
    r"|dis|ecris|reponds|repondez|marque|affiche|envoie|revele|repete|execute|ne |suis|you must|debes|tu dois|vous devez)\b"
)
