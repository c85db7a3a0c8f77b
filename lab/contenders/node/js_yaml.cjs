// contender: js-yaml
// library: js-yaml
// usual: yes
// format: yaml
// gives: data
// install: npm install js-yaml
// untrusted: safe
// Its defaults, without folding long lines, and with repeated objects written out.
const yaml = require("js-yaml");

const decoder = new TextDecoder();
const options = { lineWidth: -1, noRefs: true };

exports.decode = (bytes) => yaml.load(decoder.decode(bytes));
exports.encode = (value) => Buffer.from(yaml.dump(value, options));
exports.version = (of) => of("js-yaml");
