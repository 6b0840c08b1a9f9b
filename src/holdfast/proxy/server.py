"""The proxy as a program, run by uvicorn."""

import gc
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from threading import Thread
from time import sleep

from holdfast.kernel.errors import ConfigError, MissingExtraError
from holdfast.proxy import LOOPBACK, Settings

try:
    import uvicorn

    from .app import Proxy
except ModuleNotFoundError as missing:
    raise MissingExtraError("the proxy", "proxy") from missing


def _listening(settings: Settings) -> socket.socket:
    """The socket. Raises ConfigError if the address cannot be bound."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((settings.host, settings.port))
        found.listen(1_024)  # clients that connect while the caches are filled wait
    except OSError as fault:
        found.close()
        raise ConfigError(
            f"it cannot be listened on ({fault.strerror})",
            place=f"{settings.host}:{settings.port}",
            advice="give another --port, or stop the program that listens there",
        ) from fault
    return found


def _server(settings: Settings, ready: Callable[[], object] | None = None) -> uvicorn.Server:
    config = uvicorn.Config(
        Proxy(settings, ready),
        ws="none",
        access_log=False,
        log_level="critical",
        limit_concurrency=settings.connections + 1,  # uvicorn refuses the last of them
        timeout_graceful_shutdown=settings.grace,
        server_header=False,
        date_header=False,
    )
    return uvicorn.Server(config)


def _address(settings: Settings, listening: socket.socket) -> str:
    """The address for clients."""
    host = settings.host if settings.host in LOOPBACK else "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def serve(settings: Settings, told: Callable[[str], object]) -> None:
    """Run until a signal ends it; ``told`` is called with the address when the caches are filled.

    Raises ConfigError if the address cannot be bound.
    """
    listening = _listening(settings)

    def ready() -> None:
        gc.collect()
        gc.freeze()  # vocabularies stay: walking them would hold requests back for some 90 ms
        told(_address(settings, listening))

    with suppress(KeyboardInterrupt):
        _server(settings, ready).run(sockets=[listening])


@contextmanager
def serving(settings: Settings) -> Generator[str]:
    """Run in the background during the block; yields the address when it answers.

    Raises ConfigError if the address cannot be bound.
    """
    listening = _listening(settings)
    server = _server(settings)
    thread = Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            sleep(0.01)
        yield _address(settings, listening)
    finally:
        server.should_exit = True
        thread.join(settings.grace + 1)
        listening.close()
