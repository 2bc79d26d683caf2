"""A download that is streamed from a BytesIO: one message and one hop to a thread for each newline of the file."""

import random
from io import BytesIO

from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

FILE = random.Random(1).randbytes(300_000)  # about 1,200 newline bytes


def streamed(request):
    return StreamingResponse(BytesIO(FILE), media_type="application/octet-stream")


def whole(request):
    return Response(FILE, media_type="application/octet-stream")


app = Starlette(routes=[Route("/download", streamed), Route("/whole", whole)])
