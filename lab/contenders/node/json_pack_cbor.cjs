// contender: json-pack (cbor)
// library: @jsonjoy.com/json-pack
// usual: yes
// format: cbor
// gives: data
// install: npm install @jsonjoy.com/json-pack
// untrusted: safe
// An encoder and a decoder kept between calls. Texts may get a longer header than they need.
const { CborDecoder, CborEncoder } = require("@jsonjoy.com/json-pack/lib/cbor");

const encoder = new CborEncoder();
const decoder = new CborDecoder();

exports.decode = (bytes) => decoder.decode(bytes);
exports.encode = (value) => encoder.encode(value);
exports.version = (of) => of("@jsonjoy.com/json-pack");
