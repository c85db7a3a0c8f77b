// contender: v8.serialize
// library: v8
// usual: yes
// format: v8
// made from: json
// gives: data
// install: comes with Node.js
// untrusted: its manual warns that bytes from strangers may crash the process
// V8's structured clone format. It can be read by the same version or a newer one.
const v8 = require("node:v8");

exports.decode = (bytes) => v8.deserialize(bytes);
exports.encode = (value) => v8.serialize(value);
exports.version = () => `of V8 ${process.versions.v8}`;
