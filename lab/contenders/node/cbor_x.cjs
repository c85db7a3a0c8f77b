// contender: cbor-x
// library: cbor-x
// usual: yes
// format: cbor
// gives: data
// install: npm install cbor-x
// untrusted: safe
// An Encoder kept between calls, as in its manual. `useRecords` is off: its records are an
// extension that other libraries cannot read; maps are plain objects.
const { Encoder } = require("cbor-x");

const coder = new Encoder({ useRecords: false, mapsAsObjects: true, tagUint8Array: false });

exports.decode = (bytes) => coder.decode(bytes);
exports.encode = (value) => coder.encode(value);
exports.version = (of) => of("cbor-x");
