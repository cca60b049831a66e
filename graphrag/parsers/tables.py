"""Tables inside documents, as rows of text."""

from collections.abc import Iterator, Sequence


def as_rows(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """«| Cliente | Total |»: a line a row, as in Markdown; empty rows are left out."""
    for row in cells:
        values = [" ".join(cell.split()).replace("|", "/") for cell in row]
        if any(values):
            yield f"| {' | '.join(values)} |"
