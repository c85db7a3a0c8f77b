// contender: @msgpack/msgpack
// library: @msgpack/msgpack
// usual: yes
// format: msgpack
// gives: data
// install: npm install @msgpack/msgpack
// untrusted: safe
// Encoder and Decoder kept between calls, as the manual recommends for speed. 64-bit integers
// become numbers by default, and lose digits beyond 2^53.
const { Encoder, Decoder } = require("@msgpack/msgpack");

const encoder = new Encoder();
const decoder = new Decoder();

exports.decode = (bytes) => decoder.decode(bytes);
exports.encode = (value) => encoder.encode(value);
exports.version = (of) => of("@msgpack/msgpack");
