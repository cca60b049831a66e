"""The command line's `settings`: what can be set, as docs/settings.md has it."""

from rich.markdown import Markdown

from api.terminal import out
from graphrag.settings_reference import themes, to_markdown

INTRODUCTION = """\
# Settings

Everything is set by environment variables, which are checked at the start: a wrong value stops it, with its name.
Where a heading says so, a collection may have values of its own (`PUT /api/v1/collections/NAME`), and a request too.
This page is what `causeway settings` prints.
"""


def print_settings() -> None:
    """Print every setting with its default; as Markdown where it goes to a file."""
    page = f"{INTRODUCTION}\n{to_markdown(themes())}"
    if out.file.isatty():
        out.print(Markdown(page))
    else:
        out.file.write(page)
