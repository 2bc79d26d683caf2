"""Define the command-line arguments with which the native load generator runs as a client, for each protocol."""

from core.system import Program

_CHILD = ("--report", "child", "--protocol")
FRAMED = Program(name="loadgen", arguments=(*_CHILD, "framed"))
FRESH = Program(name="loadgen", arguments=(*_CHILD, "framed", "--fresh"))
ECHO = Program(name="loadgen", arguments=(*_CHILD, "echo"))
ECHO_READS = ("NUM_CONNECTIONS_PER_CLIENT", "MESSAGE_BYTES", "TRANSPORT", "NODELAY", "BUFFER_BYTES", "RATE")
ONE_PATH = Program(name="loadgen", arguments=(*_CHILD, "http", "--path", "/"))
LOAD_READS = ("NUM_CONNECTIONS_PER_CLIENT", "NUM_SERVER_THREADS", "KEEP_ALIVE")
