// contender: @msgpack/msgpack (BigInt)
// library: @msgpack/msgpack
// format: msgpack
// gives: data
// install: npm install @msgpack/msgpack
// untrusted: safe
// With `useBigInt64`: every 64-bit integer in the bytes becomes a BigInt and keeps its digits.
const { Encoder, Decoder } = require("@msgpack/msgpack");

const encoder = new Encoder({ useBigInt64: true });
const decoder = new Decoder({ useBigInt64: true });

exports.decode = (bytes) => decoder.decode(bytes);
exports.encode = (value) => encoder.encode(value);
exports.version = (of) => of("@msgpack/msgpack");
