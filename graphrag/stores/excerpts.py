"""A stretch of a document's text, cut out of the chunks that tile it."""

from collections.abc import Sequence

from graphrag.document_views import Excerpt
from graphrag.models import Chunk, Document, Span
from graphrag.places import cite_place


def cut_excerpt(
    document: Document, chunks: Sequence[Chunk], span: Span, around: Span, *, length: int, line_ends: int
) -> Excerpt:
    """`chunks` hold `around`, in order; `line_ends` stand in those before them."""
    text = "".join(chunk.content for chunk in chunks)
    text_start = chunks[0].start_char if chunks else length
    start = min(max(0, around.start - text_start), len(text))
    end = max(start, min(around.end - text_start, len(text)))
    if around.start:  # the rest of a line that begins before
        start = max(start, text.find("\n", start, max(start, span.start - text_start)) + 1)
    if around.end < length:
        line_end = text.rfind("\n", max(start, span.end - text_start), end)
        end = end if line_end == -1 else line_end
    return Excerpt(
        chunks[0].document if chunks else document,  # it may have been replaced meanwhile
        text[start:end],
        text_start + start,
        text_start + end,
        length,
        first_line=line_ends + text.count("\n", 0, start) + 1,
        place=cite_place(
            [place for chunk in chunks for place in chunk.places],
            span.start,
            span.end,
            text=text,
            text_start=text_start,
            headers=_headers(chunks, span.start),
        ),
    )


def _headers(chunks: Sequence[Chunk], start: int) -> tuple[str, ...]:
    return next((chunk.headers for chunk in chunks if chunk.start_char <= start < chunk.end_char), ())
