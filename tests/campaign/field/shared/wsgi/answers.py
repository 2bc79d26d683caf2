"""How the WSGI services of the field answer."""

import json


def answer(start_response, content):
    body = json.dumps(content).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
