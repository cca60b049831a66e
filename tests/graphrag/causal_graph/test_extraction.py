"""Which relations are found in which wordings, and where they stand."""

from itertools import pairwise

import pytest

from graphrag.causal_graph.extraction import extract_from_chunks, extract_relations
from graphrag.models import Chunk
from graphrag.models.graph import CausalRelation, Polarity, RelationType
from tests.factories import make_chunk, make_document

Told = tuple[str, str]


def told(text: str, language: str) -> list[Told]:
    """Cause and effect of each relation, as written."""
    return [
        (text[found.cause.start : found.cause.end], text[found.effect.start : found.effect.end])
        for found in extract_relations(text, language=language)
    ]


def the_relation(text: str, language: str) -> CausalRelation:
    (relation,) = extract_relations(text, language=language)
    return relation


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("es", "El vuelo salió tarde porque faltaba el copiloto.", ("faltaba el copiloto", "El vuelo salió tarde")),
        ("es", "Debido al temporal, el ferri no salió.", ("temporal", "el ferri no salió")),
        ("es", "Como la nevera no enfriaba, tiramos la leche.", ("la nevera no enfriaba", "tiramos la leche")),
        ("es", "La grieta fue provocada por el tráfico pesado.", ("el tráfico pesado", "La grieta")),
        ("es", "La grieta se debe al tráfico pesado.", ("tráfico pesado", "La grieta")),
        ("es", "El motivo del cierre fue una plaga de termitas.", ("una plaga de termitas", "cierre")),
        ("es", "Faltaba una firma, así que nadie cobró.", ("Faltaba una firma", "nadie cobró")),
        ("fr", "Le marché est annulé à cause du verglas.", ("verglas", "Le marché est annulé")),
        ("fr", "Puisque le pont est fermé, nous prenons le bac.", ("le pont est fermé", "nous prenons le bac")),
        ("fr", "Une étincelle a provoqué l'explosion.", ("Une étincelle", "l'explosion")),
        ("fr", "L'explosion est due à une étincelle.", ("une étincelle", "L'explosion")),
        ("fr", "La cause de la panne était un fusible grillé.", ("un fusible grillé", "la panne")),
        ("fr", "Il avait plu, si bien que le terrain était boueux.", ("Il avait plu", "le terrain était boueux")),
        ("en", "The match was abandoned because of fog.", ("fog", "The match was abandoned")),
        ("en", "Because the lift was broken, we carried it up.", ("the lift was broken", "we carried it up")),
        ("en", "A loose wire caused the fire.", ("A loose wire", "the fire")),
        ("en", "The fire was caused by a loose wire.", ("a loose wire", "The fire")),
        ("en", "The delay stems from a missing stamp.", ("a missing stamp", "The delay")),
        ("en", "The reason for the delay was a missing stamp.", ("a missing stamp", "the delay")),
        ("en", "The oven was cold, so the bread did not rise.", ("The oven was cold", "the bread did not rise")),
        ("en", "Ann won twice, although she sat out June due to a fall.", ("a fall", "she sat out June")),
        ("es", "Ana ganó dos veces, aunque no jugó en junio por una caída.", ("una caída", "no jugó en junio")),
        ("es", "Hubo pérdidas, resultado de la sequía.", ("la sequía", "pérdidas")),
    ],
)  # fmt: skip
def test_cause_and_effect_are_told_apart(language: str, text: str, expected: Told) -> None:
    """R7.1: in both orders, by connectives, verbs and nouns."""
    assert told(text, language) == [expected]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("es", "El río se desbordó. Por eso cortaron la carretera.", ("El río se desbordó", "cortaron la carretera")),
        ("es", "El río se desbordó. Esto provocó un corte.", ("El río se desbordó", "un corte")),
        ("fr", "La digue a cédé. C'est pourquoi la route est coupée.", ("La digue a cédé", "la route est coupée")),
        ("fr", "La rivière a débordé. Cela a entraîné une coupure.", ("La rivière a débordé", "une coupure")),
        ("en", "The river flooded. As a result, the road is shut.", ("The river flooded", "the road is shut")),
        ("en", "The river flooded. This caused a diversion.", ("The river flooded", "a diversion")),
    ],
)  # fmt: skip
def test_relation_across_two_sentences(language: str, text: str, expected: Told) -> None:
    """R7.1: the quote is both sentences."""
    assert told(text, language) == [expected]
    quote = the_relation(text, language).quote
    assert text[quote.start : quote.end] == text


def test_chain_in_one_sentence() -> None:
    """R7.1: as many relations as links."""
    text = "Heavy rain caused a mudslide, which led to the closure of the line."
    assert told(text, "en") == [("Heavy rain", "a mudslide"), ("a mudslide", "the closure of the line")]


@pytest.mark.parametrize(
    ("language", "text", "type_"),
    [
        ("es", "La noticia desencadenó una protesta.", RelationType.TRIGGERS),
        ("es", "El ajuste llevó al cierre de la planta.", RelationType.LEADS_TO),
        ("fr", "L'annonce a déclenché une grève.", RelationType.TRIGGERS),
        ("fr", "L'accord a abouti à une hausse des salaires.", RelationType.LEADS_TO),
        ("en", "The news triggered a protest.", RelationType.TRIGGERS),
        ("en", "The cuts led to the closure of the plant.", RelationType.LEADS_TO),
        ("en", "A loose wire caused the fire.", RelationType.CAUSES),
    ],
)
def test_type_is_what_the_words_say(language: str, text: str, type_: RelationType) -> None:
    """R7.1 CAUSES, TRIGGERS, LEADS_TO."""
    assert the_relation(text, language).type is type_


@pytest.mark.parametrize(
    ("language", "text", "polarity"),
    [
        ("es", "El fuego no fue causado por un rayo.", Polarity.NEGATED),
        ("es", "El polvo podría causar un incendio.", Polarity.HYPOTHETICAL),
        ("es", "¿Causó el polvo un incendio porque nadie limpió?", Polarity.HYPOTHETICAL),
        ("es", "El polvo ha causado un incendio.", Polarity.FACT),
        ("fr", "La grève n'a pas provoqué de retard.", Polarity.NEGATED),
        ("fr", "Ce produit ne provoque pas d'allergie.", Polarity.NEGATED),
        ("fr", "La poussière risque de causer un incendie.", Polarity.HYPOTHETICAL),
        ("fr", "La poussière causerait un incendie.", Polarity.HYPOTHETICAL),
        ("fr", "La poussière a causé un incendie.", Polarity.FACT),
        ("en", "The strike did not cause any delay.", Polarity.NEGATED),
        ("en", "The dust may cause a fire.", Polarity.HYPOTHETICAL),
        ("en", "If the seal fails, the leak will cause a fire.", Polarity.HYPOTHETICAL),
        ("en", "The dust has caused a fire.", Polarity.FACT),
        ("en", "He left not only because of the pay.", Polarity.FACT),
    ],
)
def test_polarity(language: str, text: str, polarity: Polarity) -> None:
    """R7.1: what is denied, possible or asked is no fact."""
    assert {found.polarity for found in extract_relations(text, language=language)} == {polarity}


def test_two_reasons_have_one_effect() -> None:
    """R7.1: «mais aussi et surtout» belongs to neither."""
    text = "Elle accepta parce qu'elle aimait la mer, mais aussi et surtout parce qu'elle s'ennuyait."
    assert told(text, "fr") == [("elle aimait la mer", "Elle accepta"), ("elle s'ennuyait", "Elle accepta")]


def test_first_reason_denied_second_given() -> None:
    """R7.1: «no por X, sino por Y»."""
    text = "Cerró no por las deudas, sino porque se jubiló."
    polarities = [relation.polarity for relation in extract_relations(text, language="es")]
    assert told(text, "es") == [("las deudas", "Cerró"), ("se jubiló", "Cerró")]
    assert polarities == [Polarity.NEGATED, Polarity.FACT]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "Después de la cena salimos a pasear."),
        ("es", "Gracias a todos por venir."),
        ("es", "La calle lleva a la plaza."),
        ("es", "Como directora, Inés firma los contratos."),
        ("es", "Lo anoté para que no se olvidara."),
        ("es", "La palabra «porque» se escribe sin tilde."),
        ("es", "El autobús pasa por el barrio viejo."),
        ("fr", "Merci à tous d'être venus."),
        ("fr", "Le chemin mène au lac."),
        ("fr", "Comme secrétaire, Anne a rédigé le procès-verbal."),
        ("fr", "Elle entraîne l'équipe depuis dix ans."),
        ("fr", "Le car scolaire part à huit heures."),
        ("en", "Thanks to everyone who came."),
        ("en", "The stairs lead to the attic."),
        ("en", "As a manager, she signs the contracts."),
        ("en", "We have lived here since 1998."),
        ("en", "As the sun went down, we lit a fire."),
        ("en", "The rent is due on Monday."),
        ("en", "Label the jars so that we can tell them apart."),
        ("en", "The title was created on 21 June for the naval administrator and his relations."),
        ("en", "The rifle was produced in greater numbers than its predecessor."),
        ("en", "The book has been translated into forty languages."),
        ("en", "The plan was aimed at creating a network of local institutions."),
        ("en", "The council interprets this to mean that fees are optional."),
        ("en", "As best as can be determined, the bell has hung there since the war."),
        ("es", "El río desemboca en la antigua bahía."),
        ("es", "Trabajan para asegurar resultados de salud óptimos."),
        ("es", "Cerraron el patio, como en el caso de la plaza, que no tiene salida."),
    ],
)
def test_looks_causal_and_is_not(language: str, text: str) -> None:
    """R7.1: time, thanks, places, roles and purposes are no causes."""
    assert told(text, language) == []


def test_plain_wording_is_surer_than_an_ambiguous_one() -> None:
    """R7.1: confidence."""
    sure = the_relation("We left because it was late.", "en").confidence
    vague = the_relation("As it was late, we left.", "en").confidence
    across = the_relation("It was late. That is why we left.", "en").confidence
    assert 0 < vague < across < sure <= 1


def test_markdown_breaks_no_offsets() -> None:
    """R7.1: bullets, bold and headings."""
    text = "# Notas\n\n- **Avería:** el motor se paró *debido a* un `fusible` fundido.\n"
    assert told(text, "es") == [("un `fusible` fundido", "el motor se paró")]


def test_heading_is_no_cause() -> None:
    """R7.1: a sentence under a heading refers to nothing before it."""
    assert told("# Informe de averías\n\nPor eso cerramos el lunes.", "es") == []


def test_line_broken_by_hand_is_one_clause() -> None:
    """R7.1: a wrapped paragraph."""
    text = "The whole shipment of spring catalogues was sent back to the printer because the\ncover was blue."
    assert told(text, "en") == [
        ("the\ncover was blue", "The whole shipment of spring catalogues was sent back to the printer")
    ]


@pytest.mark.parametrize("language", ["de", "und", "pt", ""])
def test_other_languages_have_none(language: str) -> None:
    """R7.1: the rules are for Spanish, French and English."""
    assert extract_relations("A loose wire caused the fire.", language=language) == []


def chunks_of(text: str, *cuts: int) -> list[Chunk]:
    document = make_document()
    bounds = [0, *cuts, len(text)]
    return [
        make_chunk(text[start:end], index=index, start_char=start, document=document)
        for index, (start, end) in enumerate(pairwise(bounds))
    ]


def test_relation_belongs_to_the_chunk_where_its_quote_begins() -> None:
    """R7.1: also where its two sentences lie in two chunks; spans are the document's."""
    first, second, third = "Todo iba bien. ", "El río se desbordó. ", "Por eso cortaron la carretera."
    text = first + second + third
    found = extract_from_chunks(text, chunks_of(text, len(first), len(first + second)), language="es")
    assert [len(relations) for relations in found] == [0, 1, 0]
    (relation,) = found[1]
    assert text[relation.effect.start : relation.effect.end] == "cortaron la carretera"


def test_chunks_together_hold_what_the_document_holds() -> None:
    """R7.1: however it is cut."""
    text = "El río se desbordó. Por eso cortaron la carretera. El corte causó atascos. No vino nadie porque llovía."
    whole = extract_relations(text, language="es")
    found = extract_from_chunks(text, chunks_of(text, 13, 40, 77), language="es")
    assert [relation for relations in found for relation in relations] == whole
    assert extract_from_chunks(text, [], language="es") == []
