"""A proxy before an S3 server that does to requests what networks and busy servers do, by order, and notes them all."""

import asyncio
import contextlib
import random
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

import aiohttp
from aiohttp import web

ERROR = "<?xml version='1.0' encoding='UTF-8'?><Error><Code>{0}</Code><Message>{0} by order</Message></Error>"
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "expect"}


class Request(NamedTuple):
    """What came by: `path` is /BUCKET/KEY, with ? and the query if there is one."""

    method: str
    path: str
    range: str | None  # of bytes, as in the header
    fault: str | None  # what was done to it: refuse, cut, shorten, lose, delay; None where it went through


@dataclass
class Order:
    """A fault for those requests whose method is `method` and in whose path the pattern `path` is found ("" fits all).

    It is done `times` times (None: for ever), to each of them with this probability.
    """

    fault: str
    value: int
    code: str = ""
    method: str = ""
    path: str = ""
    times: int | None = None
    probability: float = 1.0

    def fits(self, method: str, path: str) -> bool:
        return self.times != 0 and self.method in ("", method) and re.search(self.path, path) is not None


@dataclass
class Faults:
    """The orders and the notes of a proxy; both may be used from any thread. `url` is where it listens.

    The keywords of each order are `method`, `path`, `times` and `probability`, as `Order` has them.
    """

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    _orders: list[Order] = field(default_factory=list)
    _random: random.Random = field(default_factory=lambda: random.Random(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def refuse(self, status: int = 503, code: str = "SlowDown", **which: object) -> None:
        """Requests get this status and S3 error code, and are not passed on."""
        self._order(Order("refuse", status, code, **which))

    def cut(self, after: int = 0, **which: object) -> None:
        """Answers break off after so many bytes of the body, of which the header promised more."""
        self._order(Order("cut", after, **{"method": "GET"} | which))

    def shorten(self, after: int = 0, **which: object) -> None:
        """Answers end after so many bytes as if that were all, and have no checksum that would tell."""
        self._order(Order("shorten", after, **{"method": "GET"} | which))

    def lose(self, **which: object) -> None:
        """Requests are done, but the connection breaks before their answer."""
        self._order(Order("lose", 0, **{"method": "PUT"} | which))

    def delay(self, milliseconds: int, **which: object) -> None:
        """Requests wait before they are passed on."""
        self._order(Order("delay", milliseconds, **which))

    def clear(self, seed: int = 1) -> None:
        """Forgets all orders and requests; the probabilities begin anew from the seed."""
        with self._lock:
            self._orders.clear()
            self.requests.clear()
            self._random.seed(seed)

    def count(self, method: str = "", path: str = "", fault: str | None = None) -> int:
        """How many requests came by; with `fault`, those that it was done to."""
        return sum(
            method in ("", request.method)
            and re.search(path, request.path) is not None
            and fault in (None, request.fault)
            for request in list(self.requests)
        )

    def take(self, method: str, path: str, range_: str | None) -> Order | None:
        """The order that this request falls to, which is noted."""
        with self._lock:
            fitting = (order for order in self._orders if order.fits(method, path))
            order = next((order for order in fitting if self._random.random() < order.probability), None)
            if order is not None and order.times is not None:
                order.times -= 1
            self.requests.append(Request(method, path, range_, order and order.fault))
            return order

    def _order(self, order: Order) -> None:
        with self._lock:
            self._orders.append(order)


@contextlib.contextmanager
def faults_before(server: str) -> Iterator[Faults]:
    """A proxy before the server at this URL, in a thread of this process."""
    faults, loop = Faults(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    runner = asyncio.run_coroutine_threadsafe(_start(faults, server), loop).result()
    try:
        yield faults
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _start(faults: Faults, server: str) -> web.AppRunner:
    client = aiohttp.ClientSession(auto_decompress=False, connector=aiohttp.TCPConnector(limit=0))

    async def handle(request: web.Request) -> web.StreamResponse:
        return await _handle(request, faults, client, server)

    async def close(_: web.Application) -> None:
        await client.close()

    application = web.Application(client_max_size=2**30)
    application.router.add_route("*", "/{path:.*}", handle)
    application.on_cleanup.append(close)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    faults.url = "http://{}:{}".format(*runner.addresses[0][:2])
    return runner


async def _handle(
    request: web.Request, faults: Faults, client: aiohttp.ClientSession, server: str
) -> web.StreamResponse:
    order = faults.take(request.method, request.path_qs, request.headers.get("Range"))
    body = await request.read()
    if order and order.fault == "refuse":
        content = {} if request.method == "HEAD" else {"text": ERROR.format(order.code)}
        return web.Response(status=order.value, content_type="application/xml", **content)
    if order and order.fault == "delay":
        await asyncio.sleep(order.value / 1000)
    headers = _kept(request.headers)
    async with client.request(
        request.method, f"{server}{request.rel_url.raw_path_qs}", headers=headers, data=body, allow_redirects=False
    ) as answer:
        return await _pass_on(request, answer, await answer.read(), order)


async def _pass_on(
    request: web.Request, answer: aiohttp.ClientResponse, data: bytes, order: Order | None
) -> web.StreamResponse:
    if order and order.fault == "lose":
        _hang_up()
    headers = _kept(answer.headers)
    if order and order.fault == "shorten":
        data = data[: order.value]
        headers = [(name, value) for name, value in headers if not name.lower().startswith("x-amz-checksum-")]
    response = web.StreamResponse(status=answer.status, headers=headers)
    response.content_length = len(data) if request.method != "HEAD" else answer.content_length
    await response.prepare(request)
    if order and order.fault == "cut":
        await response.write(data[: order.value])
        _hang_up()
    await response.write(data)
    await response.write_eof()
    return response


def _kept(headers: "aiohttp.typedefs.LooseHeaders") -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers.items() if name.lower() not in HOP_BY_HOP | {"content-length"}]


def _hang_up() -> NoReturn:
    """Closes the connection, when what was written is sent: this is how aiohttp's server does it without a word."""
    raise asyncio.CancelledError
