"""Spanish words by what they mean to a cause: forms of verbs, incidents, outcomes, places."""

from graphrag.causal_graph.grammar import any_of

_NOT_PAST = "café|comité|bebé|porqué|té|pie|chalé|puré|carné|bufé|consomé|parqué|olé|sé|dé|qué|ballé|fé|filé|rapé"
_NOUNS_IN_IA = (
    "día|vía|avería|tubería|panadería|librería|mayoría|compañía|guía|energía|policía|alegría|economía|tecnología|cafetería|batería|"
    "garantía|geografía|fotografía|categoría|teoría|minoría|asesoría|auditoría|consultoría|tía|sequía|melancolía|ironía|armonía|"
    "alcaldía|cercanía|lejanía|travesía|bahía|anatomía|autonomía|biología|ecología|psicología|cirugía|alergia|anemia|poesía|"
    "cortesía|simpatía|antipatía|apatía|sangría|crujía|vajilla|fría|manía|agonía|hipocresía|mediodía|jefatura|todavía"
)
_NOT_AFTER = "".join(rf"(?<!\b{word}\s)" for word in "el la un una su de del sin por".split())  # «la falta» is a noun
# Verbs that their ending does not tell, and nouns that look like verbs left out.
FINITE = (
    r"(?<![\w-])(?:(?:no|se|me|te|nos|os|les?)\s+(?:(?:se|me|te|nos|les?|lo|la|los|las)\s+)*\w+(?:a|e|o|an|en|ó|é|as|es|ió|amos|emos|imos|aste|iste)"
    rf"|(?!(?:{_NOT_PAST})(?!\w))(?!(?:{_NOUNS_IN_IA})s?(?!\w))(?!\w+(?<!qu)(?<!ten)(?<!s)(?<!hab)(?<!deb)(?<!pod)(?<!hac)ería(?!\w))"
    rf"{_NOT_AFTER}"
    r"(?:\w+(?:ó|aron|ieron|jeron|yeron|aba|aban|ábamos|ías?|ían|íamos|ará|arán|erá|erán|irá|irán|aría|arían|erían|irían|iría|dría|drían|drá|drán|remos|asteis|isteis)|\w{3,}(?:amos|emos|imos)|\w{2,}é)"
    rf"|{_NOT_AFTER}(?:es|busca|buscan|define|definen|oye|oyen|ladra|exige|exigen|ofrece|ofrecen|sufre|sufren|reduce|reducen|produce|producen|requiere|requieren|incluye|incluyen|carece|carecen|depende|dependen|gana|ganan|paga|pagan|prefiere|sube|suben|huele|son|era|eran|fue|fueron|fui|fuimos|será|serán|sería|soy|somos|está|están|estuvo|estuvieron|estoy|estamos|ha|han|he|hemos|hubo|hay|"
    r"tiene|tienen|tengo|tenemos|tuvo|tuvieron|tuve|puede|pueden|puedo|pudo|pudieron|pude|debe|deben|hace|hacen|hago|hizo|hicieron|hice|va|van|voy|vamos|"
    r"dio|dieron|dan|dijo|dice|dicen|puso|pusieron|quiso|quisieron|quiere|quieren|supo|sabe|saben|vino|vinieron|viene|vienen|vio|vieron|vi|"
    r"sale|salen|sigue|siguen|queda|quedan|llega|llegan|falta|faltan|necesita|necesitan|existe|existen|cuesta|cuestan|parece|parecen|cae|caen|"
    r"funciona|funcionan|cabe|caben|cupo|vale|valen|tarda|tardan|permite|permiten|pierde|pierden|crece|crecen|aparece|aparecen|trae|trajo|trajeron|"
    r"anduvo|condujo|redujo|produjo|tradujo|mantiene|mantuvo|contiene|obtuvo|detuvo|propuso|supuso|impuso|compuso|expuso|dispuso|murió|rompe|rompen|"
    r"suele|suelen|vive|viven|trabaja|trabajan|llueve|nieva|duele|duelen|acude|acuden|tose|bebe|come|comen|duerme|duermen|abre|abren|cierra|cierran|empieza|empiezan|termina|terminan|resulta|conviene|tocó|haya|hayan|sea|sean|fuera|había|habían))"
    r"(?!\w)"
)
COPULA = any_of(
    "(?:no )?(?:es|son|fue|fueron|era|eran|ha sido|han sido|había sido|será|serán|sería|serían|puede ser|podría ser|pudo ser|parece ser|parece)"
)
# What happens by itself or to somebody, and so is a cause after «por» and an effect of «proviene de».
INCIDENTS = (
    r"(?<!\w)(?:averías?|faltas?|excesos?|culpa|recomendación|consejo|lluvias?|tormentas?|nieve|niebla|hielo|heladas?|viento|vientos|temporal|calor|frío|sequía|"
    r"inundaci(?:ón|ones)|incendios?|fuego|humo|obras?|huelgas?|paros?|atascos?|accidentes?|retrasos?|demoras?|errores|error|fallos?|descuidos?|despistes?|confusi(?:ón|ones)|malentendidos?|"
    r"problemas?|enfermedad|enfermedades|gripe|fiebre|lesi(?:ón|ones)|alergias?|dolor|dolores|baja|bajas|ausencia|escasez|carencia|cortes?|apag(?:ón|ones)|sobrecarga|cortocircuito|"
    r"roturas?|fugas?|grietas?|golpes?|desgaste|corrosión|vibraci(?:ón|ones)|humedad|suciedad|polvo|óxido|ruidos?|olor|olores|manchas?|caídas?|subidas?|bajadas?|aumentos?|descensos?|alzas?|encarecimiento|"
    r"cierres?|cancelaci(?:ón|ones)|quejas?|denuncias?|reclamaci(?:ón|ones)|amenazas?|impagos?|deudas?|multas?|negligencia|imprudencia|incumplimientos?|desacuerdos?|discrepancias?|conflictos?|peleas?|"
    r"mied|miedo|temor|nervios|cansancio|estrés|vergüenza|curiosidad|envidia|celos|despecho|pena|orgullo|desidia|pereza|prisas?|presi(?:ón|ones)|costumbre|necesidad|precaución|seguridad|prudencia|casualidad|"
    r"infecci(?:ón|ones)|virus|plagas?|hongos?|brotes?|pandemia|crisis|guerra|muerte|fallecimiento|jubilación|embarazo|despidos?|dimisión|traslado|reformas?|mantenimiento|inventario|vacaciones|defunción|asuntos|"
    r"decisi(?:ón|ones)|orden|insistencia|petición|iniciativa|sobrepeso|velocidad|mal\s+tiempo|mal\s+estado|desinterés|poca|poco|demasiad[oa]s?|picores|picor|náuseas|mareos?|insomnio|tos|parpadeos?|goteras?|filtraci(?:ón|ones)|"
    r"diferencias?|malestar|mejoras?|éxito|fracaso|pérdidas?|ventas|sueldo|precio|precios|costes?|coste|asentamiento|sustituci(?:ón|ones)|congestión|saturación|contaminación|radiación|deshidratación|previsión|(?!ayuntamiento|establecimiento|campamento)\w+(?:itis|algia|osis|emia|patía|amiento|imiento)|equivocaci(?:ón|ones)|intoxicaci(?:ón|ones))(?!\w)"
)
# What a cause ends in. The endings are those of actions and states.
OUTCOMES = (
    r"(?<!\w)(?:(?!universidad|ciudad|localidad|estación|habitación|comunidad|dirección|recepción|redacción)\w{2,}(?:ciones|ción|siones|sión|mientos?|ncias?|dades|dad|ajes?|ismos?|uras?|azos?|eos?)|"
    r"cierres?|despidos?|caídas?|pérdidas?|quiebras?|ruina|rupturas?|fin|final|muertes?|fracasos?|éxitos?|retrasos?|demoras?|errores|error|fallos?|crisis|colapsos?|conflictos?|disputas?|rechazos?|cambios?|aumentos?|subidas?|"
    r"bajadas?|descensos?|alzas?|paros?|paradas?|huelgas?|bloqueos?|desastres?|cortes?|divorcios?|guerras?|daños?|gastos?|dolor|dolores|picor|picores|náuseas|vómitos|mareos?|fiebre|sueño|insomnio|ansiedad|estrés|estornudos|tos|cansancio|fatiga|"
    r"miedo|temor|pánico|alarma|caos|confusión|quejas?|protestas?|reclamaci(?:ón|ones)|multas?|problemas?|averías?|incendios?|explosi(?:ón|ones)|accidentes?|atascos?|colas?|ruidos?|grietas?|fugas?|manchas?|olor|olores|vibraciones|efectos?|"
    r"mejoras?|ahorros?|ventas|beneficios?|ingresos|convenios?|acuerdos?|renuncias?|dimisi(?:ón|ones)|robos?|errores|escasez|sobrecostes?|desperfectos?|destrozos?|inundaci(?:ón|ones)|corrosión|apag(?:ón|ones)|que|"
    r"\w+(?:ar|er|ir)(?:se|lo|la|los|las|le|les)?)(?!\w)"
)
ROADS = r"(?<!\w)(?:calles?|caminos?|senderos?|sendas?|puertas?|escaleras?|pasillos?|carreteras?|pistas?|autopistas?|avenidas?|túnel|túneles|puentes?|autobús|autobuses|tren|trenes|metro|ascensor|ruta|desvío|flechas?|enlaces?|botón|atajo|galería|pasarela|autovía|línea\s+\d+|vereda|pasadizo)(?!\w)"
PLACES = r"^(?:(?:el|la|los|las|un|una|nuestr[oa]|su)\s+)?(?:plazas?|ermita|mirador|playa|lago|laguna|río|bosque|cocina|sótano|jardín|patio|salida|entrada|estación|iglesia|pueblo|cima|cumbre|puerto|centro|sala|baño|terraza|azotea|ayuntamiento|mercado|hospital|aeropuerto|valle|casa|garaje|oficina|bodega)(?!\w)"
AR = "(?:a|an|ó|aron|aba|aban|ando|ado|ar|ará|arán|aría|arían|e|en|ara|aran|ase|asen)"
DUCIR = "(?:uce|ucen|ujo|ujeron|ucía|ucían|uciendo|ucido|ucir|ucirá|ucirán|uciría|ucirían|uzca|uzcan|ujera|ujeran)"
DAR = "(?:da|dan|dio|dieron|daba|daban|dado|dando|dar|dará|darán|daría|darían|dé|den|diera|dieran)"
HACER = "(?:hace|hacen|hizo|hicieron|hacía|hacían|hecho|haciendo|hacer|hará|harán|haría|harían|haga|hagan)"
TRAER = (
    "(?:trae|traen|trajo|trajeron|traía|traían|traído|trayendo|traer|traerá|traerán|traería|traerían|traiga|traigan)"
)
SUPONER = "(?:supuso|supusieron|supondrá|supondrán|supondría|supondrían|supuesto|supone|suponen)"
OF = "(?:de|del)"
TO = "(?:a|al)"
THIS = "(?:ello|eso|esto|aquello|lo\\s+anterior|todo\\s+(?:ello|eso|esto))"
ARTICLE = "(?:el|la|los|las|un|una|unos|unas|su|sus|este|esta|estos|estas|ese|esa|esos|esas|aquel|aquella|otro|otra|tantos|tantas|varios|varias)"
REASON = "(?:causas?|causantes?|motivos?|raz(?:ón|ones)|or[ií]gen(?:es)?|factor(?:es)?|detonantes?|desencadenantes?|culpables?|responsables?|explicaci(?:ón|ones))"
DEGREE = r"(?:\s+(?:principal|principales|última|último|directa|directo|inmediata|real|más\s+\w+|probable))?"
NOT_A_NOUN = "".join(
    rf"(?<!\b{word}\s)"
    for word in "la su una esta esa otra cuya misma con sin por gran buena dicha única cada de en a y".split()
)
