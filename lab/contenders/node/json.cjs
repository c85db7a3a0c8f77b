// contender: json
// library: JSON
// usual: yes
// format: json
// gives: data
// install: comes with Node.js
// untrusted: safe
// V8's JSON, from bytes to bytes: TextDecoder and Buffer.from are included, because files and
// sockets hold bytes.
const decoder = new TextDecoder();

exports.decode = (bytes) => JSON.parse(decoder.decode(bytes));
exports.encode = (value) => Buffer.from(JSON.stringify(value));
exports.version = () => `of V8 ${process.versions.v8}`;
