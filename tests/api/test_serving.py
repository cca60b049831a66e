"""The server's sockets."""

import socket

from api.serving import send_at_once


def test_an_answer_does_not_wait_for_the_client_s_acknowledgement() -> None:
    """R12 Its head and its end are two packets: with Nagle's algorithm the second one is held back for 40 ms."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        send_at_once(listener)
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
