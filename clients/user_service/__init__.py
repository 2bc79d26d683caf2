"""The client of a user's service. It sends the requests of a plan over HTTP/1.1.

systems/__main__.py makes it if the child's first line has the key `own`. The standard library is
enough for it. What it cannot send, such as HTTP/2, native/loadgen sends
(core.user_service.only_native).
"""
