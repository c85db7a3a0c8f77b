# contender: rapidyaml (tree)
# library: rapidyaml
# format: yaml
# gives: tree
# install: pip install rapidyaml
# untrusted: safe
"""To rapidyaml's own tree and back: it cannot convert to Python values. Text in the tree is stored
as in the file, so a number is not parsed as one."""
import ryml


def decode(data):
    return ryml.parse_in_arena(data)


def encode(tree):
    return ryml.emit_yaml(tree).encode("utf-8")


def version():
    return f"{ryml.__version__} to its own tree"
