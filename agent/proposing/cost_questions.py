"""Questions for what something cost: «La retirada costó 48.600 €»."""

import re
from collections.abc import Iterator

from agent.proposing.questions import MadeQuestion, ReadDocument
from agent.proposing.wording import is_alone, lowered
from graphrag.language import words

MOST_WORDS = 9  # of what is paid for
_COST = {
    "es": re.compile(
        r"^(?P<what>[^,;:.()]+?) (?:costó|ha costado|costaron|cuesta) (?:unos |solo )?(?P<price>\d[\d., ]*(?:euros|€))"
    ),
    "fr": re.compile(
        r"^(?P<what>[^,;:.()]+?) (?:a coûté|ont coûté|coûte) (?:environ )?(?P<price>\d[\d., \u00a0\u202f]*(?:euros|€))"
    ),
    "en": re.compile(r"^(?P<what>[^,;:.()]+?) cost (?:us )?(?:about |only )?(?P<price>[€£$]\d[\d,.]*\d)"),
}
_ASKS = {"es": "¿Cuánto costó {}?", "fr": "Combien a coûté {} ?", "en": "How much did {} cost?"}
_OPENING = re.compile(r"(?:el|la|le|the|an?|un|una|une) |l['’]|[A-ZÁÉÍÓÚÑÀÂÇÈÊÎÔŒ]", re.IGNORECASE)
_PLURAL = re.compile(r"(?:los|las|les|des) ", re.IGNORECASE)


def cost_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    for span in read.sentences:
        sentence = read.read(span)
        told = _COST[read.language].match(sentence)
        if told is None:
            continue
        what = lowered(told["what"].strip())
        is_one_thing = _OPENING.match(what) and not _PLURAL.match(what) and len(words(what)) <= MOST_WORDS
        if is_one_thing and is_alone(what, read.language):
            quote = read.text[span.start : span.end].strip()
            yield MadeQuestion(_ASKS[read.language].format(what), told["price"].strip(), quote, "factual", "cost")
