"""What vendors' errors may repeat, and nobody else may read."""

import os
import re

NAMES = re.compile(r"API_KEY|TOKEN|PASSWORD|SECRET|CREDENTIALS")
LONG_ENOUGH = 6  # characters: what is shorter stands in many a text by chance
USERINFO = re.compile(r"(?<=://)[^/@\s]{1,500}@")


def without_secrets(text: str) -> str:
    """The text without keys of the environment and passwords of addresses."""
    for name, value in os.environ.items():
        if NAMES.search(name.upper()) and len(value) >= LONG_ENOUGH:
            text = text.replace(value, "…")
    return USERINFO.sub("…@", text)
