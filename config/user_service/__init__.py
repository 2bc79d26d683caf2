"""A service of the user's own: the plan that its flags or its YAML describe. docs/own-service.md."""
