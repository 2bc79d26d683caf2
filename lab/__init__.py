"""The orchestrator's code: interpreters, processes and experiments. No measured process imports
this package.

commands/ uses it. It may import core, experiments, systems, record, config and analysis, but not
reports. Its packages import only from those that stand before them in tests/test_import_table.yaml
(key `lab`). What also runs on other hosts, with the standard library alone, is the agent, the
worker and their tasks (lab/hosts), and lab/user_service/service_child.py.
"""
