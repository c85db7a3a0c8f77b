// contender: json
// library: JSON
// usual: yes
// format: json
// gives: data
// install: comes with Node.js
// untrusted: safe
// JSON of V8, from bytes to bytes: TextDecoder and Buffer.from are a part of it, because files and
// sockets hold bytes.
const decoder = new TextDecoder();

exports.decode = (bytes) => JSON.parse(decoder.decode(bytes));
exports.encode = (value) => Buffer.from(JSON.stringify(value));
exports.version = () => `of V8 ${process.versions.v8}`;
