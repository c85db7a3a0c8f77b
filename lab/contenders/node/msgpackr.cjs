// contender: msgpackr
// library: msgpackr
// usual: yes
// format: msgpack
// gives: data
// install: npm install msgpackr
// untrusted: safe
// As its manual shows first: a Packr kept between calls, here without the extension for records,
// which is no plain MessagePack. 64-bit integers come as BigInt where a double would lose digits.
const { Packr } = require("msgpackr");

const packr = new Packr({ useRecords: false, int64AsType: "auto" });

exports.decode = (bytes) => packr.unpack(bytes);
exports.encode = (value) => packr.pack(value);
exports.version = (of) => of("msgpackr");
