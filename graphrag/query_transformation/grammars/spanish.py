"""Grammar of Spanish questions. All patterns read flattened text."""

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

_ADJECTIVE = r"(?:(?!las?\b|los\b|el\b|de\b|del\b|un\b|una\b|se\b|por\b|en\b|con\b|sobre\b)\w+ ){0,2}?"
_CAUSE = (
    r"(?:causas?(?!.*\b(?:recaud\w+|fondos|benefic\w+|solidari\w+|dona\w*))|movil|motivos?|razon(?:es)?|motivacion(?:es)?|origen|porque|desencadenantes?|detonantes?|factor(?:es)?|explicacion(?:es)?"
    r"|justificacion(?:es)?|raiz|culpables?)\b(?! (?:\d|n[uº]))"
)
_EFFECT = (
    r"(?:consecuencias?|efectos?|impactos?|repercusion(?:es)?|secuelas?|implicacion(?:es)?|estragos|perjuicios?|danos|resultas|ramificaciones"
    r"|desenlace)\b(?! (?:personales|especiales|sonoros|navales|de sonido))"
)
_CAUSED = (
    r"(?:provoc(?:o|a|aron|an|ado|aba|aria)|caus(?:o|a|aron|an|ado|aba)|origin(?:o|a|aron|an|ado|aba)|motiv(?:o|a|aron|an|ado)|desencaden(?:o|a|aron|ado)"
    r"|ocasion(?:o|a|aron|an|ado)|impuls(?:o|a|aron|ado)|explic(?:a|o|an|aron|aria)|produj(?:o|eron)|produce|propici(?:o|a|aron|ado)|gener(?:o|a|aron|an|ado)"
    r"|empuj(?:o|a|aron|ado)|condujo|oblig(?:o|a|aron|ado)|impid(?:e|io|ieron)|impedido|deton(?:o|ado)|suscit(?:o|a|aron|ado)|precipit(?:o|aron|ado)|influy(?:o|e|eron)"
    r"|contribuy(?:o|e|eron)|contribuido|determin(?:o|aron)|retras(?:o|a|aron|ado)|fall[oa](?! el| la)|desat(?:o|aron|ado)|justific(?:a|o|aria)"
    r"|(?:provoc|caus|origin|motiv|ocasion|explic|justific|gener|propici|desencaden)(?:ar|ando)|d(?:io|ieron|a|an|ado) (?:lugar|pie|origen|motivo) (?:a|al)|(?:llev(?:o|a|aron|an|aba|ado)|movi(?:o|eron)|anim(?:o|aron)|induj(?:o|eron)|incit(?:o|aron)) (?:a|al)\b|(?:hizo|hace|hicieron|hacen|hecho) (?:que|falta|posible|[a-z]+(?:ar|er|ir))\b)\b"
)
_HAS = r"(?:(?:le|les|la|lo|los|las|nos|me|os) )?(?:(?:ha|han|habia|pudo|pudieron|puede|podria|pudiera|esta|estaba) )?(?:(?:haber|estar) )?"
_EVENT = r"(?:como (?:consecuencia|resultado)|a (?:raiz|causa|consecuencia|resultas)|debido|por culpa|tras|despues|gracias|en consecuencia|por el|por la|por los|por las|por no)"
_IS = r"(?:(?:'s|es|son|fue|fueron|era|eran|sera|seran|seria|serian|ha sido|han sido|pudo ser|puede ser|podria ser|hubo|hay|habra|habria|tuvo|tiene|tendra|tendria|tuvieron) )?"
_THE = r"(?:(?:el|la|los|las|un|una|alguna?|su|sus|todas las|todos los|posibles?) )?"
_TIME = (
    r"(?:fechas?|plazos?|dia|dias|horas?|horarios?|duracion|vencimiento|caducidad|calendario|cronologia|cronograma|momento|periodo|antiguedad|orden cronologico|orden|evolucion"
    r"|tendencia|progresion|historico|ano|mes)\b(?! (?:de inscripcion en))"
)
_MORE = r"(?:mas|menos|mayor(?:es)?|menor(?:es)?|mejor(?:es)?|peor(?:es)?|superior(?:es)?|inferior(?:es)?)"

ASKING = Asking(
    opening=exactly(
        r"(?:(?:a|ante|bajo|con|contra|de|desde|en|entre|hacia|hasta|para|por|segun|sobre|tras|debido a|a causa de|a raiz de|gracias a|a partir de"
        r"|como consecuencia de|a santo de|a cuento de|en virtud de|con motivo de|desde hace|cada|hace|acerca de|en funcion de|antes de|despues de"
        r"|por culpa de|mediante) )?"
        r"(?:QUE|QUIEN(?:ES)?|CUAL(?:ES)?|CUANDO|CUANT[OA]S?|A?DONDE|COMO|que|quien(?:es)?|cual(?:es)?|cuando|cuant[oa]s?|a?donde|como)\b"
    ),
    sure=exactly(
        r"(?:\b(?:a|ante|bajo|con|contra|de|desde|en|entre|hacia|hasta|para|por|segun|sobre|tras|debido a|a causa de|a raiz de|gracias a|a partir de"
        r"|como consecuencia de|a santo de|a cuento de|en virtud de|con motivo de|desde hace|cada|hace|acerca de|por culpa de) )?"
        r"\b(?:QUE|QUIEN(?:ES)?|CUAL(?:ES)?|CUANDO|CUANT[OA]S?|A?DONDE|COMO)\b"
    ),
    verbs=alternatives(
        r"(?:dime|decidme|digame|diga|di|cuentame|explica(?:me|nos)?|expliqueme|explicad(?:me|nos)?|recuerda(?:me)?|recordarme|averigua|aclara(?:me)?|busca(?:me)?|mira|muestra(?:me)?|indica(?:me)?|comprueba|confirma(?:me)?|resume(?:me)?"
        r"|saber|decir(?:me)?|explicar(?:me)?|entender|entiendo|comprender|averiguar|conocer|recordar|aclarar(?:me)?|indicar(?:me)?|buscar|mirar|encontrar|se|sabes|sabe|sabeis|recuerdas|quiero|queria|ver)"
    ),
    polite=alternatives(
        r"(?:por favor|hola|buenas|buenos dias|oye|pues|bueno|puedes|podrias|puede|podria|me|nos|te|quiero|queria|quisiera|necesito|necesitamos|gustaria|saber|conocer|dime|digame|dame|deme"
        r"|explica(?:me|nos)?|expliqueme|cuentame|indica(?:me)?|busca(?:me)?|decir(?:me)?|dar(?:me)?|explicar(?:me)?|mostrar(?:me)?|muestra(?:me)?|ensename|resume(?:me)?|describe(?:me)?|analiza|lista|listame|enumera|enumerame|recuerdame"
        r"|ver|entender|encuentra|averigua|tengo|curiosidad|por|a|y)\b[ ,:]*"
    ),
    relative=exactly(r"(?:(?:en|con|de|a|por|para) )?(?:que|quien|quienes|cual|cuando|donde|como|cuanto)\b"),
    last=alternatives(r"\b(?:cuando|a que hora|que dia|cuanto tiempo|por que)\W*$"),
)
INTENTS = Intents(
    effects=alternatives(
        rf"que (?:\w+ )?(?:ocurri\w*|ocurre|pas(?:o|a|aria|ara|aba)|sucedi\w*|sucede|cambi(?:o|a|aron|aria|ara)|aconteci\w*|ha (?:pasado|ocurrido|cambiado|sucedido)|se modifico)\b.{{0,160}}?\b{_EVENT}\b",
        r"que (?:ocurr\w+|pas\w+|suced\w+) (?:si|cuando)\b|que (?:ocurr(?:e|ira|iria)|pas(?:a|ara|aria)|suced(?:e|era|eria))\b.{1,80}\bsi\b",
        r"de que (?:manera|modo|forma)\b.{0,80}?\bcambi\w+\b",
        r"que (?:ha |han )?cambi(?:o|a|ado|aron|aria|ara)\b.{0,100}\b(?:con|al|desde que|cuando|en)\b",
        r"a que (?!hora|dia|edad|precio|coste|lugar|sitio|ciudad|distancia)(?:\w+ ){1,3}(?:llev(?:o|aron)|conduj(?:o|eron)|d(?:io|ieron) lugar)\b",
        r"(?:a|en) que (?:\w{2,3} )?(?:(?:ha|han|habia|pudo|puede|podria|va a) )?(?:llev(?:o|aron|a|ado|ar)|conduj(?:o|eron)|conduc(?:e|ido|ir)|d(?:io|a|ado|ieron) (?:lugar|pie)|aboc(?:o|ado)|deriv(?:o|ado|aron)|desemboc(?:o|ado|a)"
        r"|acab(?:o|aron)|termin(?:o|aron)|se traduj\w+|traduj\w+|result(?:o|ado)|desemboc\w+|redund(?:o|a)|qued(?:o|aron))\b",
        rf"(?:en )?que {_HAS}(?:supus(?:o|ieron)|supone(?:n|r)?|supondr\w+|supuesto|acarre(?:o|a|aron|an|ado|aria|ara|ar)|conllev(?:o|a|aron|an|ado|aria|ara|ar)|implic(?:o|a|aron|an|ado|aria|ara|ar)|traj(?:o|eron)|traer(?:a|ia)?|traido"
        r"|repercut\w+|signific\w+\b.*\bpara|entran(?:o|a|aria)|gan(?:o|amos) con|perd(?:io|imos) con|consig(?:uio|uieron) con|logr(?:o|aron) con|desencaden(?:o|aron) en)\b",
        r"(?:de que (?:manera|modo|forma)|en que(?: \w+)?|como|cuanto|hasta que punto)\b.{0,80}?\b(?:afect|influ[iy]|impact|repercut|perjudic|benefici|incid[ei]|alter[aoó]|trastoc|modific|condicion|transform)",
        r"que (?:se )?(?:(?:ha|han) )?(?:deriv\w+|result(?:o|a|aron|ado)|sigui(?:o|eron)|sali(?:o|eron)|desprend\w+|sac(?:o|amos|aron)) (?:de|del|a|al|en limpio)\b",
        r"que (?:danos|perdidas|problemas|molestias|perjuicios|cambios|mejoras|beneficios|reacciones|complicaciones|inconvenientes) (?:\w+ ){0,2}?(?:caus|provoc|ocasion|produj|dej[oaó]|gener|tuv|traj|supus|acarre|desencaden|suscit)",
        r"que (?:fue|ha sido|sera) (?:de|del)\b.*\b(?:tras|despues|desde|con)\b",
        rf"que {_IS}{_ADJECTIVE}{_EFFECT}",
        rf"(?:con|por) que {_ADJECTIVE}{_EFFECT}",
        rf"cual(?:es)? {_IS}{_THE}{_ADJECTIVE}{_EFFECT}",
        rf"{_THE}{_ADJECTIVE}{_EFFECT} (?:de|del|en|sobre|que|para|por|tras)\b",
        r"cual(?:es)? (?:es|son|fue|ha sido|han sido|fueron|seria|sera) (?:el|los) resultados? de (?:haber |\w+(?:ar|er|ir)\b)",
    ),
    causes=alternatives(
        r"por que\b(?! (?:carretera|calle|puerta|via|camino|medio|importe|precio|ruta|canal|cantidad|valor|zona|barrio|ciudad|pueblo)\b)|por cual(?:es)? (?:motivos?|razon(?:es)?|causas?)\b|y por que\b",
        r"a que (?:\w+ )?(?:se )?(?:\w{2} )?(?:deb(?:e|en|io|ieron|ia|ian|emos|iamos)|ha debido|pudo deberse|puede deberse|podria deberse|atribuy\w+|atribuir|achac\w+|achaqu\w+|obedec\w+|respond(?:e|io|ia)|imput\w+|es debid\w+|fue debid\w+|vien(?:e|en)|vino)\b",
        r"a que .{1,60}?\b(?:atribuy\w+|achac\w+|obedec\w+|debid[oa]s?)\b",
        r"(?:debido a|a causa de|a raiz de|como consecuencia de|gracias a|en virtud de|a santo de|a cuento de|con motivo de|por culpa de|en base a) (?:que|quien|cual)\b",
        rf"cual(?:es)? {_IS}{_THE}{_ADJECTIVE}{_CAUSE}",
        rf"que {_IS}{_ADJECTIVE}{_CAUSE}",
        rf"(?:con|bajo|por) que {_ADJECTIVE}(?:pretexto|excusa|justificacion|argumento|motivo|razon)\b",
        rf"(?:quien o )?que (?:fue (?:lo )?que )?(?:\w+mente )?{_HAS}(?:\w+mente )?{_CAUSED}",
        rf"que (?:averia|fallo|error|problema|circunstancias?|hechos?|factor|decision|cosa|suceso|acontecimientos?|elementos?|evento) {_HAS}{_CAUSED}",
        r"que (?:hay|hubo|habia|esta|estaba|se esconde|se escondia|existe) (?:detras|tras|por detras|en el origen)\b|que (?:ocurrio|paso|sucedio|tuvo que pasar|fallo|pasa|ha pasado) para\b|que tuvo la culpa",
        r"que fue lo que (?:fallo|\w+ (?:el|la|los|las))",
        r"como (?:es|fue|era|pudo ser|puede ser|se puede) (?:posible )?que\b|como es que\b|como puede (?:ser|haber)\b|como se (?:explica|justifica|entiende|explicaria|puede explicar)\b|como (?:\w{2,3} )?(?:explic|justific)\w*\b|como explicar",
        r"como (?:se )?(?:llego|llegaron|llega|llegamos|acabo|acabaron|acaba|termino|terminaron|ha llegado|pudo|pudieron|vino)\b.{1,160}?\b(?:a|al|en|con|sin|\w+ando|\w+iendo)\b",
        r"de que (?:murio|murieron|enfermo|ha muerto)\b|como se (?:inund|quem|romp|rompio|perdi|averi|estrope|incendi|hundi|derrumb|bloque|desplom)\w*|como se (?:produjo|origino|desencadeno|gesto|ha producido)\b|como (?:surgio|ocurrio|sucedio|paso)\b|de donde (?:viene|vino|proviene|procede) (?:el|la) (?:problema|error|diferencia|retraso|descuadre|averia|ruido|olor|conflicto|fallo|aumento|subida|caida)",
        rf"{_THE}(?:principal(?:es)? |verdader[oa]s? |posibles? |probables? |autentic[oa]s? )?{_CAUSE}(?: \w+)? (?:de|del|por|que|detras|para|en)\b",
        r"(?:es|fue|era|se) .{1,160}\b(?:debido a|por culpa de|porque|a causa de)\b",
    ),
    times=alternatives(
        r"(?:(?:a partir de|desde|hasta|para|de|desde hace|hacia|por) )?cuando\b|cada cuanto\b",
        r"(?:(?:a|en|de|desde|hasta|para|por|durante|con|hacia|dentro de|antes de|cada|a partir de) )?que (?:otr[oa] )?(?:dias?|fechas?|mes(?:es)?|anos?|horas?|semanas?|trimestre|semestre|siglo|decada|epoca|momento|orden|plazos?|periodo"
        r"|antelacion|frecuencia|horarios?|estacion|curso|edad|fin de semana)\b(?! (?:extra|facturad))",
        r"(?:(?:en|durante|desde|desde hace|hace|por|cada|con|dentro de|tras|despues de) )?cuant[oa]s? (?:tiempo|mas tiempo|tard\w+|dur\w+|falt(?:a|aba|an|aban) para|hace|hacia|lleva\w* (?:\w+ndo|en|de|sin|con|el|la)|ha (?:durado|tardado)|se (?:tard|demor)\w+|demor\w+|antelacion|anos?|dias|meses|semanas|horas|minutos|segundos"
        r"|siglos|decadas|dias habiles)\b(?! extra)",
    ),
    timely=alternatives(
        r"como (?:ha |han |fue |fueron |va |van |esta |estan |estuvo |se ha |se han )?(?:ido )?(?:evolucion\w*|cambi(?:ado|o|aron|ando|a)|varia(?:do|ron|ndo)|vari[oa]|crec\w+|subi\w+|baj(?:ado|o|ando)|aument\w+|descend\w+|progres\w+|fluctu\w+|oscil\w+|disminu\w+)\b",
        rf"cual(?:es)? {_IS}{_THE}{_ADJECTIVE}{_TIME}",
        r"(?:hay|existe|tenemos) (?:ya |alguna |una )?(?:fecha|plazo|hora)\b",
        r"que (?:tendencia|evolucion|progresion|duracion|vencimiento|caducidad)\b",
        rf"{_THE}(?:ultim[oa]s? |proxim[oa]s? |primer[oa]? |nuev[oa]s? |exact[oa] |siguiente )?{_TIME}(?! (?:en blanco|libre))",
        r"(?:\w+ ){1,6}(?:fecha|plazo|vencimiento|horario|duracion|caducidad)\W*$",
        r"(?:es|fue|llego|ocurrio|paso|salio|se \w+) .{1,120}\b(?:antes|despues) (?:que|de)\b",
    ),
    compares=alternatives(
        r"(?:hazme |haz |una |la )*(?:compar(?:a|ame|anos|ad|e|en|eme|ar|emos|ando|acion|ativa)|contrasta(?:r|me)?)\b|(?:las |la |los |principales |que )*(?:diferencias?|semejanzas?|similitudes|parecidos?)\b",
        r"(?:en )?(?:que|cual(?:es)?|cuanta|cuantas) (?:\w+ ){0,5}?(?:diferencias?|semejanzas?|similitud(?:es)?|se (?:diferencia|distingue|parece)n?|difiere[n]?|comun|distingue|coinciden|ventajas? (?:tiene|ofrece|hay).* (?:frente|sobre|respecto))\b",
        r"como (?:se )?(?:compar|diferenci|distingu)\w+",
        rf"(?:cual|cuales|que|quien|quienes|donde|en que|a quien|con que)\b[^?]{{0,160}}?\b(?:{_MORE}|antes)\b[^?]*?[,:?;] ?[^?]*\b[ou]\b",
        rf"(?:cual|cuales|que \w+(?: \w+){{0,3}}?) (?:de [^?]{{1,80}}? )?(?:es|son|era|fue|sale|resulta|seria|esta|queda|parece|funciona|rinde|tiene|da|ofrece|cuesta|gasta|consume|dura|paga|gano|vendio|obtuvo|saco|pesa|ha \w+|hizo|recibio|conviene|aguanta|sirve|va)\b (?:\w+ )?(?:(?:el|la|los|las) )?{_MORE}\b",
        rf"cual(?:es)? (?:de )?[^?]{{1,100}}\b{_MORE}\b(?! (?:reciente|proxim))",
    ),
    found_comparing=alternatives(
        rf"(?<!\blo )(?<!\bla )(?<!\bel )(?<!\blos )(?<!\blas )\b{_MORE}\b[^?,]{{0,80}}?\b(?:que|de lo que)\b",
        r"\b(?:versus|vs)\b|\bfrente a\b|\ben comparacion con\b|\bcomparad[oa]s? con\b|\b(?:con )?respecto (?:a|al)\b.*\b(?:mas|menos|mejor|peor)\b",
        r"\btant?[oa]?s? [^?]{1,60}?\bcomo\b(?! (?:sea|se pueda))|\bigual(?:es)? (?:de \w+ )?que\b|\bigual de \w+ [^?]*\bque\b|\blo mismo [^?]*\bque\b",
        rf"\b{_MORE}\b[^?]*?\b[ou]\b(?! (?:mas|menos)\b)|\b[ou]\b[^?]*?\b{_MORE}\b",
        r"\bse diferencian? (?:de|del)\b|\bdiferencias? entre\b(?=.*)(?!.*\b(?:autor|informe|firm|redact|escrib)\b)",
    ),
    not_comparing=alternatives(
        r"\bmas que (?:nada|nunca|todo)\b|\bnada mas que\b|\bno .{1,40} mas que\b|\bmas o menos\b|\bo (?:mas|menos)\b|\bal menos\b|\bpor lo menos\b|\bademas\b|\ba lo mejor\b|\btanto .* como\b",
        r"\b(?:mas|menos|mayor|menor|superior|inferior)(?:es)? (?:de|que|a) (?:\d|un\b|una\b|dos\b|tres\b|cuatro\b|cinco\b|diez\b|veinte\b|cien\b|mil\b|la mitad)",
        r"\b(?:persona|personal|hijo|hija|hermano|hermana) (?:mayor|menor)\b|\bmayor(?:es)? de edad\b|\bmenor(?:es)? de edad\b|\bmayor parte\b|\bpor mayor\b|\bal por (?:mayor|menor)\b|\bcada vez mas\b|\buna vez mas\b",
    ),
    last_time=alternatives(r"\b(?:cuando|a que hora|que dia|cuanto tiempo)\W*$"),
)
_ROLE = (
    r"(?:herman[oa]|madre|padre|mujer|marido|hij[oa]|tio|tia|prim[oa]|jef[ea]|ayudante|duen[oa]|autora?|fundadora?|directora?|vecin[oa]|casera?|abogad[oa]|medic[oa]"
    r"|sucesora?|propietari[oa]|soci[oa]|amig[oa]|secretari[oa]|president[ea]|alcalde(?:sa)?|empresa|gerente|responsable|persona|tutora?|novi[oa]|espos[oa]|cunad[oa]|editora?)"
)
MULTI_HOP = alternatives(
    r"\b(?:de|del|de la|de los|de las|al|a la) (?:la |el |los |las )?(?:\w+ ){1,2}(?:que|en (?:el|la) que|donde|cuy[oa])\b(?! (?:hay|ha|se)\b)",
    r"\b(?:vive|vivia|nacio|trabaja|estudio|conduce|cobra|gana|reside|naci|juega|toca) (?:el|la) \w+ (?:que|de la \w+ que|del \w+ que)\b",
    rf"\b{_ROLE} (?:de|del|de la|de el) (?:la |el )?{_ROLE}\b",
    rf"\b{_ROLE} (?:que \w+|del \w+|de la \w+) .{{0,60}}\b(?:que|donde)\b",
    r"\b(?:pais|ciudad|pueblo|empresa|universidad) (?:donde|en (?:el|la) que|de la que|del que) \w+",
)
CLAUSES = Clauses(
    joint=exactly(
        r"\?+ *",
        r";",
        r"(?:[,;] *)?\b(?:y|e|pero|asi como|ademas de|junto con)\b,? *(?:ademas |tambien |de paso )?,? *(?:(?:dime|explicame|dinos|cuentame|indica|saber) )?(?=OPENING)",
        r"[,;] *(?:ademas |tambien )?,? *(?=OPENING)",
        r"\by (?:dime|explicame|dinos|cuentame|indicame)\b *",
    ),
    determiners=folded(
        "el la los las un una unos unas al del su sus mi mis tu tus nuestro nuestra nuestros nuestras este esta estos estas ese esa"
        " esos esas aquel aquella cada"
    ),
    prepositions=folded(
        "a ante bajo con contra de desde durante en entre hacia hasta para por segun sin sobre tras del al mediante"
    ),
    binding=folded("de del contra sobre"),
    breaks=folded(
        "y e o u ni que si pero mas sino aunque porque pues como cuando donde mientras no ya muy menos tan tanto tambien"
        " es son fue fueron era eran ser ha han habia hay hubo esta estan estaba estuvo tiene tienen tuvo tenia se le les lo me nos te"
        " quien quienes cual cuales cuanto cuanta cuantos cuantas ahora antes despues ayer hoy mejor peor mayor menor el ella ellos ellas ello ultimamente",
    )
    - {"el"},
    weak_heads=folded(
        "hora fecha dia ano mes lugar ciudad plazo ruido nombre precio coste costo color tamano peso resultado causa causas motivo consecuencia consecuencias efecto efectos direccion"
        " numero titulo importe valor edad altura superficie estado olor dueno duena autor autora director directora jefe presidente responsable"
        " fundador fundadora raiz resultas"
    ),
)
COMPARING = Comparing(
    joints=alternatives(
        r"\b(?:versus|vs\.?|frente a(?:l)?|en comparacion con|comparad[oa]s? con|(?:con )?respecto a(?:l)?|en relacion con)(?=\W)"
    ),
    than=alternatives(r"\b(?:que|como)\b"),
    grades=alternatives(_MORE),
    words=folded(
        "compara comparame comparar compare comparen compares comparad comparacion comparativa comparados comparado comparada comparadas contrasta"
        " contrastar diferencia diferencias diferencian diferente diferentes distingue distinguen distinto distintos difiere difieren parecido parecidos"
        " parecen semejanza semejanzas semejante similitud similitudes versus vs frente mas menos mejor mejores peor peores mayor mayores menor menores"
        " tan tanto tanta tantos tantas igual iguales mismo entre comun ventaja respecto haz hazme comparacion"
    ),
    rest=folded(
        "otros otras otro demas resto media promedio antes nunca siempre ahora pasado pasada anterior anteriores ano mes semana trimestre"
        " previsto prevista esperado hoy ayer habitual todos todas todo hace dia vez ultimo ultima nadie nada yo tu nosotros"
    ),
)
SPANISH = QuestionGrammar("es", ASKING, INTENTS, CLAUSES, COMPARING, MULTI_HOP)
