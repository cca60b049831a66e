"""Names of people, as documents write them in full."""

import re

_CAPITAL = "A-ZÁÀÂÄÇÉÈÊËÍÎÏÑÓÔÖÚÜ"
FULL_NAME = rf"[{_CAPITAL}][\w’'-]+(?: (?:de |del |de la |la |le |van |von )?[{_CAPITAL}][\w’'-]+){{1,2}}"
NAME = re.compile(FULL_NAME)
