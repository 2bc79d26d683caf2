"""How other projects serve /calc, one file each: docs/alternatives.md. Each imports only its own package."""
