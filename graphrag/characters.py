"""Characters that no reader sees: they hide text from people, split words for rules, or turn the order of reading."""

import re

# Controls, soft hyphen, joiners, zero-width and bidirectional marks, fillers, variation selectors, and the tag block,
# in which whole sentences can be written. Without joiners a family emoji falls apart into people: that is the price.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)


def visible(text: str) -> str:
    return _INVISIBLE.sub("", text)
