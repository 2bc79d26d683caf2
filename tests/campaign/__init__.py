"""Campaigns: what must hold whatever happens, against real processes; seeds are printed."""
