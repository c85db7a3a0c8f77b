// contender: msgpackr
// library: msgpackr
// usual: yes
// format: msgpack
// gives: data
// install: npm install msgpackr
// untrusted: safe
// As in the first example of its manual: a Packr kept between calls, here without the record
// extension, which is not plain MessagePack. 64-bit integers become BigInt if a double would lose
// digits.
const { Packr } = require("msgpackr");

const packr = new Packr({ useRecords: false, int64AsType: "auto" });

exports.decode = (bytes) => packr.unpack(bytes);
exports.encode = (value) => packr.pack(value);
exports.version = (of) => of("msgpackr");
