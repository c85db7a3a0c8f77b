// contender: yaml
// library: yaml
// format: yaml
// gives: data
// install: npm install yaml
// untrusted: safe
// The package `yaml`, which on request reads large integers as BigInt; here with its defaults.
const yaml = require("yaml");

const decoder = new TextDecoder();

exports.decode = (bytes) => yaml.parse(decoder.decode(bytes));
exports.encode = (value) => Buffer.from(yaml.stringify(value, { lineWidth: 0 }));
exports.version = (of) => of("yaml");
