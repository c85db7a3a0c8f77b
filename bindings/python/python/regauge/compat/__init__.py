"""Drop-in replacements: `from regauge.compat import pymarc`."""
