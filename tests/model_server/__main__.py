"""The server by hand: it prints its address and answers until it is stopped."""

import argparse
import contextlib
import threading

from tests.model_server.behaviours import Reply
from tests.model_server.serving import ModelServer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.model_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="a free one by default")
    parser.add_argument("--reply", help="the answer to every chat request")
    given = parser.parse_args()
    with ModelServer(port=given.port, default=given.reply and Reply(given.reply)) as server:
        print(server.base_url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
