"""A container that resolves singletons for each request. ISOLATE=1 gives each thread its own container."""

import os
import threading
from functools import lru_cache


class Settings:
    currency = "EUR"


class Prices:
    def __init__(self, settings):
        self.settings = settings


class Cart:
    def __init__(self, prices):
        self.prices = prices


class Container:
    def __init__(self):
        self.made = {}
        self.makers = {
            Settings: lambda container: Settings(),
            Prices: lambda container: Prices(container.resolve(Settings)),
            Cart: lambda container: Cart(container.resolve(Prices)),
        }

    def resolve(self, kind):
        found = self.made.get(kind)
        if found is None:
            found = self.made[kind] = self.makers[kind](self)
        return found


@lru_cache(maxsize=64)
def rate(currency):
    return {"EUR": 100}[currency]


shared = Container()
shared.resolve(Cart)
own = threading.local()


def container():
    if os.environ.get("ISOLATE") != "1":
        return shared
    if not hasattr(own, "container"):
        own.container = Container()
    return own.container


def app(environ, start_response):
    total = 0
    for _ in range(300):
        cart = container().resolve(Cart)
        total += rate(cart.prices.settings.currency)
    body = b'{"total": %d}' % total
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
