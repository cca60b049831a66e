"""Which sentences of the evidence answer a question, if any."""

from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.extractive_answers import extraction
from graphrag.extractive_answers.answer_kinds import wanted_kinds
from graphrag.extractive_answers.direct_answers import direct_answer
from graphrag.extractive_answers.extraction import MAX_SENTENCES, MAX_STATEMENTS, extract_answer
from graphrag.extractive_answers.statements import Excerpt, ExtractedStatement
from graphrag.extractive_answers.units import read_units
from graphrag.linguistics.sentences import plain
from tests.answering import told_when_unsure

SPANISH = """# Informe de avería del horno H2

El horno H2 se paró el 3 de mayo de 2025 a las 6:40. Manuel Ortega avisó al taller a las 7:05. La reparación
costó 1.250 euros. El taller está en Huesca. Los hornos H1 y H2 gastan 12.000 m³ de gas al mes.
"""
FRENCH = """# Compte rendu du four H2

Le four H2 s'est arrêté le 3 mai 2025 à 6 h 40. La réparation a coûté 1 250 euros. L'atelier se trouve à Toulouse.
Le compte rendu a été signé par Claire Morel.
"""
ENGLISH = """# Report on oven H2

Oven H2 broke down on 3 May 2025 at 6:40. The repair cost £1,250.50 in all. The workshop is in Leeds.
The report was signed by Helen Ward.
"""
TEXTS = {"es": SPANISH, "fr": FRENCH, "en": ENGLISH}


def excerpt(text: str, language: str, *, number: int = 1, title: str = "Informe") -> Excerpt:
    return Excerpt(number, title, text, language)


def extract(question: str, excerpts: Sequence[Excerpt], *, language: str) -> list[ExtractedStatement]:
    """The statements that answer best, if any may answer at all."""
    with told_when_unsure(0.3):
        found = extract_answer(question, excerpts, language=language)
    return list(found.statements) if found.outcome == "answered" else []


def answer(question: str, *texts: str, language: str) -> list[str]:
    excerpts = [excerpt(text, language, number=number) for number, text in enumerate(texts, start=1)]
    return [statement.text for statement in extract(question, excerpts, language=language)]


def is_answered(question: str, text: str, *, language: str) -> bool:
    return extract_answer(question, [excerpt(text, language)], language=language).outcome == "answered"


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("es", "¿Cuánto costó la reparación?", "La reparación costó 1.250 euros."),
        ("es", "¿Quién avisó al taller?", "Manuel Ortega avisó al taller a las 7:05."),
        ("es", "¿Cuándo se paró el horno H2?", "El horno H2 se paró el 3 de mayo de 2025 a las 6:40."),
        ("es", "cuanto gas gastan los hornos", "Los hornos H1 y H2 gastan 12.000 m³ de gas al mes."),
        ("fr", "Combien a coûté la réparation ?", "La réparation a coûté 1 250 euros."),
        ("fr", "Qui a signé le compte rendu ?", "Le compte rendu a été signé par Claire Morel."),
        ("fr", "Quand le four H2 s'est-il arrêté ?", "Le four H2 s'est arrêté le 3 mai 2025 à 6 h 40."),
        ("en", "How much did the repair cost?", "The repair cost £1,250.50 in all."),
        ("en", "Who signed the report?", "The report was signed by Helen Ward."),
        ("en", "When did oven H2 break down?", "Oven H2 broke down on 3 May 2025 at 6:40."),
    ],
)
def test_the_sentence_that_answers_is_picked(language: str, question: str, expected: str) -> None:
    """R8.8"""
    assert answer(question, TEXTS[language], language=language)[0] == expected


@pytest.mark.parametrize(
    ("language", "question"),
    [
        *(
            ("es", question)
            for question in ("¿Qué comen los koalas?", "¿Cuál es la capital de Francia?", "", "¿Por qué?")
        ),
        *(
            ("fr", question)
            for question in ("Que mangent les koalas ?", "Quelle est la capitale du Pérou ?", "Pourquoi ?")
        ),
        *(("en", question) for question in ("What do koalas eat?", "What is the capital of Peru?", "Why?", "???")),
    ],
)
def test_a_question_off_the_topic_is_refused(language: str, question: str) -> None:
    """R8.5"""
    assert not is_answered(question, TEXTS[language], language=language)


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("es", "¿Cuándo se paró el horno H3?"),
        ("es", "¿Cuándo se paró el horno H2 en 2019?"),
        ("fr", "Quand le four H3 s'est-il arrêté ?"),
        ("en", "When did oven H3 break down?"),
        ("en", "What did the repair of order 4711 cost?"),
    ],
)
def test_what_no_excerpt_names_is_refused(language: str, question: str) -> None:
    """R8.5: the sentences about H2 say nothing of H3."""
    assert not is_answered(question, TEXTS[language], language=language)


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("es", "¿Quién ganó la carrera ciclista que pasó por Huesca?"),
        ("fr", "Qui a gagné la course cycliste passée par Toulouse ?"),
        ("en", "Which cyclist won the race that ended near Leeds?"),
    ],
)
def test_one_word_in_common_is_no_answer(language: str, question: str) -> None:
    """R8.5"""
    assert not is_answered(question, TEXTS[language], language=language)


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("es", "¿Cuánto costó finalmente la reparación?", "La reparación costó 1.250 euros."),
        ("fr", "Combien a finalement coûté la réparation ?", "La réparation a coûté 1 250 euros."),
        ("en", "How much did the unexpected repair cost?", "The repair cost £1,250.50 in all."),
    ],
)
def test_one_word_that_is_lacking_does_not_prevent_an_answer(language: str, question: str, expected: str) -> None:
    """R8.5"""
    assert answer(question, TEXTS[language], language=language)[0] == expected


def test_a_name_in_the_title_is_known() -> None:
    text = "La reparación del horno costó 1.250 euros."
    found = extract("¿Cuánto costó la reparación del horno H3?", [excerpt(text, "es", title="Parte H3")], language="es")
    assert [statement.text for statement in found] == [text]


@pytest.mark.parametrize(
    ("language", "question", "given", "lacking"),
    [
        (
            "es",
            "¿Cuál es el teléfono del taller?",
            "El teléfono del taller es el 974 22 33 44.",
            "El teléfono del taller se rompió en 2025.",
        ),
        (
            "fr",
            "Quel est le téléphone de l'atelier ?",
            "Le téléphone de l'atelier est le 05.61.22.33.44.",
            "Le téléphone de l'atelier est en panne depuis 12 jours.",
        ),
        (
            "en",
            "What is the phone number of the workshop?",
            "The phone number of the workshop is +44 20 7946 0018.",
            "The phone number of the workshop is on page 12.",
        ),
        (
            "en",
            "What is the e-mail of the workshop?",
            "The e-mail of the workshop is workshop@example.org.",
            "The e-mail of the workshop is not known.",
        ),
    ],
)
def test_what_has_a_form_of_its_own_is_given_or_refused(language: str, question: str, given: str, lacking: str) -> None:
    """R8.5"""
    assert answer(question, f"{lacking} {given}", language=language) == [given]
    assert answer(question, lacking, language=language) == []


def test_what_says_the_same_comes_once() -> None:
    """R8.8"""
    found = answer(
        "¿Cuánto costó la reparación?",
        "La reparación costó 1.250 euros.",
        "Como se dijo, la reparación costó 1.250 euros.",
        "**La reparación** costó 1.250 euros.",
        language="es",
    )
    assert found == ["La reparación costó 1.250 euros."]


def test_at_most_two_sentences() -> None:
    """R8.8: one sentence, and a second one that is as good."""
    text = " ".join(
        [
            "El lunes falló el sensor rojo del patio norte.",
            "El lunes falló la bomba vieja de aquella prensa.",
            "El lunes falló nuestro motor nuevo junto al muelle.",
            "El lunes falló una cinta larga para cajas grandes.",
        ]
    )
    found = answer("¿Qué falló el lunes?", text, language="es")
    assert len(found) == MAX_SENTENCES == 2


@pytest.mark.parametrize(
    ("language", "question", "stated", "without"),
    [
        (
            "es",
            "¿Por qué se paró el horno?",
            "El horno se paró porque el compresor perdió presión.",
            "El horno se paró el lunes por la tarde.",
        ),
        (
            "fr",
            "Pourquoi le four s'est-il arrêté ?",
            "Le four s'est arrêté à cause d'une fuite de gaz.",
            "Le four s'est arrêté lundi dans la soirée.",
        ),
        (
            "en",
            "Why did the oven explode?",
            "The oven exploded because of a leak of gas.",
            "The oven exploded on Monday evening.",
        ),
    ],
)
def test_a_question_for_the_reason_prefers_a_sentence_that_gives_one(
    language: str, question: str, stated: str, without: str
) -> None:
    """R8.8"""
    assert answer(question, f"{without} {stated}", language=language)[0] == stated


@pytest.mark.parametrize(
    ("language", "question", "stated", "negated"),
    [
        (
            "es",
            "¿Cuál fue la causa de la parada del horno?",
            "La parada del horno se debió a la falta de presión.",
            "La parada del horno no se debió a un corte de luz.",
        ),
        (
            "es",
            "¿A qué se debió la parada del horno?",
            "La parada del horno se debió a la falta de presión.",
            "La parada del horno no se debió a un corte de luz.",
        ),
        (
            "fr",
            "Pourquoi la vanne a-t-elle lâché ?",
            "La vanne a lâché à cause du gel.",
            "La vanne n'a pas lâché à cause de la rouille.",
        ),
        (
            "en",
            "Why did the valve break?",
            "The valve did break because of the frost.",
            "The valve did not break because of rust.",
        ),
        (
            "es",
            "¿Por qué se paró el horno?",
            "El horno se paró debido a una fuga.",
            "El horno no se paró porque faltara gas.",
        ),
        (
            "fr",
            "Pourquoi le four s'est-il arrêté ?",
            "Le four s'est arrêté à cause d'une coupure.",
            "Le four ne s'est pas arrêté à cause du gaz.",
        ),
    ],
)
def test_a_negated_reason_does_not_win_over_a_stated_one(
    language: str, question: str, stated: str, negated: str
) -> None:
    """R8.8"""
    assert answer(question, f"{negated} {stated}", language=language)[0] == stated


@pytest.mark.parametrize(
    ("language", "question", "given", "without"),
    [
        (
            "es",
            "¿Cuántos hornos tiene la planta?",
            "La planta tiene tres hornos de gas y una cámara fría.",
            "La planta tiene hornos de gas que se revisan siempre.",
        ),
        (
            "es",
            "¿En qué siglo se fundó la panadería?",
            "La panadería se fundó en el siglo XIX junto al río.",
            "La panadería se fundó junto al río por varios socios.",
        ),
        (
            "fr",
            "Qui dirige l'atelier de peinture ?",
            "L'atelier de peinture est dirigé depuis peu par Claire Morel.",
            "L'atelier de peinture est dirigé avec beaucoup de soin.",
        ),
        (
            "fr",
            "Où se trouve l'entrepôt principal ?",
            "L'entrepôt principal se trouve depuis longtemps à Nantes.",
            "L'entrepôt principal se trouve derrière un grand mur gris.",
        ),
        (
            "en",
            "How many trucks does the depot have?",
            "The depot has forty trucks and a small office.",
            "The depot has trucks that are washed very often.",
        ),
        (
            "en",
            "When was the depot built?",
            "The depot was built in the winter of 1987.",
            "The depot was built with bricks and old timber.",
        ),
    ],
)
def test_what_has_the_kind_that_is_asked_for_comes_first(
    language: str, question: str, given: str, without: str
) -> None:
    """R8.8: a number, a date, a person, a place; written before it or not, the sentence without one comes later."""
    assert answer(question, f"{without} {given}", language=language)[0] == given
    assert answer(question, f"{given} {without}", language=language)[0] == given


def test_what_the_question_says_itself_is_not_what_it_asks_for() -> None:
    """R8.8"""
    text = "In 2025 the new depot opened its doors. The new depot opened late, in March of that year."
    assert answer("When in 2025 did the new depot open?", text, language="en")[0].startswith(
        "The new depot opened late"
    )


def test_a_sentence_follows_the_one_that_names_the_subject() -> None:
    """R8.8: of two that say as much themselves, the one whose subject the sentence before it names."""
    ours = "La empresa Tesorel hace cintas. Vende cada año muchas piezas de goma."
    others = "El viento llega del norte. Vende cada año muchas piezas de madera."
    found = answer("¿Qué piezas vende Tesorel?", others, ours, language="es")
    assert found[0] == "Vende cada año muchas piezas de goma."


def test_the_passage_that_was_judged_better_answers() -> None:
    """R8.8"""
    text = "La reparación costó {} euros según la factura."
    excerpts = [
        Excerpt(number, "Informe", text.format(price), "es", score=score)
        for number, price, score in ((1, "1.250", 0.4), (2, "3.000", 0.9))
    ]
    found = extract("¿Cuánto costó la reparación?", excerpts, language="es")
    assert [statement.number for statement in found] == [2]


def test_a_good_score_alone_is_no_answer() -> None:
    """R8.5"""
    excerpts = [Excerpt(1, "Informe", SPANISH, "es", score=1.0)]
    assert extract("¿Qué comen los koalas?", excerpts, language="es") == []


def test_statements_know_their_excerpt() -> None:
    """R8.3"""
    excerpts = [excerpt("El gas llega del norte.", "es", number=1), excerpt(SPANISH, "es", number=2)]
    [statement] = extract("¿Cuánto costó la reparación?", excerpts, language="es")
    assert (statement.number, statement.language) == (2, "es")


def test_among_equals_the_first_excerpt_wins() -> None:
    excerpts = [excerpt("La reparación costó 1.250 euros según la factura.", "es", number=number) for number in (1, 2)]
    found = extract("¿Cuánto costó la reparación?", excerpts, language="es")
    assert [statement.number for statement in found] == [1]


def test_another_language_answers_where_names_and_numbers_meet() -> None:
    """R6.2"""
    spanish = excerpt("El pedido 4711 de Lidia Forcén llegó a Huesca.", "es")
    found = extract("Where is order 4711 of Lidia Forcén?", [spanish], language="en")
    assert [statement.language for statement in found] == ["es"]
    asked = extract_answer("How was the weather in Huesca last week?", [spanish], language="en")
    assert asked.outcome != "answered"


def test_headings_table_rules_and_scraps_are_no_statements() -> None:
    text = (
        "# El horno H2 de la sala\n\n| Día | Horno |\n|---|---|\n| lunes 5 | el horno H2 parado |\n\nHorno. El horno:\n"
    )
    assert answer("horno", text, language="es") == ["Día: lunes 5; Horno: el horno H2 parado."]


def test_an_underlined_heading_is_no_statement() -> None:
    assert answer("¿Qué horno se paró?", "El horno que se paró\n=====\n\nNada más.", language="es") == []


def test_statements_are_read_without_markup() -> None:
    assert answer("¿Cuánto costó la reparación?", "- La **reparación** costó `1.250` euros\n", language="es") == [
        "La reparación costó 1.250 euros."
    ]


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        (
            "es",
            "¿Cuándo se inauguró la sede de Teruel?",
            "La sede de Teruel se inauguró en mayo de 2019. Tiene dos plantas y un garaje amplio.",
        ),
        (
            "fr",
            "Quand le siège de Nantes a-t-il été inauguré ?",
            "Le siège de Nantes a été inauguré en mai 2019. Il compte deux étages et un grand garage.",
        ),
        (
            "en",
            "When was the Leeds office opened?",
            "The Leeds office was opened in May 2019. It has two floors and a large garage.",
        ),
    ],
)
def test_one_sentence_that_says_it_all_stands_alone(language: str, question: str, text: str) -> None:
    """R8.8"""
    assert answer(question, text, language=language) == [f"{text.split('. ')[0]}."]


def test_a_second_sentence_says_what_the_first_lacks() -> None:
    """R8.8"""
    text = "La bomba vieja de Huesca se paró en mayo. El motor nuevo de Teruel se paró en junio. Hubo lluvia y viento."
    found = answer("¿Cuándo se pararon la bomba vieja y el motor nuevo?", text, language="es")
    assert set(found) == {"La bomba vieja de Huesca se paró en mayo.", "El motor nuevo de Teruel se paró en junio."}


def test_no_excerpts_no_answer() -> None:
    """R8.5"""
    assert extract("¿Cuánto costó la reparación?", [], language="es") == []


QUESTIONS = [
    "¿Cuánto costó?",
    "¿Quién avisó al taller?",
    "horno H2",
    "Why?",
    "Combien de gaz ?",
    "teléfono del taller",
    "",
]
SENTENCES = [
    "El horno H2 se paró ayer. ",
    "# Causa\n",
    "| a | b c d |\n",
    "Le four a coûté 12 euros. ",
    "\n\n",
    "¿Qué? ",
]


@given(
    st.one_of(st.sampled_from(QUESTIONS), st.text(max_size=40)),
    st.lists(
        st.tuples(
            st.one_of(st.lists(st.sampled_from(SENTENCES), max_size=6).map("".join), st.text(max_size=60)),
            st.sampled_from(["es", "fr", "en", "und"]),
        ),
        max_size=4,
    ),
    st.sampled_from(["es", "fr", "en"]),
)
def test_every_statement_stands_in_its_excerpt(question: str, found: list[tuple[str, str]], language: str) -> None:
    """R8.4: word for word, but for markup and a stop at the end; at most three; whatever is asked."""
    excerpts = [excerpt(text, own, number=number) for number, (text, own) in enumerate(found, start=1)]
    statements: list[ExtractedStatement] = extract(question, excerpts, language=language)
    assert len(statements) <= MAX_STATEMENTS
    for statement in statements:
        assert statement.text.removesuffix(".").split()[0] in plain(excerpts[statement.number - 1].text)
        words = statement.text.removesuffix(".").replace(" · ", " ").split()
        source = iter(plain(excerpts[statement.number - 1].text).replace(" · ", " ").replace("|", " ").split())
        assert all(any(word in other for other in source) for word in words)


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("combien coute un extrait", True),
        ("¿A qué precio compramos la almendra?", True),
        ("sueldo de la directora", True),
        ("What did each repair cost?", True),
        ("Why did the price of almonds rise?", False),
        ("¿Cuánto tiempo se paga la ayuda?", False),
        ("Qui paie le loyer ?", False),
        ("Peut-on avoir deux livrets ?", False),
    ],
)
def test_an_amount_of_money_is_asked_for_or_not(question: str, is_asked: bool) -> None:
    """R8.8 « avoir » is no price, and who asks why a price rose wants a reason."""
    assert ("money" in [kind.name for kind in wanted_kinds(question)]) is is_asked


@pytest.mark.parametrize(
    ("question", "sentence", "is_shown"),
    [
        ("Combien de personnes travaillaient à l'entrepôt ?", "A torn gasket cost us €15,726.", False),
        ("Combien de personnes travaillaient à l'entrepôt ?", "Le joint a coûté 15 726 € à 11 personnes.", True),
        ("¿Cuántos hornos se pararon?", "La parada costó 9.240 euros.", False),
        ("How many ovens stopped?", "Two ovens stopped, which cost £900.", True),
        ("¿Cuántos euros costó?", "La parada costó 9.240 euros.", True),
        ("How much did the repair cost?", "The repair cost £900.", True),
    ],
)
def test_money_is_no_count(question: str, sentence: str, is_shown: bool) -> None:
    """R8.8 Who asks how many wants another number."""
    best = extraction.find_best(question, [Excerpt(1, "Informe", sentence, "en", score=0.9)], language="en")
    assert best
    assert best.matcher.lacks_figure(0) is not is_shown


def test_a_time_is_no_price() -> None:
    """R8.5 A number of something else does not answer what a thing costs."""
    text = "Par courriel, l'extrait de casier coûte deux semaines d'attente. L'extrait de casier coûte 12 euros."
    assert answer("Combien coûte un extrait de casier ?", text, language="fr")[0].startswith("L'extrait")
    assert not is_answered("Combien coûte un extrait de casier ?", text.partition(". ")[0] + ".", language="fr")


def test_a_lead_in_without_its_list_is_no_answer() -> None:
    """R8.8 It only says that an answer follows."""
    assert answer("¿Qué documentos pide la oficina?", "La oficina pide los documentos siguientes:", language="es") == []


def test_two_items_of_one_list_bring_the_others() -> None:
    """R8.8 Where two of its items answer, the others do too."""
    text = "Cleaning a tank:\n\n1. Vent the tank.\n2. Rinse the tank with cold water.\n3. Hang the green tag.\n"
    (found,) = [unit for unit in read_units(excerpt(text, "en")) if unit.kind == "list"]
    best = extraction.find_best("cleaning a tank", [excerpt(text, "en")], language="en")
    assert best
    items = [number for number, sentence in enumerate(best.sentences) if sentence.unit.kind == "item"]
    assert extraction._list_of(best.sentences, items[:2]) == (found,)
    assert extraction._list_of(best.sentences, items[:1]) == ()


@pytest.mark.parametrize(
    ("language", "question", "happened", "why"),
    [
        (
            "fr",
            "Pourquoi l'excursion à Dieppe est-elle annulée ?",
            "L'excursion à Dieppe est annulée.",
            "Il fallait trente inscrits pour remplir le car, nous en avions dix-neuf.",
        ),
        (
            "en",
            "Why did the compressor burn out?",
            "The compressor burnt out on Tuesday night.",
            "Its filter was thick with sawdust, and nobody had cleaned it in two years.",
        ),
        (
            "es",
            "¿Por qué se cerró el gimnasio?",
            "El gimnasio se cerró el 21 de octubre.",
            "Aquel fin de semana se desprendió parte del falso techo con las lluvias.",
        ),
    ],
)
def test_a_reason_without_a_word_for_it_stands_beside_what_happened(
    language: str, question: str, happened: str, why: str
) -> None:
    """R7.2, R8.5 In the next sentence: both are told, without a short answer that would be a date or a number."""
    around = {"fr": "Les courses sont faites.", "en": "Lunch was served at noon.", "es": "El comedor abre a las dos."}
    text = f"{happened} {why} {around[language]}"
    with told_when_unsure():
        found = extract_answer(question, [excerpt(text, language)], language=language, direction="causes")
    assert [statement.text for statement in found.statements] == [happened, why]
    told = [(statement, excerpt(text, language)) for statement in found.statements]
    assert (
        direct_answer(question, told, today=date(2026, 1, 1), language=language, probability=1.0, direction="causes")
        is None
    )


def test_a_date_that_only_the_reader_sees_is_one() -> None:
    """R8.5 "From the eighth day on" is no date that rules know, yet tells when."""
    text = "A doctor's note is needed from the eighth day on. Staff call the duty desk on the first morning."
    assert answer("When do I need a doctor's note?", text, language="en")[0].startswith("A doctor's note is needed")


def test_an_ordinal_is_no_name() -> None:
    """R8.5 A question about 4º is not refused because a document writes it otherwise."""
    text = [excerpt("Los alumnos del cuarto curso comen en el comedor grande.", "es")]
    assert extract_answer("¿Dónde comen los alumnos de 4º curso?", text, language="es").outcome != "none"
    assert extract_answer("¿Dónde comen los alumnos de 4B?", text, language="es").outcome == "none"


def test_one_word_across_languages_is_enough_where_the_reader_sees_an_answer() -> None:
    """R6.2 A question with a single content word meets a passage in another language."""
    text = "Avis aux amis de la chorale : les ténors ne sont plus que six cette année."
    found = extract_answer("How many tenors are there?", [excerpt(text, "fr")], language="en")
    assert found.outcome != "none"
