"""The plots of a run. Only this package imports matplotlib, which takes a while."""
