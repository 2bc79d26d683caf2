"""Profiles of a running service: CPU time, Python stacks and contended locks.

lab/run/profiling.py makes them after a run, in extra measurements. `--profile python`: the samples
come from core/inside/stacks_sampler.py, and stack_samples.py sums them up. `--profile locks`:
lock_watcher.py records on the services' host. It uses uprobes.py (probes), frames.py (stacks) and
lock_waits.py (joins both), after a self-test. lock_report.py makes the summary.
On other hosts the worker (lab/hosts) records, so all but stack_samples.py and lock_report.py import
only the standard library and gilscope. record/result_parts.py has the types of what is saved.
"""
