"""A container that resolves singletons for each request."""

from functools import lru_cache

from answers import answer


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


def app(environ, start_response):
    total = 0
    for _ in range(300):
        cart = shared.resolve(Cart)
        total += rate(cart.prices.settings.currency)
    return answer(start_response, {"total": total})
