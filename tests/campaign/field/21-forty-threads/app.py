"""Plain `def` endpoints of Starlette share a pool of 40 threads: reports are slow, the cart is not."""

import time

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route


def report(request):
    time.sleep(0.5)  # an answer from another service
    return JSONResponse({"report": "done"})


def cart(request):
    return JSONResponse({"items": 3})


app = Starlette(routes=[Route("/report", report), Route("/cart", cart)])
