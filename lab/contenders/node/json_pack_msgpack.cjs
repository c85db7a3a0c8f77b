// contender: json-pack (msgpack)
// library: @jsonjoy.com/json-pack
// usual: yes
// format: msgpack
// gives: data
// install: npm install @jsonjoy.com/json-pack
// untrusted: safe
// An encoder and a decoder kept between calls. Texts may get a longer header than they need.
const { MsgPackDecoder, MsgPackEncoder } = require("@jsonjoy.com/json-pack/lib/msgpack");

const encoder = new MsgPackEncoder();
const decoder = new MsgPackDecoder();

exports.decode = (bytes) => decoder.decode(bytes);
exports.encode = (value) => encoder.encode(value);
exports.version = (of) => of("@jsonjoy.com/json-pack");
