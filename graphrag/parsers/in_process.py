"""A parser without a process of its own, for tests and for files of one's own."""

import asyncio

from graphrag.models import ParsedText
from graphrag.parsers.parsing import parse
from graphrag.settings import ParsingLimits


class InProcessParser:
    """A Parser that keeps nothing from a file: for files of one's own."""

    def __init__(self, limits: ParsingLimits) -> None:
        self._limits = limits

    async def parse(self, data: bytes, *, filename: str) -> ParsedText:
        return await asyncio.to_thread(parse, data, filename=filename, limits=self._limits)
