"""A Flask application with one view for each URL and method, as in Flask's quickstart.

Refused requests get gilscope's JSON; 404 and 405 are Flask's own pages.
Source: flask.palletsprojects.com/en/stable/quickstart/

alt_systems.py has the commands that serve `app`. It runs in the server's process, under the
measured runtime.
"""

from flask import Flask, Response, request

from core.work import Refused, error_answer, route
from experiments.league.http_answer import CONTENT_TYPE

app = Flask("calculator")
# looked up once, because Flask has already chosen the view
calculate = route("POST", "/calc")


@app.post("/calc")  # type: ignore[untyped-decorator]
def calc() -> Response:
    """Answer a request to calculate."""
    params = request.get_json()
    if type(params) is not dict:
        raise Refused(400, "the request's body is not a JSON object")
    return Response(calculate(params), content_type=CONTENT_TYPE)


@app.errorhandler(Refused)  # type: ignore[untyped-decorator]
def refuse(refused: Refused) -> Response:
    """Return the answer to a request that the application refuses: the error's code and text."""
    return Response(
        error_answer(refused.code, str(refused)), refused.code, content_type=CONTENT_TYPE
    )
