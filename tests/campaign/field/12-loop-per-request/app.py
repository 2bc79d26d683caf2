"""A threaded WSGI service whose handlers are coroutines: each request makes, runs and closes an event loop."""

import asyncio
import json


async def price(number):
    await asyncio.sleep(0)
    return sum(range(number))


async def basket():
    return await asyncio.gather(*(price(number) for number in (50, 60, 70, 80)))


def app(environ, start_response):
    prices = asyncio.run(basket())
    body = json.dumps({"prices": prices}).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
