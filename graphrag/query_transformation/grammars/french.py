"""Grammar of French questions. All patterns read flattened text."""

from graphrag.query_transformation.phrases import (
    Asking,
    Clauses,
    Comparing,
    Intents,
    QuestionGrammar,
    alternatives,
    exactly,
    folded,
)

_ADJECTIVE = (
    r"(?:(?!la\b|les?\b|l\b|d\b|de\b|du\b|des\b|un\b|une\b|se\b|par\b|en\b|sur\b|avec\b|a\b|qui\b)[\w-]+ ){0,2}?"
)
_CAUSE = r"(?:causes?(?!.*\b(?:recolt\w+|dons?|fonds|plaid\w+|caritati\w+))|motifs?|raisons?|motivations?|origines?|declencheurs?|facteurs?|explications?|justifications?|mobiles?|responsables? (?:de|du))\b(?! (?:sociale|\d|n[°o]\b))"
_EFFECT = (
    r"(?:consequences?|effets?|impacts?|repercussions?|retombees?|sequelles?|incidences?|implications?|suites|degats|dommages|contrecoups?|prejudices?)\b"
    r"(?! (?:personnels|speciaux|sonores|scolaires))"
)
_CAUSED = (
    r"(?:provoqu\w+|caus(?:e|er|ent|a|ait)|entrain\w+|declench\w+|condui(?:t|ts|sit)|pouss(?:e|ent|a)|amen(?:e|a|ent)|men(?:e|a) a|expliqu\w+|motiv\w+|justifi\w+|faire (?:[a-z]+(?:er|ir|re)\b)|engendr\w+|occasionn\w+"
    r"|incit(?:e|a)|oblig(?:e|ea)|empech\w+|retard(?:e|ent|a)|suscit\w+|produit|donne lieu|valu|vaut|contribu(?:e|ait|ent)|decid(?:e|a)|convaincu|ralenti|bloque|coince|cloche|fai(?:t|sait) (?:que|qu'|[a-z]+(?:er|ir|re)\b)|permis)\b"
)
_HAS = r"(?:(?:l'|les |la |le |lui |leur |nous |vous |m'|t'|s'|y |n')? ?(?:a|ont|avait|aurait|auraient|peut|pourrait|pouvait|a-t-il)?(?: bien)?(?: pu)?(?: avoir)? ?)?(?:\w+ment )?"
_IS = r"(?: ?(?:est|sont|etai(?:t|ent)|fut|furent|sera|seront|serai(?:t|ent)|a ete|ont ete|a-t-il|ont|a|auront|aura|ont eues?|a eues?))?"
_THE = r"(?:(?:la|le|les|l'|une?|des|ses|son|sa|leurs?|toutes les|tous les) ?)?"
_TIME = r"(?:dates?|delais?|durees?|jours?|heures?|horaires?|echeances?|calendrier|chronologie|evolution|expiration|peremption|ordre|periode|tendance|moment|anciennete|historique|progression|annee|mois|age)\b"
_MORE = r"(?:plus|moins|mieux|meilleure?s?|pires?|davantage|superieure?s?|inferieure?s?)"
_OBJECT = r"(?:qu'est[- ]ce qu(?:e\b|')|que\b|qu'(?!est[- ]ce)|ce qu(?:e\b|'))"

ASKING = Asking(
    opening=exactly(
        r"(?:(?:par la faute de|a|de|en|dans|sur|sous|pour|par|avec|chez|vers|depuis|jusqu'a|jusqu'|des|d'ici|des|apres|avant|pendant|contre|selon|d'|suite a|a la suite de|en raison de|a cause de"
        r"|du fait de|faute de|grace a|a partir de|entre|aupres de|au bout de|sans|tous les) ?)?"
        r"(?:qu'est[- ]ce qu(?:e\b|i\b|')|quel(?:le)?s?\b|qui\b|quoi\b|quand\b|combien\b|OU\b|ou\b(?= (?:est|sont|se|etai|a\b|on\b|puis|peut|trouve|range|habite|achete|vit|ont|aura|en est))"
        r"|comment\b|pourquoi\b|que\b|qu'|(?:le|la|les|du|de la|des|au|aux)?quel(?:le)?s?\b|lequel\b|laquelle\b|lesquel(?:le)?s\b|duquel\b|auquel\b|c'(?:est|etait) (?:quoi|quand|qui|OU)\b|ce qu(?:i\b|e\b|'))"
    ),
    sure=None,
    verbs=alternatives(
        r"(?:(?:dis|dites|redis|redites|rappelle|rappelez|explique|expliquez|indique|indiquez|montre|montrez|raconte|racontez|donne|donnez)(?:-(?:moi|nous))?|savoir|comprendre|trouver?|retrouver?|retrouve|trouve|cherche|chercher|dire|expliquer|rappeler|verifier?|verifie|determiner?|connaitre"
        r"|idee|compris|comprend|sais(?:-tu)?|sait(?:-on|-il)?|savez(?:-vous)?|savons-nous|demande|voir|comprends|preciser?|precise|indiquer|me souviens(?: plus)?|souvenir|ignore|curieu(?:x|se) de)"
    ),
    polite=alternatives(
        r"(?:s'il (?:te|vous) plait|stp|svp|bonjour|salut|merci de|alors|et|bon|peux|peux-tu|pouvez|pouvez-vous|pourrais|pourrais-tu|pourriez-vous|tu|vous|je|j'aimerais|j'ai|voudrais|veux|voulais|besoin de|besoin|savoir|connaitre|me|moi|nous|dis|dites|dis-moi|dites-moi|donne|donne-moi"
        r"|donnez-moi|explique|explique-moi|expliquez-moi|expliquez|indique-moi|indiquez-moi|montre-moi|montrez-moi|rappelle-moi|trouve|trouve-moi|retrouve|retrouve-moi|cherche|liste|enumere|resume|decris|il|faut|dire|donner|expliquer|montrer|rappeler"
        r"|comprendre|voir|est-ce qu(?:e\b|')|a)(?:\b|(?<='))[ ,:]*"
    ),
    relative=exactly(
        r"(?:(?:a|de|en|dans|sur|pour|avec|chez|par) ?)?(?:qui|que|qu'|quand|comme|ou|OU|lequel|laquelle|lesquels|lesquelles|duquel|auquel|quoi|ce qu(?:i|e|'))"
    ),
    last=alternatives(r"\b(?:quand|a quelle heure|quel jour|combien de temps|pourquoi|depuis combien de temps)\W*$"),
)
INTENTS = Intents(
    effects=alternatives(
        rf"{_OBJECT}.{{0,200}}?\b(?:provoqu\w+|caus(?:e|er|ent|ait)\b|entrain\w+|declench\w+|chang(?:e|er|ent|era|erait)\b|impliqu\w+|engendr\w+|occasionn\w+|apport\w+|suscit\w+|boulevers\w+|valu|coute (?:a|au)|signifi\w+\b.*\bpour|represente pour|modifi(?:e|er)\b|donne comme)",
        r"(?:qu'est[- ]ce qui|ce qui) (?:a |ont |avait |va |a bien pu |s'est |s'en est |est |en |en a |en est |l'a )?(?:change\w*|passe\b|arrive|decoule\w*|resulte\w*|suivi|ressorti|ensuivi\w*|sorti|advenu)\b",
        r"(?:que|qu')[ -]?(?:s'est-il|se|s'|a-t-il|va-t-il|arrive-t-il|est-il|ferait|se passerait)\b.{0,60}?\b(?:a cause|suite|apres|a la suite|en consequence|du fait|quand|lorsqu|si\b|en raison|par la suite)",
        r"(?:que|qu')\b.{0,40}?\b(?:deven(?:u|ue|us|ues|ir)|devien\w+)\b.*\b(?:apres|suite|depuis|avec|si|quand)\b",
        r"que se (?:passe|passera|passerait)(?:-t)?-il (?:si|quand|lorsqu)",
        r"(?:a|vers) quel(?:le)?s? (?:\w+ ){1,3}(?:a|ont)(?: t \w+)? (?:mene|conduit|abouti)\b",
        r"(?:a|sur|vers|en) quoi\b.{0,160}?\b(?:conduit|conduire|conduira|mene|mener|abouti\w*|debouche\w*|donne lieu|donner lieu|entraine|amene|a servi de)\b",
        r"(?:en quoi|comment|dans quelle mesure|de quelle (?:facon|maniere)|a quel point|jusqu'a quel point)\b.{0,200}?\b(?:affect\w+|impact\w+|touch(?:e|er|es|ee|ees)\b|influ(?:e|er|ence\w*)\b|modifi\w+|boulevers\w+|perturb\w+|repercut\w+|transform\w+|pes(?:e|er) sur|nui|frapp\w+|penalis\w+|chang(?:e|er) (?:la|le|les|l'|nos|notre|la vie|mes|leur))",
        rf"(?:avec |pour |par )?quel(?:le)?s?{_IS} ?{_THE}{_ADJECTIVE}{_EFFECT}",
        rf"{_THE}{_ADJECTIVE}{_EFFECT} (?:de|du|des|d'|sur|que|qu'|pour|apres)",
        r"quels? (?:ont ete|sont|furent|est|a ete) les? resultats? (?:du|de la|de l'|des) ?(?:demenagement|changement|passage|transfert|remplacement|suppression|mise en place|fermeture|ouverture|fusion|reorganisation|adoption|reforme)",
        r"quel (?:est|a ete|fut|sera) le (?:bilan|resultat) (?:de la |du |de l'|des )(?:\w+ )?(?:decision|changement|greve|fermeture|panne|reforme|coupure|crue|tempete|fusion)",
        r"quels? (?:changements?|problemes?|benefices?|degats?|dommages?|reactions?|pertes?|ennuis|desagrements) .{0,40}?\b(?:a|ont|avait|aura)\b.{0,40}?\b(?:provoqu|caus|entrain|apport|occasionn|suscit|engendr|amen)",
    ),
    causes=alternatives(
        r"pourquoi\b",
        r"comment (?:(?:ca|cela) se (?:fait|peut)|se fait[- ]il|se peut[- ]il|est-ce possible|est-il possible|explique\w*|s'explique\w*|peut-on (?:expliquer|justifier)|justifi\w+|est-ce qu'on explique|cela s'explique|comprendre que)\b",
        r"comment\b.{0,200}?\b(?:en (?:est|sont)\b[\w'-]*(?: \w+){0,2} (?:arrive|venu|la\b)|(?:a|ont)(?:-t)?-(?:il|elle|ils|elles|on) pu\b|(?:a|ont|as|avons) (?:bien )?pu\b|s'explique\w*|est(?:-il|-elle)? (?:survenue?|arrivee?|nee?)\b|s'est[\w-]* produite?|est-ce arrive|s'est-elle retrouve|s'est-il retrouve)",
        r"(?:pour|par|a la suite de|en raison de|a cause de|par la faute de|du fait de|suite a|faute de|grace a|a|sous|de|en vertu de) (?:quoi\b(?! (?:sert|faire|ressemble))(?= .{0,0})|quel(?:le)?s? (?:\w+ )?(?:raisons?|motifs?|causes?(?!.*\b(?:recolt\w+|dons?|fonds)\b)|circonstances?|pretexte|evenement))",
        r"a quoi\b.{0,120}?\b(?:due?s?|imputable\w*|attribu\w+|imput\w+|tient|tenait|tiennent|doit|doit-on|doivent|devons|liee?s?|devrait)\b",
        r"d'OU (?:vient|vienne|provient|proviennent|venait|viennent|sort|vient-il|tient)|d'ou (?:vient|vienne|provient|proviennent|venait|viennent)",
        rf"(?:qu'est[- ]ce qui|ce qui|qui est-ce qui|(?:qui ou )?quoi) {_HAS}{_CAUSED}",
        r"(?:qu'est[- ]ce qui|ce qui|qu'est-ce qu'il|qu'y|que|qu'|ce qu'il) ?(?:se cache|se cachait|y a|a-t-il|cache|cachait|y avait|avait-il) ?(?:derriere|a l'origine|au fond)?\b.*?\b(?:derriere|a l'origine)|qu'est[- ]ce qui (?:se cache|se trame)|que cache\w*",
        r"(?:qu'est[- ]ce qui|ce qui) (?:est|etait|serait|fut) (?:a l'origine|la cause|en cause|responsable|le moteur)",
        rf"quel(?:le)?s? (?:evenements?|decisions?|problemes?|pannes?|erreurs?|elements?|facteurs?|defauts?|incidents?|fautes?|circonstances?) {_HAS}{_CAUSED}",
        rf"(?:pour )?quel(?:le)?s?{_IS} ?{_THE}{_ADJECTIVE}{_CAUSE}",
        rf"c'est quoi {_THE}{_ADJECTIVE}{_CAUSE}",
        rf"{_THE}(?:principales? |principaux |vraies? |veritables? |vrais? |possibles? |eventuelles? )?{_CAUSE}(?: \w+)? (?:de|du|des|d'|pour|par|qui|que|qu'|derriere)",
        r"(?:par|de) quoi\b.{0,160}?\b(?:provoqu|caus|resulte|provient|decoule|vient|mort|declench)",
        r"(?:est-ce|c'est|etait-ce) .{0,60}\b(?:a cause|parce|du a|due a)\b",
    ),
    times=alternatives(
        r"(?:(?:depuis|jusqu'a|des|d'ici|pour|a partir de|de|vers) )?quand\b(?! meme)|c'(?:est|etait|sera) quand\b",
        r"(?:(?:a|en|de|depuis|jusqu'a|pour|dans|pendant|durant|avant|apres|des|vers|au bout de|sous|a partir de|sur|d'ici) ?)?quel(?:le)?s? (?:autre |exact\w* )?(?:jours?|dates?|mois|annees?|heures?|semaines?|trimestre|semestre|siecle|decennie|epoque|moment|ordre|delais?|echeances?|periode|frequence|saison"
        r"|horaires?|duree|age|week-end)\b",
        r"(?:(?:depuis|pendant|durant|dans|en|au bout de|pour|avec|tous les|d'ici|il y a|apres|a) )?combien (?:de |d')(?:temps|jours|mois|annees|ans|semaines|heures|minutes|secondes|siecles)\b|tous les combien\b|combien (?:dure|a dure|ont dure|durera|durait)\b",
    ),
    timely=alternatives(
        r"comment\b.{0,160}?\b(?:evolu\w+|vari(?:e|er|ent)\b|progress\w+|augment\w+|baiss\w+|fluctu\w+|diminu\w+|change(?! (?:la|les?|l'|nos|notre|mes)\b))\b",
        rf"quel(?:le)?s?{_IS} ?{_THE}{_ADJECTIVE}{_TIME}",
        rf"c'est quoi {_THE}{_ADJECTIVE}{_TIME}",
        rf"(?:l'|la |le |les )?(?:derniere? |prochaine? |premiere? |nouve(?:au|lle) )?{_TIME}(?! (?:libre|ferie))",
        r"y a-t-il (?:deja )?(?:une?|un) (?:date|delai|echeance|heure|horaire)\b|(?:une?|un) (?:date|delai|echeance)\b",
        r"(?:\w+ ){1,6}(?:date|delai|echeance|horaires?|duree)\W*$",
        r".{0,160}\b(?:avant|apres) (?:que|ou)\b.*\b(?:avant|apres)\b",
    ),
    compares=alternatives(
        r"(?:fais |faites |moi |une |la )*(?:compar(?:e|ez|er|ons|aison|atif)\b|confronte[rz]?\b|mets en parallele)|(?:les |la |l'|principales |quelles? )*(?:differences?|ressemblances?|similitudes|points communs|ecarts? (?:de .{1,40} )?entre)\b",
        r"(?:en quoi|comment|sur quoi|par quoi|sur quels points|que)\b.{0,200}?\b(?:differ(?:e|ent|ait|aient)|distingu\w+|ressembl\w+|compar\w+)\b",
        r"(?:qu'est[- ]ce qui|ce qui|qu'est[- ]ce que|quoi|que)\b.{0,60}?\b(?:distingu\w+|differenci\w+|separe|oppose|en commun)\b",
        r"quel(?:le)?s? (?:\S+ ){0,4}?(?:differences?|ecart|ressemblances?|similitudes|points communs|distinction|avantages? .* (?:sur|par rapport|face))\b",
        rf"(?:lequel|laquelle|lesquel(?:le)?s|quel(?:le)?s?|qui|a qui|chez qui|OU|dans quel(?:le)?)\b[^?]{{0,160}}?\b{_MORE}\b[^?]*?[,:?;] ?[^?]*\b(?:ou|OU)\b",
        rf"(?:(?:de )?(?:lequel|laquelle|lesquel(?:le)?s)|quel(?:le)?s? [^?]{{1,80}}?\b(?:est|sont|etait|a|ont|fut|coute|consomme|offre|dure|reste|semble|va|marche|vend|tient|fait|pese|rapporte|paie|gagne|demande|propose|convient|a ete|sera|serait))\b[^?]{{0,60}}?\b{_MORE}\b(?! (?:recent|proche|ancien))",
    ),
    found_comparing=alternatives(
        rf"\b{_MORE}\b[^?,]{{0,120}}?(?:\bque\b|\bqu'(?!est))",
        r"\b(?:versus|vs)\b|\bpar rapport (?:a|au|aux)\b|\bface (?:a|au)\b|\ben comparaison\b|\bcompare[es]{0,2} (?:a|au|aux|avec)\b",
        r"\b(?:aussi|autant|meme)\b[^?,]{1,60}?\b(?:que\b|qu')(?! (?:possible|vous|tu))",
        rf"\b{_MORE}\b[^?]*?\bou\b|\bou\b[^?]*?\b{_MORE}\b",
        r"\bdiffere(?:nt)?\w* (?:de|du|d')",
    ),
    not_comparing=alternatives(
        r"\bplus (?:ou moins|tard|tot)\b|\bau (?:plus|moins)\b|\bne\b .{1,60}?\bplus\b|\bn'\w+ (?:\w+ )?plus\b|\bnon plus\b|\ben plus\b|\bde plus en plus\b|\bd'autant plus\b|\bou plus\b|\bou moins\b|\bplus ou\b|\bne\b[^?]{1,60}\bque\b",
        r"\b(?:plus|moins|superieure?s?|inferieure?s?) (?:de|d'|que|a) ?(?:\d|un\b|une\b|deux\b|trois\b|quatre\b|cinq\b|dix\b|vingt\b|cent\b|mille\b|la moitie|moitie)",
        r"\bpas plus que\b|\bplus que jamais\b|\b(?:aussi|et) bien .* que\b|\baussi (?:que|qui|ou|combien|quel|pourquoi|comment|quand)\b|\ble meme .* que\b|\bde meme que\b|\bmeme si\b|\bquand meme\b",
    ),
    last_time=alternatives(r"\b(?:quand|a quelle heure|quel jour|combien de temps)\W*$"),
)
_ROLE = (
    r"(?:soeur|frere|mere|pere|femme|mari|fils|fille|tante|oncle|cousine?|chef|patronn?e?|assistante?|proprietaire|auteure?|fondat(?:eur|rice)|direct(?:eur|rice)|voisine?|avocate?|medecin|successeur|employeur"
    r"|associee?|amie?|secretaire|presidente?|maire|societe|entreprise|gerante?|responsable|personne|epou(?:x|se)|redact(?:eur|rice)|notaire|architecte|ingenieure?|plombier)"
)
MULTI_HOP = alternatives(
    r"\b(?:de la|du|de l'|des|d'une?|au|a la|chez (?:la|le|l')) ?(?:[\w-]+ ){1,2}(?:qui|que|qu'|OU|ou|dont|dans (?:lequel|laquelle))(?! (?:est|y)\b)",
    rf"\b{_ROLE} (?:de la|du|de l'|des|d') ?{_ROLE}\b",
    r"\b(?:habite|vit|travaille|ne|nee|etudie|conduit|gagne|frequente|frequentee|joue|loge) (?:la|le|l') ?[\w-]+ (?:qui|que|dont)\b",
    r"\b(?:pays|ville|village|entreprise|universite|societe) (?:OU|ou|dans (?:lequel|laquelle)|d'OU|dont) \w+",
)
CLAUSES = Clauses(
    joint=exactly(
        r"\?+ *",
        r";",
        r"(?:[,;] *)?\b(?:et|ainsi que|puis|mais)\b,? *(?:aussi |puis |surtout |sinon |en plus )?,? *(?:(?:dis-moi|explique-moi|dites-moi|savoir) )?(?=OPENING)",
        r"[,;] *(?:aussi )?(?=OPENING)",
        r"(?:[,;] *(?:et )?|\bet )(?:aussi )?(?=est-ce qu)",
        r"(?:[,;] *(?:et )?|\bet )(?=(?:l'|la |le |les |y |s'|en )?\w+-(?:t-)?(?:il|elle|ils|elles)\b)",
        r"\bet (?:dis-moi|dites-moi|explique-moi|indique-moi)\b *",
    ),
    determiners=folded(
        "le la les l un une des du au aux d son sa ses mon ma mes ton ta tes notre nos votre vos leur leurs ce cet cette ces chaque"
    ),
    prepositions=folded(
        "a de d du des en dans sur sous pour par avec chez vers depuis jusqu apres avant pendant contre selon entre sans lors hors des"
    ),
    binding=folded("de d du des contre sur"),
    breaks=folded(
        "et ou ni mais car que qu si comme lorsque quand ne n pas plus moins tres aussi encore deja toujours ici"
        " est sont etait etaient a ont avait avaient aura sera fut se s il elle ils elles on nous vous je y en lui qui quoi celle celles celui ceux"
        " combien comment pourquoi mieux maintenant hier ete m t me te meilleur meilleure pire aujourd dont"
    ),
    weak_heads=folded(
        "heure date jour annee mois lieu ville delai bruit nom prix cout couleur taille poids resultat cause causes motif raison consequence consequences effet effets adresse numero titre montant valeur"
        " age hauteur surface etat odeur proprietaire auteur auteure directeur directrice chef president presidente responsable fondateur superficie longueur suite"
    ),
)
COMPARING = Comparing(
    joints=alternatives(
        r"\b(?:versus|vs\.?|face (?:a|au|aux)|par rapport (?:a|au|aux)|en comparaison (?:de|du|avec)|compare[es]{0,2} (?:a|au|aux|avec))(?=\W)"
    ),
    than=alternatives(r"\bque\b"),
    grades=alternatives(_MORE),
    words=folded(
        "compare comparer comparez comparons comparaison comparatif compares comparee comparees difference differences differe different differente"
        " differents differentes distingue distinguent differencie ressemblance ressemblances ressemblent similitude similitudes versus vs plus moins"
        " mieux meilleur meilleure meilleurs meilleures pire pires davantage autant aussi entre lequel laquelle lesquels lesquelles rapport commun"
        " face points fais contraste oppose separe moi faire"
    ),
    rest=folded(
        "autres autre reste moyenne avant jamais maintenant dernier derniere precedent precedente annee mois semaine trimestre prevu prevue"
        " habitude tous toutes an annees hier aujourd hui jour fois possible celui ceux celles ca cela tout moi nous"
    ),
)
FRENCH = QuestionGrammar("fr", ASKING, INTENTS, CLAUSES, COMPARING, MULTI_HOP)
