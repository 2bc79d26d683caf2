"""Make the plan for a user's own service from flags or YAML. See docs/own-service.md."""
