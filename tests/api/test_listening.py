"""The socket that the service listens on."""

import socket

import pytest

from api.serving import address_of, listen


def test_no_answer_waits_for_the_client_to_acknowledge_its_headers() -> None:
    """R12 Small packets are sent at once: 40 ms of each answer otherwise."""
    with listen("127.0.0.1", 0, asks_nobody=True) as listener:
        listener.listen()
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "localhost"), ("0.0.0.0", "0.0.0.0"), ("::", "[::]")])
def test_the_address_that_is_told_can_be_opened(host: str, shown: str) -> None:
    with listen(host, 0, asks_nobody=False) as listener:
        assert address_of(listener) == f"http://{shown}:{listener.getsockname()[1]}"
