"""What a run says: verdicts, topology, memory, scaling, fairness and the machine's limit, in sentences."""
