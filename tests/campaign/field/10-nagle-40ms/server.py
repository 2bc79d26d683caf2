"""The standard library's server as people start it: HTTP/1.1, head and body written apart. Usage: server.py PORT"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Status(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = json.dumps({"up": True, "path": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Status).serve_forever()
