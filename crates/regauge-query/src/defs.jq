# Definitions that replace or complete those of jaq. What JSON lacks is between texts and arrays in the
# order of values, so the types are told apart by `kind`.

def isboolean: kind == "bool";
def isnumber: kind | . == "integer" or . == "float" or . == "single" or . == "decimal" or . == "decimal128";
def isstring: kind | . == "text" or . == "symbol";
def isarray: kind == "array";
def isobject: kind == "map";
def type:
  if isboolean then "boolean"
  elif isnumber then "number"
  elif isstring then "string"
  elif isobject then "object"
  else kind end;

def values: select(. != null);
def nulls: select(. == null);
def booleans: select(isboolean);
def numbers: select(isnumber);
def strings: select(isstring);
def arrays: select(isarray);
def objects: select(isobject);
def iterables: select(isarray or isobject);
def scalars: select((isarray or isobject) | not);

def nan: nan_value;
def infinite: infinite_value;
def isnan: is_nan;
def abs: absolute;
def halt_error: error;
def halt_error($code): error;
def tonumber: to_number;
def isinfinite: . == infinite or . == -infinite;
def isfinite: isnumber and (isinfinite | not);
def isnormal: isnumber and ((. == 0 or isnan or isinfinite) | not);
def finites: select(isfinite);
def normals: select(isnormal);
def logb: if . == 0 then -infinite elif isinfinite then infinite elif isnan then . else ilogb end;
def gamma: lgamma;
def nearbyint: rint;
def significand: if . == 0 or isinfinite or isnan then . else scalbln(.; -ilogb) end;

def toboolean:
  if isboolean then .
  elif . == "true" then true
  elif . == "false" then false
  else error("\(type) (\(tojson)) cannot be parsed as a boolean") end;

def in(xs): . as $x | xs | has($x);
def inside(xs): . as $x | xs | contains($x);
def index($i): indices($i) | .[0];
def rindex($i): indices($i) | .[-1];
def transpose: if . == [] then [] else [range(map(length) | max) as $i | [.[][$i]]] end;
def toarray: if isarray then . else [.] end;
def flatten($depth):
  if $depth < 0 then error("flatten depth must not be negative")
  else [.[] | if isarray and $depth > 0 then flatten($depth - 1)[] else . end] end;
def flatten: flatten(1000);

def ascii: [.] | implode;
# A time; NaN is none.
def known_time: if isnumber and isnan then error("cannot convert nan to time") else . end;
def strftime($format): known_time | strftime_of($format);
def strflocaltime($format): known_time | strflocaltime_of($format);
def gmtime: known_time | gmtime_of;
def localtime: known_time | localtime_of;
def todateiso8601: known_time | todateiso8601_of;
def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def dateadd(u; n): . + n;
def datesub(u; n): . - n;
def date: todate;

def paths: path(..) | select(length > 0);
def paths(f): path(.. | select(f)) | select(length > 0);
def leaf_paths: paths(scalars);
def delpaths($paths): delete_paths($paths);
def del(f): delpaths([path(f)]);
def to_entries: [key_values[] as [$key, $value] | {$key, $value}];
def entry_key: if . == null then . elif has("key") then .key elif has("k") then .k elif has("name") then .name
  elif has("Name") then .Name elif has("Key") then .Key else .K end;
def entry_value: if has("value") then .value elif has("v") then .v elif has("Value") then .Value else .V end;
def entries_by(key): reduce .[] as $x ({}; . + { ($x | entry_key | key): ($x | entry_value) });
# As in jq, which makes texts of numbers, since its maps have no other keys.
def from_entries: entries_by(if . == null then "null" elif isboolean or isnumber then tostring else . end);
# A map that has other keys keeps them.
def with_entries(f):
  to_entries
  | if all(.[]; .key | isstring) then map(f) | from_entries else map(f) | entries_by(.) end;
def walk(f): def w: if isobject then map_values(w) elif isarray then map(w) else . end | f; w;
def env: $ENV;
def marc($spec): getpath(marc_paths($spec)[]);

def tostream: path(def r: (.[]?|r), .; r) as $p | getpath($p)
  | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);
def fromstream(f): {x: null, e: false} as $init
  | foreach f as $i ($init;
      if .e then $init else . end
      | if $i | length == 2
        then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1])
        else setpath(["e"]; $i[0] | length == 1) end;
      if .e then .x else empty end);
def truncate_stream(stream): . as $n | null | stream | . as $input
  | if (.[0] | length) > $n then setpath([0]; .[0][$n:]) else empty end;

def limit($n; f): if $n < 0 then error("limit doesn't support negative count") else limit_of($n; f) end;
def skip($n; f): if $n < 0 then error("skip doesn't support negative count") else skip_of($n; f) end;
def nth($n; f):
  if $n < 0 then error("nth doesn't support negative indices") else first(skip_of($n; f)) end;
def pick(f): . as $top | reduce path(f) as $p (null; setpath($p; $top | getpath($p)));
def have_literal_numbers: true;
def have_decnum: true;

def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] |= $row);
def INDEX(f): INDEX(.[]; f);
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def JOIN($index; f): [.[] | [., $index[f]]];
def JOIN($index; stream; f): stream | [., $index[f]];
def JOIN($index; stream; f; g): stream | [., $index[f]] | g;
# A regular expression, or an array of one and its flags.
def re_of: if isarray then .[0] else . end;
def flags_of: if isarray then .[1] else null end;
def test($re): test($re | re_of; $re | flags_of);
def match($re): match($re | re_of; $re | flags_of);
def capture($re): capture($re | re_of; $re | flags_of);
def scan($re; flags): matches($re; "g" + flags)[] | if .[1] then [.[1:][].string] else .[0].string end;
def scan($re): scan($re | re_of; $re | flags_of);
def splits($re; flags): split($re; flags)[];
# Kinds with a usual notation besides that of JSON.
def has_notation: kind | . == "timestamp" or . == "date" or . == "time" or . == "datetime" or . == "offset datetime"
  or . == "uuid" or . == "objectid";
def join($sep): reduce .[] as $x (null;
  (if . == null then "" else . + $sep end)
  + ($x | if . == null then "" elif isstring then . elif isboolean or isnumber then tostring
    elif has_notation then tostring else error("cannot join with \(type)") end)) // "";
def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $w | [$x] + $w end;
def combinations($n): . as $dot | [range($n)] | map($dot) | combinations;

def @text: tostring;
def @json: tojson;
def @base64: bytes_base64;
# Returns a value that is not text as a row holds it.
def cell(what): if . == null then "" elif isboolean then tostring
  elif isnumber and (isnan or isinfinite | not) then tostring
  else error("\(type) (\(tojson)) is not valid in a \(what) row") end;
def is_text: isstring or has_notation;
# The elements of a row, which is an array.
def cells(what): if isarray then .[] else error("\(type) (\(tojson)) cannot be \(what)-formatted, only an array can be") end;
def @csv: [cells("csv") | if is_text then "\"" + (tostring | gsub("\""; "\"\"")) + "\"" else cell("csv") end] | join(",");
def @tsv: [cells("tsv") | if is_text
  then tostring | gsub("\\\\"; "\\\\") | gsub("\t"; "\\t") | gsub("\n"; "\\n") | gsub("\r"; "\\r")
  else cell("tsv") end] | join("\t");
