"""What all rows of the HTTP experiment have in common: the server and the parameters that they read."""

from core.system import SIZES, Program, System

READS = ("NUM_CONNECTIONS_PER_CLIENT", "DELAY_US", "NUM_SERVER_THREADS")
SERVER = Program(name="axum-server", arguments=("--child",))
ROW = System(name="http", title="HTTP", group="http-clients", common=SIZES, reads=READS, native_service=SERVER)
