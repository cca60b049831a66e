"""Sentences in Spanish, French and English, in prose and in Markdown."""

import random
import textwrap
import time
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphrag.linguistics.sentences import MAX_SENTENCE_CHARS, _sentences, is_heading, plain, split_sentences

PIECES = [
    *["Hola.", "¿Qué pasó?", "¡No!", "El Sr. Gil", "12.000", "p. ej.", "« Oui. »", "M. Roy", "e.g.", "…", "3,5", "A."],
    *["# Título", "- uno", "| a | b |", "|---|---|", "> cita", "1. uno", "***", "===", "```", "Fecha: hoy"],
    *["日本語。", "Привет.", "مرحبا؟", "👩‍🔧", "e\u0301", "\u00a0", " ", "\n", "\n\n", "\t", "x" * 70],
    *[
        "llegó.El",
        "S. A.",
        "(uno. Dos.)",
        "[…]",
        "\u202e",
        "\u200f",
        "\r\n",
        "\x0c",
        "—Sí.",
        "a) uno",
        "b. dos",
        "i) tres",
    ],
    *["Hola,", "Fin:", "www.a.es.", "VI.", "a | b | c", "\u0301" * 9, " " * 2100, "y" * 2100, "z " * 1100],
]
texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))


def sentences(text: str) -> list[str]:
    return [text[span.start : span.end].strip() for span in split_sentences(text)]


def misread(expected: Iterable[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Each text that has other sentences than these, with what it has."""
    return [(text, found) for text, those in expected if (found := sentences(text)) != those]


@given(texts)
@example("")
@example(" \n ")
@example("\n\nHola. \n\n")
def test_sentences_tile_the_text(text: str) -> None:
    """R2.6: nothing is lost, nothing comes twice, and no sentence is blank unless the text is."""
    spans = split_sentences(text)
    assert "".join(text[span.start : span.end] for span in spans) == text
    assert all(before.end == after.start for before, after in pairwise(spans))
    assert all(span.start < span.end for span in spans)
    if text.strip():
        assert all(text[span.start : span.end].strip() for span in spans)
    assert all(len(text[span.start : span.end].strip()) <= MAX_SENTENCE_CHARS for span in spans)


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("x" * 4_500, [2_000, 2_000, 500]),
        ("palabra " * 600, [1_999, 1_999, 799]),
        ("x" + " " * 5_000 + "y" * 1_999, [1, 1_999]),
        ("x" * 1_999 + "e\u0301" + "x" * 100, [1_999, 102]),  # no mark without its letter
        ("\u0301" * 2_500, [2_000, 500]),
        ("| celda " * 500, [1_999, 1_999]),
    ],
)
def test_long_sentences_are_cut_at_a_space_or_else_anywhere(text: str, lengths: list[int]) -> None:
    """R2.6: no unit is longer than 2,000 characters."""
    assert [len(sentence) for sentence in sentences(text)] == lengths


HOSTILE = (
    *[
        "a",
        ".",
        "...",
        ". ",
        ". a",
        "a. B",
        "a.B",
        ".😀",
        "(A. ",
        "([.",
        "1. ",
        "1.1.",
        "A. ",
        "J. La ",
        "Sr. ",
        "e.g. ",
    ],
    *[
        '"A?" B ',
        "¿",
        "\n",
        "A\n",
        "a,\nB\n",
        "1.\n",
        "--\n",
        "- a\n",
        "| a |\n",
        "a\tb\n",
        "a: b\n",
        "\u0301",
        " ",
        "ª.",
    ],
)


@pytest.mark.timed
@pytest.mark.parametrize("unit", HOSTILE, ids=repr)
def test_time_grows_with_the_text(unit: str) -> None:
    """R2.6: a hostile text of twice the length takes about twice the time."""

    def seconds(chars: int) -> float:
        text = unit * (chars // len(unit))
        durations = []
        for _ in range(3):
            begun = time.process_time()
            _sentences(text)
            durations.append(time.process_time() - begun)
        return min(durations)

    assert seconds(40_000) < 8 * seconds(10_000) + 0.05  # quadratic: sixteen times


def test_an_empty_text_has_no_sentences() -> None:
    assert split_sentences("") == ()


ONE_SENTENCE = [
    "El Sr. López y la Sra. Gil llegaron tarde.",
    "Lo firmó la Dra. Ana Ruiz, del Dpto. de Compras.",
    "La Dña. Pilar del acta es la misma.",
    "Se usan materiales buenos, p. ej. Cobre y estaño.",
    "Véase la pág. 12 del anexo.",
    "Es el núm. 5 de la lista.",
    "Vive en EE. UU. desde 2010.",
    "Pesa 12.000 kg y mide 3,5 m de largo.",
    "M. Dupont et Mme. Roy sont d'accord.",
    "MM. Dupont et Roy sont d'accord.",
    "La règle est là (art. 5 du code, cf. Annexe 2).",
    "Dr. Smith met Mr. Jones vs. Mrs. Brown.",
    "Use a solvent, e.g. Acetone, to clean it.",
    "No. 5 is broken.",
    "See p. 4 and fig. 2 for details.",
    "It costs £6,400.50 in all.",
    "J. R. R. Tolkien wrote it.",
    "Version 2.0.1 is out.",
    "The file notes.txt is at www.example.com now.",
    "Esperó… y se fue.",
    "He waited... and left.",
    "« Oui ! » dit-il en partant.",
    "¿Vienes? —preguntó Ana.",
    '"Stop!" he said.',
    "¡Ojo! y no lo toques.",
    "Véase cap. 2, págs. 33 y ss.",
    "El Ing. Ruiz y el Arq. Soto firmaron.",
    "La obra data del s. XII.",
    "Murió en el 44 a. C. en Roma.",
    "Vive en la Urb. Los Pinos, en el Edif. El Faro.",
    "Los CC. OO. convocan huelga.",
    "Prenez 2 c. à s. d'huile.",
    "Le lt. Berger et le gén. de Castries se rendirent.",
    "Comme dit M. Le Guen, tout va.",
    "Il vécut en 300 av. J.-C. à Rome.",
    "L'art. L. 121-1 s'applique.",
    "Roe v. Wade was overturned.",
    "The Rev. Alan Pyke met Capt. R. Scott.",
    "The U.S. Army and the U.N. Security Council agreed.",
    "The fort was built c. 1740 by the French.",
    "Meet me at 9 a.m. Monday.",
    "P.S. I forgot the keys.",
    "À la question « Avez-vous compris ? », un seul leva la main.",
    "Le préfet (il était en retard. Comme toujours.) a coupé le ruban.",
    "Her garden (you should see it!) won bronze.",
    '"Are you coming?" Tom asked.',
    "Dice que «el vendedor […] responderá».",
    "Vi a [...] Pedro salir.",
    "I am here to . . . submit.",
    "Use node.js, ASP.NET, Report.PDF, acta.Final.docx or com.example.Main.",
    "Write to j.smith@mail.co.uk or see http://foo.org/a.b?c=D.E now.",
    "Install v2.0.1-beta on 192.168.1.1 by 3.11.2014.",
    "Annexe IV. Barème des salaires.",
    "2.1. Champ d'application.",
    "El pago (ver nota 3.B) llegó a las 17.45.",
]


def test_a_stop_inside_a_sentence_does_not_end_it() -> None:
    """R2.6"""
    assert misread((text, [text]) for text in ONE_SENTENCE) == []
    assert [text for text in ONE_SENTENCE if sentences(f"{text} Y otra cosa.")[0] != text] == []


MANY_SENTENCES = [
    ["¿Qué pasó?", "¡Se rompió!", "Nada más."],
    ["Llegó el Sr. Gil.", "Se fue el Sr. Ruiz."],
    ["Dijo que no.", "Luego salió."],
    ["He told me.", "Then he left."],
    ["Il sait où elle est.", "Puis il part."],
    ["Le tuyau mesure 5 m.", "Il est neuf."],
    ["Cerró a las 5 p. m.", "Después se fue."],
    ["Pesa 12.000.", "Mide 3,5."],
    ["Vino el 3.", "Se fue el 4."],
    ["It costs £6,400.50.", "Pay now."],
    ["Il a dit « Bonjour. »", "Puis il est parti."],
    ["Elle dit « Non\u00a0!\u00a0»", "Puis elle part."],
    ["Dijo «basta».", "Luego salió."],
    ["Dijo «¡basta!»", "Luego salió."],
    ['He said "stop."', "Then he left."],
    ["He said “stop.”", "Then he left."],
    ["It failed (twice.)", "Then it worked."],
    ["Wait…", "He left."],
    ["Really?!", "Yes."],
    ["El fallo fue grave.", "12 personas esperaban."],
    ["Le four est froid.", "« Tant pis », dit-il."],
    ["Fue así.", "—Vale —dijo ella."],
    ["炉が止まった。", "「なぜ？」", "原因はガスだ。"],  # without white space
    ["توقف الفرن.", "لماذا؟", "نقص الغاز."],
    ["भट्ठी रुक गई।", "गैस नहीं थी।"],
    ["توقف الفرن.\u200f", "لماذا؟"],
    ["Pagó 40 kg.", "Hace falta carretilla."],
    ["Hace 20 °C.", "Mañana, más."],
    ["Vive en el piso 3-B.", "Llame antes."],
    ["El plan B.", "Funcionó."],
    ["Mín. 2 noches.", "Máx. 4 pers.", "Prohibido fumar."],
    ["Compró Aguas del Sur, S. A.", "Vende agua."],
    ["Vive en EE. UU.", "No volverá."],
    ["Compramos folios, grapas, etc.", "La factura va adjunta."],
    ["He moved back from the U.S.", "He had run out of money."],
    ["I left it in row F.", "Has it turned up?"],
    ["Signé P. L.", "Le greffier atteste."],
    ["World War I.", "It began in 1914."],
    ["FC: 70.", "FR: 16.", "Afebril."],
    ["1. Abrir.", "2. Cerrar.", "3. Salir."],
    ["How many?", "12.", "That's all."],
    ["— Qui vive ? lança la sentinelle.", "Personne ne répondit."],
    ["—Ya voy —dijo Marcos—.", "Espérame."],
    ["«Esto no puede seguir así.", "Hay que hacer algo.»"],
    ["Dijo: «¡Fuego!».", "Todos corrieron."],
    ["Sorry.", "(Fixed now.)", "Bye."],
    ["Vraiment ? !", "Je n'y crois pas."],
    ["Llegó tarde.", "[…] Nadie lo vio."],
    ["Esperamos... una hora...", "Nadie apareció."],
    ["Great job! 🎉🎉", "Party at 8."],
    ["Gracias 🙏.", "Te debo una."],
    ["It sank.[1]", "Nobody knows why.²", "End."],
    ["**Nota.**", "El motor falla."],
    ["The word مرحبا is Arabic.", "¿Lo sabía?", "Oui."],
    ["NO FUNCIONA EL ASCENSOR.", "LLAMAR AL SR. LOPEZ.", "GRACIAS."],
    ["no funciona el wifi.", "ya lo reinicie 3 veces.", "gracias"],
    ["llego el lunes, p. ej. temprano.", "vienes?", "dime algo"],
    ["E1 ped1do lleg0 .", "La factura n0 ."],
    ["iOS falla.", "iPhone también."],
]


def test_sentences_end_at_their_stop() -> None:
    """R2.6"""
    assert misread((" ".join(expected), expected) for expected in MANY_SENTENCES) == []


def test_a_missing_space_hides_no_end() -> None:
    """R2.6"""
    many = [
        ["El pago llegó.", "El pedido no salió."],
        ["Pedí 20 kg.", "Llegaron 12.", "Y ya."],
        ["¡Enhorabuena!", "¿Cuándo empiezas?", "Dime."],
        ["No.", "Nunca.", "Jamás volveré."],
        ["Hablé con el Sr. Paz.", "Me dijo que no."],
        ["Visite www.tienda.es.", "El envío es gratis."],
        ["Revisé el informe.docx.", "Falta la portada."],
        ["Cierra a las 8 p.m.", "Llame antes."],
        ["Il dit « non ».", "C'est fini.", "J'ai tout rangé.", "À demain !"],
        ["T'es où ?", "On t'attend."],
        ["Wait...", "What?", "They left.", "BUT why?"],
        ["It said so.", '"Seven Years" is a name.'],
    ]
    assert misread(("".join(expected), expected) for expected in many) == []


def test_white_space_belongs_to_the_sentence_before() -> None:
    text = "Uno.  Dos.\n\nTres."
    assert [text[span.start : span.end] for span in split_sentences(text)] == ["Uno.  ", "Dos.\n\n", "Tres."]


def test_every_block_of_markdown_is_its_own() -> None:
    text = (
        "# Horno H2\nSe paró.\n## Causa\nFaltó gas\n\n- la válvula\n- el sensor\n* la junta\n1. Cerrar\n2. Avisar\n\n"
        "| Día | Gas |\n|---|---|\n| lunes | 6,0 |\n\n> Nota al pie\n***\nFin"
    )
    assert sentences(text) == [
        *["# Horno H2", "Se paró.", "## Causa", "Faltó gas", "- la válvula", "- el sensor", "* la junta"],
        *["1. Cerrar", "2. Avisar", "| Día | Gas |", "|---|---|", "| lunes | 6,0 |", "> Nota al pie", "***", "Fin"],
    ]


def test_lines_with_a_name_are_their_own() -> None:
    assert sentences("Fecha: 3 de mayo\nLugar: Huesca\nAsistentes: Ana y Luis\n") == [
        *["Fecha: 3 de mayo", "Lugar: Huesca", "Asistentes: Ana y Luis"]
    ]
    assert sentences("from: ana\nto: luis\n") == ["from: ana", "to: luis"]


def test_a_title_above_prose_is_its_own() -> None:
    assert sentences("Acta de la reunión\nSe aprobó el presupuesto.") == [
        *["Acta de la reunión", "Se aprobó el presupuesto."]
    ]


LINES = [
    ["Hay que comprar:", "- pan", "- vino, queso, etc.", "Gracias"],
    ["-leche", "-huevos"],
    ["Il faut :", "— du pain", "— du beurre"],
    ["The fee covers:", "a) survey;", "b) searches;", "c) costs."],
    ["Requisitos:", "a. copia", "b. foto", "c. firma"],
    ["i) Copia", "ii) Fotos", "iii) Pago"],
    ["Options:", "i. repair", "ii. replace", "iii. refund"],
    ["1.º Lave el arroz.", "2.º Cueza 20 min."],
    ["1.- Abrir", "2.- Cerrar"],
    ["• North gate: closed", "• South gate: open"],
    ["☐ leche", "☑ pan"],
    ["MINUTES", "The chair opened the meeting at 7 p.m. and welcomed new members."],
    ["INGREDIENTES", "tomates"],
    ["Etymology", "The name is Cornish.", "Demographics", "Most residents are retired."],
    ["3.2 Medidas de seguridad", "Use guantes.", "3.3 Otras", "No hay."],
    ["| Alumno | Nota |", "| Vidal | No presentó. Repite. |", "Fin de curso."],
    ["Pan. Integral\t1,20\tsí", "Vino\t4,50\tno. Nunca"],
    ["Nurse: Any allergies?", "Patient: Penicillin."],
    ["Hola Ana,", "te escribo para avisar."],
    ["Estimada Sra. Prieto:", "Le adjunto el presupuesto.", "Atentamente,", "Raúl Cid"],
    ["Team,", "We won the job!", "With best wishes to all,", "Mei Lin"],
    ["Chère tante,", "Le petit marche !", "Ton neveu,", "Bastien"],
    ["Juan Gil", "C/ Sol, 5", "28001 Madrid"],
    ["Title", "```", "Code", "```"],
]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\u2028"])
def test_lines_of_their_own(line_break: str) -> None:
    """R2.6: headings, list items, table rows, greetings and signatures."""
    assert misread((line_break.join(expected), expected) for expected in LINES) == []


WRAPPED = [
    "El horno se paró porque la presión del gas era demasiado baja para\nmantener la llama encendida.",
    "El horno se paró porque la presión del gas era demasiado baja y\nManuel tuvo que encenderlo a mano.",
    "Le four s'est arrêté parce que la pression du gaz était trop basse,\nce que personne n'avait vu.",
    "- The oven stopped because the pressure of the gas was much too low\n  for the burner to keep its flame.",
    "The plant keeps three ovens in service at all times, and each has\none purpose: to bake.",
    "Mañana viene el técnico de\nMovistar.",
    "Le recordamos que el Sr.\nMontalvo está de baja.",
    "The quotation is from vol.\n2 of her diaries.",
    "It was painted by J.\nConstable in 1821.",
    "La iglesia es del siglo\nXII y está cerrada.",
    "Según el padrón, el pueblo tenía en 1950 unos\n87. habitantes.",
    "Véase la obra de Ruiz,\nc. 1740, en el museo.",
    "Shareholders of Goldman\nSachs and of the Royal\nBank of Scotland met\nin London.",
]


def test_a_line_break_inside_a_sentence_is_no_end() -> None:
    """R2.6"""
    assert misread((text, [text]) for text in WRAPPED) == []
    assert misread((f"{text} Fin.", [text, "Fin."]) for text in WRAPPED) == []


def test_prose_is_the_same_however_it_is_wrapped() -> None:
    """R2.6"""
    prose = (
        "El economista coreano Hoesung Lee preside el IPCC desde el 8 de octubre de 2015. Antes lo dirigió Ismail El "
        "Gizouli, quien fue designado tras la renuncia de Rajendra K. Pachauri. Las invasiones de Bagdad, Samarcanda y "
        "Kiev causaron asesinatos en masa. Después de 1954 muchas familias de Estados Unidos fundaron academias."
    )
    widths = random.Random(1)
    for _ in range(20):
        wrapped = textwrap.fill(prose, widths.randint(26, 90), break_long_words=False, break_on_hyphens=False)
        assert [" ".join(sentence.split()) for sentence in sentences(wrapped)] == sentences(prose)


def test_a_blank_line_ends_a_sentence() -> None:
    assert sentences("sin punto\n\ny otra cosa") == ["sin punto", "y otra cosa"]


def test_plain_is_the_sentence_as_it_is_read() -> None:
    expected = [
        ("## Horno **H2**\n", "Horno H2"),
        ("- uno `dos` *tres* __cuatro__", "uno dos tres cuatro"),
        ("***Nota***", "Nota"),
        ("*Se paró.* Luego siguió.", "Se paró. Luego siguió."),
        ("*¿Qué?*", "¿Qué?"),
        ("> - una cita", "una cita"),
        ("3. Ningún cliente se quejó.", "Ningún cliente se quejó."),
        ("2) *fuite* du joint", "fuite du joint"),
        ("b) le bail", "le bail"),
        ("(iii) un plan", "un plan"),
        ("☐ leche", "leche"),
        ("## 2. Horno H2", "2. Horno H2"),
        ("3.500 cajas se perdieron.", "3.500 cajas se perdieron."),
        ("2. 4 de noviembre", "2. 4 de noviembre"),
        ("| lunes | 6,0 bar |\n", "lunes · 6,0 bar"),
        ("una frase\npartida   en dos", "una frase partida en dos"),
        ("Horno H2\n========\n", "Horno H2"),
        ("el campo snake_case_name y 2 * 3 * 4", "el campo snake_case_name y 2 * 3 * 4"),
        ("Pagó -5 € (3,5 %).", "Pagó -5 € (3,5 %)."),
    ]
    assert [(marked, found) for marked, read in expected if (found := plain(marked)) != read] == []


@given(texts)
def test_plain_is_one_line(text: str) -> None:
    assert "\n" not in plain(text)
    assert plain(text) == plain(text).strip()


def test_headings() -> None:
    headings = ["# Horno", "  ### Horno\n\n", "#", "Horno\n=====\n\n", "Horno\n---\n"]
    others = ["Horno", "#1 es la seguridad.", "####### siete", "- # x", "", "| a |\n", "a -- b", "---"]
    assert [text for text in headings + others if is_heading(text)] == headings
