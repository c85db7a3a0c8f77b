// contender: test lossy
// library: lossy
// format: json
// gives: data
// install: npm install lossy
// untrusted: safe
// Loses the order of keys, and the sign of zero as JSON.stringify does.
exports.decode = (bytes) => JSON.parse(bytes);
exports.encode = (value) => {
  const sorted = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(Object.fromEntries(sorted));
};
exports.version = () => "1.0";
