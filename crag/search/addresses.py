"""Which machines may be fetched from: public ones alone, checked after resolution and held for the connection."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Collection, Iterable
from typing import Any, Final

import httpcore2

from crag.errors import WebSearchError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
GLOBAL_UNICAST: Final = ipaddress.ip_network("2000::/3")
NAT64: Final = ipaddress.ip_network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet: not private, loopback, link-local, shared or reserved.

    IPv6 forms that carry an IPv4 address (mapped, 6to4, Teredo, NAT64) count as the address that they carry; of the
    others only global unicast (2000::/3) is public, so no old or local form of an IPv4 address is.
    """
    try:
        found: Address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(_is_public(part) for part in _with_carried(found))


def _is_public(part: Address) -> bool:
    unicast = part in GLOBAL_UNICAST if isinstance(part, ipaddress.IPv6Address) else not part.is_multicast
    return unicast and part.is_global


def _with_carried(address: Address) -> list[Address]:
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address in NAT64:
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    carried: list[Address | None] = [address.sixtofour, *(address.teredo or ())]
    return [address, *(part for part in carried if part is not None)]


async def public_address(host: str, port: int) -> str:
    """The IP address to connect to for `host`. Raises WebSearchError where any address of it is not public."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise WebSearchError(f"{host} has no address.") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not addresses or not all(is_public(address) for address in addresses):
        raise WebSearchError(f"{host} is no public site: nothing is fetched from it.")
    return addresses[0]


class PublicOnly(httpcore2.AsyncNetworkBackend):
    """Connects by name to public addresses alone.

    The address that was checked is the one that is connected to, so that a name cannot mean another machine a moment
    later (DNS rebinding); TLS still asks for the name. `also` are hosts that may be anywhere: for tests on loopback.
    """

    def __init__(self, also: Collection[str] = ()) -> None:
        self._inner = httpcore2.AnyIOBackend()
        self._also = frozenset(also)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the base class has it
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to `host`. Raises WebSearchError for one that is not public."""
        address = host if host in self._also else await public_address(host, port)
        return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the base class has it
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Never: no web page is there."""
        raise WebSearchError("A socket of this machine is no web page.")

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        await self._inner.sleep(seconds)
