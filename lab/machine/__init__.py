"""Describe the machine, find what disturbs measurements on it, and suggest how to make
it quieter.

host.py and quiet.py read facts from /proc and /sys, link.py measures the network to another host,
and wakeups.py keeps cores awake. On other hosts, the worker (lab/hosts/worker.py) runs these, so
they import only the standard library and gilscope. machine_rules.py judges the facts of quiet.py
with the limits that docs/machine.md lists. It runs in the orchestrator alone.
"""
