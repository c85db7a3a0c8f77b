// contender: json (to text)
// library: JSON
// format: json
// gives: data
// install: comes with Node.js
// untrusted: safe
// JSON of V8, from a string to a string: for those who have text already.
exports.takes = "text";
exports.decode = (text) => JSON.parse(text);
exports.encode = (value) => JSON.stringify(value);
exports.version = () => `of V8 ${process.versions.v8}`;
