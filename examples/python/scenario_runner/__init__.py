"""Plays conformance scenarios with the Python client as the devices."""
