"""French words by what they mean to a cause: forms of verbs, incidents, outcomes, places."""

from graphrag.causal_graph.grammar import any_of

_NOT_VERBS = (
    "lait|laits|trait|retrait|souhait|extrait|portrait|attrait|bienfait|forfait|méfait|parfait|imparfait|satisfait|distrait|relais|frais|jamais|mais|désormais|anglais|français|"
    "opéra|caméra|choléra|ira|aura|mémorandum|paraît-il|lierre|maire|air|flair|maient|dirait-on|chefferait|brait"
)
_NOT_AFTER = (
    "".join(rf"(?<!\b{word}\s)" for word in "le la un une les des de du sa son cette en par".split()) + "(?<!l')(?<!d')"
)  # «la baisse» is a noun
# Verbs that their ending or the pronoun before them does not tell. «à» is no verb: accents count.
FINITE = (
    r"(?<![\w-])(?:(?:(?:j'|(?:je|tu|il|elle|on|ils|elles|c'|ce|ça|cela|qui)\s+)(?:ne\s+|n'|m'|t'|s'|l'|y\s+|en\s+|se\s+|me\s+|te\s+|le\s+|la\s+|les\s+|lui\s+|leur\s+|nous\s+|vous\s+)*\w+)|c'\w+|(?:ne\s+|n'|se\s+|s')(?:y\s+|en\s+|le\s+|la\s+|les\s+|lui\s+|leur\s+|me\s+|nous\s+)*(?!être\b|avoir\b|pas\b|\w+er\b)\w+"
    rf"|(?:nous|vous)\s+(?!\w+(?:é|ée|és|ées)\b|a\b|ont\b|avait\b)\w+(?:ons|ez)"
    rf"|(?!(?:{_NOT_VERBS})(?!\w))\w{{2,}}(?:ait|aient|èrent|era|eront|erait|eraient|irent|urent|ira|iront|irait|iraient|dra|dront|drait|draient)"
    rf"|{_NOT_AFTER}(?:a|ont|est|sont|était|étaient|avait|avaient|fut|furent|sera|seront|serait|seraient|aura|auront|ai|avons|avez|suis|sommes|êtes|peut|peuvent|pouvait|doit|doivent|devait|dut|eut|eurent|fit|"
    r"fait|font|va|vont|faut|vient|viennent|vint|reste|restent|commence|commencent|dort|dorment|met|mettent|mit|prend|prennent|prit|tient|tiennent|sort|sortent|part|partent|perd|perdent|rend|rendent|vend|vendent|dit|disent|voit|voient|vit|vivent|"
    r"sait|savent|veut|veulent|connaît|croit|reçoit|reçoivent|devient|deviennent|devint|ouvre|ouvrent|ferme|ferment|tombe|tombent|manque|manquent|coûte|coûtent|marche|fonctionne|fonctionnent|contient|contiennent|permet|permettent|"
    r"semble|semblent|paraît|paraissent|arrive|arrivent|passe|passent|demeure|existe|existent|grince|grincent|tousse|pleut|pleure|mange|mangent|boit|travaille|travaillent|joue|jouent|compte|comptent|monte|montent|baisse|baissent|augmente|augmentent|"
    r"refuse|refusent|garde|gardent|continue|continuent|demande|demandent|utilise|utilisent|achète|achètent|prête|prêtent|laisse|laissent|trouve|trouvent|cherche|évite|évitent|préfère|préfèrent|pense|pensent|nécessite|ressemble|descend|attend|attendent|soit|soient|ait|aient|puisse))"
    r"(?!\w)"
)
COPULA = any_of(
    "(?:n')?(?:est|sont|était|étaient|fut|furent|a été|ont été|avait été|sera|seront|serait|seraient|peut être|pourrait être|semble être|a bien été|reste|demeure)(?: pas| plus)?"
)
INCIDENTS = (
    r"(?<!\w)(?:odeurs?|bruits?|pannes?|retards?|fuites?|erreurs?|douleurs?|mal|maux|défauts?|taches?|humidité|différences?|écarts?|succès|échecs?|problèmes?|accidents?|incendies?|inondations?|coupures?|fissures?|bouchons?|grèves?|travaux|"
    r"pluies?|orages?|neige|verglas|brouillard|gel|vent|tempêtes?|canicule|sécheresse|chaleur|froid|manque|absence|excès|maladies?|grippe|fièvre|allergies?|toux|fatigue|stress|migraines?|blessures?|chutes?|hausses?|baisses?|augmentations?|diminutions?|recul|"
    r"retrait|fermeture|annulations?|plaintes?|réclamations?|dettes?|impayés?|négligences?|imprudences?|oublis?|étourderie|confusions?|malentendus?|désaccords?|conflits?|disputes?|infections?|virus|épidémies?|pollution|crises?|guerres?|décès|mort|départs?|"
    r"démission|licenciements?|moisissures?|rouille|usure|vibrations?|surchauffe|court-circuit|surtension|gêne|démangeaisons|picotements|nausées|vertiges|insomnies?|essoufflement|tremblements?|difficultés?|tensions?|pertes?|doublons?|malaises?|rumeurs?|idées?|noms?)(?!\w)"
)
OUTCOMES = (
    r"(?<!\w)(?:\w{2,}(?:tions?|sions?|ments?|ances?|ences?|ités?|ages?|ures?|ismes?|eurs?|ées?)|"
    r"chutes?|hausses?|baisses?|pertes?|pannes?|fuites?|coupures?|crises?|échecs?|retards?|départs?|décès|mort|morts|accidents?|incendies?|conflits?|disputes?|grèves?|problèmes?|dégâts?|nausées|maux|mal|fièvre|vertiges|troubles?|toux|fatigue|stress|"
    r"succès|gains?|économies|files?|queues?|doublons?|plaintes?|amendes?|faillites?|ruine|fin|arrêt|report|exode|panique|peur|joie|colère|effets?|surcoûts?|frais|impasse|compromis|accords?|reprise|rupture|rejet|refus|recul|essor|\w+(?:er|ir|re))(?!\w)"
)
ROADS = r"(?<!\w)(?:rues?|chemins?|sentiers?|portes?|escaliers?|couloirs?|routes?|allées?|passages?|pistes?|tunnels?|ponts?|avenues?|ruelles?|passerelles?|trappes?|portails?|grilles?|bus|train|métro|ascenseur|autoroutes?|flèches?|liens?|bouton|marches|venelles?|galeries?|navettes?)(?!\w)"
PLACES = r"^(?:(?:l'|d')|(?:la|le|les|un|une|notre|sa|son)\s+)?(?:caves?|places?|plage|lac|étang|cuisine|jardin|cour|gare|église|village|sommet|forêt|bois|grenier|terrasse|salle|chambre|mairie|marché|port|mer|rivière|garage|hall|toit|sous-sol|chapelle|château|fournil|sortie|entrée|parking|bourg|moulin|belvédère)(?!\w)"
ER = "(?:e|ent|a|èrent|ait|aient|ant|é|er|era|eront|erait|eraient)"
GER = "(?:ge|gent|gea|gèrent|geait|geaient|geant|gé|ger|gera|geront|gerait|geraient)"
ENER = "(?:ène|ènent|ena|enèrent|enait|enaient|enant|ené|ener|ènera|èneront|ènerait|èneraient)"
ERER = "(?:ère|èrent|éra|érèrent|érait|éraient|érant|éré|érer|érera|éreront|érerait|éreraient|èrera|èrerait|èreraient)"
UIRE = "(?:uit|uisent|uisit|uisirent|uisait|uisaient|uisant|uire|uira|uiront|uirait|uiraient)"
DONNER = rf"donn{ER}"
DE = r"(?:du\b|des\b|d'|de\b)"
A = r"(?:au\b|aux\b|à\b)"
ARTICLE = r"(?:l'|(?:le|la|les|un|une|des|du|ce|cet|cette|ces|son|sa|ses|leur|leurs|notre|nos|mon|ma|mes|plusieurs|de|d'|au|aux|tout|toute|tous|beaucoup)\b)"
REASON = r"(?:causes?|raisons?|motifs?|origines?|facteurs?|éléments?\s+déclencheurs?|déclencheurs?|responsables?|coupables?|explications?|sources?)"
DEGREE = r"(?:\s+(?:principale?s?|directe?|profonde|première|probable|majeure?|exacte?|véritable))?"
THIS = r"(?:cela|ça|ceci|ce\s+fait)"
MORE = r"(?:,?\s+(?:\w+ment|surtout|avant\s+tout|en\s+partie|en\s+grande\s+partie|sans\s+doute|ainsi|peut-être|aussi|même|bien|donc|directement|d'abord|pas|plus|jamais|à\s+terme|in\s+fine),?)*"
NOT_A_NOUN = "".join(
    rf"(?<!\b{word}\s)"
    for word in "la une sa cette ma leur notre en bonne même pour à toute autre grande juste de sans".split()
)
