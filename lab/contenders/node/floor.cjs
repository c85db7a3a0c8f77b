// contender: floor
// library: floor
// format: json
// gives: data
// install: comes with Node.js
// untrusted: safe
// floor: yes
// No contender: what building the objects costs with no parsing, and writing with no walk.
//
// Each document becomes a literal in a function, compiled before the clock starts. To call it makes
// every object and array anew, in the shape that V8 has worked out for the literal; texts are values
// in JavaScript, so the literal's own are given. Encoding copies the finished bytes once.

// As a literal of JavaScript: JSON is one, but for the key that would set the prototype.
const literal = (value) => {
  if (Array.isArray(value)) return `[${value.map(literal).join(",")}]`;
  if (value === null || typeof value !== "object") return Object.is(value, -0) ? "-0" : JSON.stringify(value);
  const name = (key) => (key === "__proto__" ? '["__proto__"]' : JSON.stringify(key));
  return `{${Object.keys(value).map((key) => `${name(key)}:${literal(value[key])}`).join(",")}}`;
};

exports.floorPrepare = (bytes) => {
  const build = new Function(`return ${literal(JSON.parse(bytes.toString("utf8")))}`);
  // The shapes are worked out by the first call.
  build();
  return build;
};
exports.floorEncode = (bytes) => Buffer.from(bytes);
exports.decode = (build) => build();
// For the check alone, which has to see that the objects are right.
exports.encode = (value) => Buffer.from(JSON.stringify(value));
exports.version = () => `literals of V8 ${process.versions.v8}`;
