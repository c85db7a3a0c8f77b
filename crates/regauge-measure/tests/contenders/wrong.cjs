// contender: test wrong
// library: wrong
// format: json
// gives: data
// install: npm install wrong
// untrusted: safe
// Changes a value on the way.
exports.decode = (bytes) => JSON.parse(bytes);
exports.encode = (value) => JSON.stringify({ ...value, name: "another" });
exports.version = () => "1.0";
