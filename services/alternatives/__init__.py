"""How other projects would serve /calc, one file each: docs/alternatives.md. Each imports its own package, no other."""
