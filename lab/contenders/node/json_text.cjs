// contender: json (to text)
// library: JSON
// format: json
// gives: data
// works on: text
// install: comes with Node.js
// untrusted: safe
// V8's JSON, from string to string: for data that is already text.
exports.takes = "text";
exports.decode = (text) => JSON.parse(text);
exports.encode = (value) => JSON.stringify(value);
exports.version = () => `of V8 ${process.versions.v8}`;
