"""Orchestration: interpreters, processes, experiments. Runs in the orchestrator, never in a measured process."""
