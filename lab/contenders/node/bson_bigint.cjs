// contender: bson (BigInt)
// library: bson
// format: bson
// gives: data
// install: npm install bson
// untrusted: safe
// With `useBigInt64`: every 64-bit integer in the bytes becomes a BigInt.
const { BSON } = require("bson");

const options = { useBigInt64: true };

exports.decode = (bytes) => BSON.deserialize(bytes, options);
exports.encode = (value) => BSON.serialize(value);
exports.version = (of) => of("bson");
