"""Writers of tools/caches_generate.py: a module for each group of frameworks, and what they share."""
