// contender: test honest
// library: honest
// format: json
// gives: data
// install: npm install honest
// untrusted: safe
// Gives back what it got, and prints.
exports.decode = (bytes) => {
  console.log("a library that talks");
  return JSON.parse(bytes);
};
exports.encode = (value) => JSON.stringify(value);
exports.version = () => "1.0";
