// contender: bson
// library: bson
// usual: yes
// format: bson
// gives: data
// install: npm install bson
// untrusted: safe
// MongoDB's own package with its defaults, which turn every 64-bit integer that a double can hold
// into a number, and others into a Long.
const { BSON } = require("bson");

exports.decode = (bytes) => BSON.deserialize(bytes);
exports.encode = (value) => BSON.serialize(value);
exports.version = (of) => of("bson");
