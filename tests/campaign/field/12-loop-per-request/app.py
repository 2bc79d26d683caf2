"""A threaded WSGI service whose handlers are coroutines: each request makes, runs and closes an event loop."""

import asyncio

from answers import answer


async def price(number):
    await asyncio.sleep(0)
    return sum(range(number))


async def basket():
    return await asyncio.gather(*(price(number) for number in (50, 60, 70, 80)))


def app(environ, start_response):
    return answer(start_response, {"prices": asyncio.run(basket())})
