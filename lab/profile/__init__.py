"""Where a service spends its time, by linux-perf."""
