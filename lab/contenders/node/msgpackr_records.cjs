// contender: msgpackr (records)
// library: msgpackr
// usual: yes
// format: msgpack-records
// made from: json
// gives: data
// install: npm install msgpackr
// untrusted: safe
// msgpackr's default: maps with the same keys are written as records of an extension of its own,
// which no other MessagePack library can read.
const { Packr } = require("msgpackr");

// With `structures` in memory, a document could only be read by the process that wrote it.
const packr = new Packr({ int64AsType: "auto" });

exports.decode = (bytes) => packr.unpack(bytes);
exports.encode = (value) => packr.pack(value);
exports.version = (of) => of("msgpackr");
