"""Start, watch and end a user's own service.

service_child.py is the child process that does so for the orchestrator, on this machine or on
another host, with the standard library alone. It uses command.py (the service's process),
readiness.py, ports.py, holders.py (who serves an address, with how many workers) and
process_memory.py (which Python a process runs, and whether its GIL is on). service_files.py runs in
the orchestrator, and packs what another host needs. lab/run/fingerprints.py counts these files as
measured code.
"""
