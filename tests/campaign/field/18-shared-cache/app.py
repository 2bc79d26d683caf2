"""A cache of recent prices in plain Python, shared by all threads without a lock."""

from answers import answer


class Recent:
    def __init__(self, most):
        self.most, self.kept = most, {}

    def get(self, key, make):
        if key in self.kept:
            value = self.kept[key] = self.kept.pop(key)  # now the most recent
            return value
        value = self.kept[key] = make(key)
        if len(self.kept) > self.most:
            self.kept.pop(next(iter(self.kept)))
        return value


prices = Recent(8)


def app(environ, start_response):
    total = sum(prices.get(number % 12, lambda key: key * 10) for number in range(0, 700, 7))
    return answer(start_response, {"total": total})
