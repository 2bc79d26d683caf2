"""Runs child processes on other hosts, which a command such as ssh or docker reaches. An agent on
each host starts, relays and ends the children.

The runner is the process in which the user started gilscope. commands/chosen.py opens a HostCluster
there, and lab/run measures with it as with lab/run/cell_places.py:CellPlaces. These modules run in
the runner: cluster.py (all hosts), place.py and connection.py (one host), carrier.py (the command,
and the code that is sent) and remote_process.py (a child there).
These run on a host, with the standard library and gilscope alone, in the syntax of Python 3.11:
boot.py, agent.py and worker.py. protocol.py is for both sides.
"""
