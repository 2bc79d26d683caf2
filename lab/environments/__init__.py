"""Environments: the packages that systems need, installed for each runtime."""
