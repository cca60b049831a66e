"""What of a model's text reaches a person: no markup that acts, no mark that cites nothing, none of its rules."""

from collections.abc import Sequence

from agent.addresses import find_addresses
from agent.leaks import LeakFilter
from agent.markup import MarkupFilter
from agent.verification.marks import MarkFilter
from graphrag.characters import visible
from graphrag.models import Passage


class AnswerFilter:
    """Takes an answer as it streams and lets through what may be shown. Marks go first: what is taken away later never
    joins to a mark, while a mark that is taken away could join what stands around it to a tag or an address."""

    def __init__(self, passages: Sequence[Passage], *, secret: str = "") -> None:
        documents = {passage.document.id: passage.document for passage in passages}.values()
        names = [text for document in documents for text in (document.title, document.filename)]
        self._marks = MarkFilter(len(passages))
        self._markup = MarkupFilter(find_addresses([*names, *(passage.content for passage in passages)]))
        self._leaks = LeakFilter(secret)

    @property
    def text(self) -> str:
        """What was let through."""
        return self._leaks.text

    @property
    def leaks(self) -> int:
        return self._leaks.cuts

    @property
    def removed_marks(self) -> int:
        return self._marks.removed

    def feed(self, token: str) -> str:
        return self._leaks.feed(self._markup.feed(self._marks.feed(visible(token))))

    def flush(self) -> str:
        text = self._markup.feed(self._marks.flush()) + self._markup.flush()
        return self._leaks.feed(text) + self._leaks.flush()
