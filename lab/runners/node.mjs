// runtime: node
// name: Node.js
// compiles: yes
// suffix: cjs mjs
// command: node {runner} {adapter}
// environment: NODE_PATH={data}/node/node_modules{separator}{NODE_PATH}
// needs: Node.js 14.8 or newer
// have: node --version
// have: npm --version
// debian: nodejs npm
// step: make a folder for the libraries: mkdir -p {data}/node
// step: list them: cp {lab}/contenders/node/package.json {data}/node/package.json
// step: install the pinned libraries into it: npm install --prefix {data}/node --no-audit --no-fund --omit dev

// Runs one Node.js contender for `regauge measure`.
//
//     node node.mjs ADAPTER.cjs
//
// Commands arrive on standard input, one JSON object per line; each is answered by one line of JSON
// on standard output. docs/measure.md lists the commands. If you add a command, add it to the other
// runners and to the native one too: all answer alike.
//
// Adapters are CommonJS modules, because `require` uses NODE_PATH and `import` does not; an .mjs
// adapter has to find its libraries in folders above its own. An adapter's `version` gets a
// function that returns the version of an installed package.

import { randomUUID } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { PerformanceObserver } from "node:perf_hooks";
import { pathToFileURL } from "node:url";

// A library that prints must not break the protocol: answers go to a private copy of standard
// output, and anything printed goes to standard error, which the parent keeps for reports. Node
// has no `dup`, but a descriptor can be opened again by its name, and the lowest free number is
// given out first. Where there are no such names (Windows), only `process.stdout` is redirected.
const redirected = () => {
  let copy;
  try {
    copy = fs.openSync("/dev/fd/1", "a");
  } catch {
    return 1;
  }
  fs.closeSync(1);
  fs.openSync("/dev/fd/2", "a");
  return copy;
};
const ANSWERS = redirected();
const say = (message) => {
  const line = Buffer.from(JSON.stringify(message) + "\n");
  for (let at = 0; at < line.length; ) {
    try {
      at += fs.writeSync(ANSWERS, line, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
};
process.stdout.write = process.stderr.write.bind(process.stderr);

const now = () => process.hrtime.bigint();
// Some libraries quote the whole document. Cut between code points: half of one is not valid JSON.
const told = (error) =>
  [...`${error?.name ?? "Error"}: ${error?.message ?? error}`.slice(0, 1001)].slice(0, 500).join("");

let adapter;
let documents = [];
let data = Buffer.alloc(0);
let objects = [];

const streams = () => typeof adapter.decodeStream === "function";
const bytes = (encoded) => (typeof encoded === "string" ? Buffer.from(encoded, "utf8") : encoded);
const plainOf = (value) => (adapter.toPlain ? adapter.toPlain(value) : value);
const ownOf = (plain) => (adapter.fromPlain ? adapter.fromPlain(plain) : plain);
const spansIn = (file) => JSON.parse(fs.readFileSync(file, "utf8"));

// If the adapter asks for text, it is created before the clock starts: what Node reads from a
// socket or a file may be either.
const prepared = (piece) => (adapter.takes === "text" ? piece.toString("utf8") : piece);

const load = (from, spans) => {
  objects = [];
  data = fs.readFileSync(from);
  documents = [];
  if (spans === null || spans === undefined) {
    documents = [prepared(data)];
  } else {
    const ends = spansIn(spans);
    for (let at = 0; at < ends.length; at += 2) {
      documents.push(prepared(data.subarray(ends[at], ends[at + 1])));
    }
  }
  return { documents: documents.length };
};

// Writes bytes to a file, and the position of each piece next to it.
class Output {
  constructor(name) {
    this.path = name;
    this.file = fs.openSync(name, "w");
    this.spans = [];
    this.position = 0;
  }

  add(piece, line) {
    const chunk = bytes(piece);
    for (let at = 0; at < chunk.length; ) at += fs.writeSync(this.file, chunk, at);
    this.spans.push(this.position, this.position + chunk.length);
    this.position += chunk.length;
    if (line) {
      fs.writeSync(this.file, "\n");
      this.position += 1;
    }
  }

  end() {
    fs.closeSync(this.file);
    fs.writeFileSync(`${this.path}.spans`, JSON.stringify(this.spans));
  }
}

const each = function* () {
  if (streams()) yield* adapter.decodeStream(data);
  else for (const document of documents) yield adapter.decode(document);
};

// Decodes the reference and writes the contender's result, one object at a time.
const check = ({ out, lines }) => {
  const output = new Output(out);
  const began = now();
  let decodeNs = 0n;
  if (streams()) {
    const all = [...adapter.decodeStream(data)];
    decodeNs = now() - began;
    output.add(adapter.encodeStream(all), false);
    output.spans = [];
  } else {
    for (const document of documents) {
      const before = now();
      const object = adapter.decode(document);
      decodeNs += now() - before;
      output.add(adapter.encode(object), lines);
    }
  }
  const whole = now() - began;
  output.end();
  return { documents: documents.length, decode_ns: Number(decodeNs), encode_ns: Number(whole - decodeNs) };
};

// A whole integer of 16 digits or more: not the digits of a fraction or an exponent. The other
// alternatives find where strings begin and end, one short match at a time: a match as long as a
// string of some megabytes overflows the stack.
const LONG_INTEGER = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/;
const TOKENS = new RegExp(`\\\\.|"|${LONG_INTEGER.source}`, "g");

// Parses JSON keeping the digits of its integers: those beyond 2^53 become BigInt. The reference
// bytes of a format must not be poorer than the data, whatever JSON.parse does.
const exactly = (text) => {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text);
  // No key of the data is equal to a random one.
  const mark = randomUUID();
  let inString = false;
  const marked = text.replace(TOKENS, (token) => {
    if (token === '"') inString = !inString;
    const isShort = token[0] === "\\" || token === '"' || Number.isSafeInteger(Number(token));
    return inString || isShort ? token : `{"${mark}":"${token}"}`;
  });
  return JSON.parse(marked, (_, value) =>
    value !== null && typeof value === "object" && mark in value ? BigInt(value[mark]) : value,
  );
};

// An error before the library had the data: it says nothing about the library.
class RunnerError extends Error {}

// Returns a document for the contender's library.
const plainIn = (text) => {
  try {
    return ownOf(exactly(text));
  } catch (error) {
    throw new RunnerError(told(error));
  }
};

// Writes reference bytes in the contender's own format, from JSON documents.
const prepare = ({ path: from, spans, out }) => {
  const file = fs.readFileSync(from);
  const ends = spans ? spansIn(spans) : [0, file.length];
  const output = new Output(out);
  for (let at = 0; at < ends.length; at += 2) {
    const own = plainIn(file.toString("utf8", ends[at], ends[at + 1]));
    output.add(adapter.encode(own), false);
  }
  output.end();
  return { documents: ends.length / 2, bytes: output.position };
};

// Formats a plain value as JSON. The library's result must be shown exactly: a BigInt with its
// digits, and the sign of -0, which JSON.stringify drops.
const json = (value) => {
  if (typeof value === "bigint") return value.toString();
  if (Object.is(value, -0)) return "-0.0";
  if (value instanceof Map) {
    const members = [...value].map(([key, one]) => `${JSON.stringify(String(key))}:${json(one)}`);
    return `{${members.join(",")}}`;
  }
  if (Array.isArray(value)) return `[${value.map(json).join(",")}]`;
  if (value !== null && typeof value === "object" && typeof value.toJSON !== "function") {
    const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${json(one)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
};

// Converts bytes in the contender's own format into JSON lines, which regauge can read.
const reveal = ({ path: from, spans, out }) => {
  load(from, spans);
  const output = new Output(out);
  for (const value of each()) output.add(json(plainOf(value)), true);
  output.end();
  return { documents: documents.length };
};

// Handles each record separately, so that a failing one does not hide the others: it leaves an
// empty span. A record of a stream gets the bytes before the first and after the last (XML).
const sift = (command) => {
  const file = fs.readFileSync(command.path);
  const ends = spansIn(command.spans);
  const [head, tail] = [file.subarray(0, ends[0]), file.subarray(ends.at(-1))];
  const again = (piece) => {
    if (command.json) {
      const own = bytes(adapter.encode(ownOf(exactly(piece.toString("utf8")))));
      return json(plainOf(adapter.decode(prepared(own))));
    }
    if (streams()) {
      const all = [...adapter.decodeStream(Buffer.concat([head, piece, tail]))];
      return adapter.encodeStream(all);
    }
    return adapter.encode(adapter.decode(prepared(piece)));
  };
  const output = new Output(command.out);
  for (let at = 0; at < ends.length; at += 2) {
    let encoded = "";
    try {
      encoded = bytes(again(file.subarray(ends[at], ends[at + 1])));
    } catch {
      // The empty span shows it.
    }
    output.add(encoded, false);
  }
  output.end();
  return { documents: ends.length / 2 };
};

const hold = () => {
  objects = [...each()];
  return { documents: objects.length };
};

// What was made last: the compiler cannot leave out work whose result is kept.
const kept = { last: undefined };

const decodeAll = (times) => {
  if (streams()) {
    for (let time = 0; time < times; time++) {
      for (const record of adapter.decodeStream(data)) kept.last = record;
    }
  } else {
    for (let time = 0; time < times; time++) {
      for (const document of documents) kept.last = adapter.decode(document);
    }
  }
};

const encodeAll = (times) => {
  if (streams()) {
    for (let time = 0; time < times; time++) kept.last = adapter.encodeStream(objects);
  } else {
    for (let time = 0; time < times; time++) {
      for (const object of objects) kept.last = adapter.encode(object);
    }
  }
};

// The collector's pauses. They are reported a turn of the event loop later, and watching them costs
// a little, so only some samples include it.
const watched = async (work) => {
  let [spent, count] = [0, 0];
  const add = (list) => {
    for (const entry of list.getEntries()) {
      spent += entry.duration;
      count += 1;
    }
  };
  const turn = () => new Promise((resolve) => setTimeout(resolve, 1));
  const observer = new PerformanceObserver(add);
  observer.observe({ entryTypes: ["gc"] });
  // Earlier pauses are reported first.
  await turn();
  [spent, count] = [0, 0];
  const ns = work();
  await turn();
  observer.disconnect();
  return { ns, gc_ns: Math.min(ns, Math.round(spent * 1e6)), gc_count: count };
};

// Times `iterations` passes over the loaded data, decoding or encoding.
const sample = ({ op, iterations, gc }) => {
  const work = op === "decode" ? decodeAll : encodeAll;
  const timed = () => {
    const began = now();
    work(iterations);
    const ns = Number(now() - began);
    kept.last = undefined;
    return ns;
  };
  if (gc) return watched(timed);
  const cpu = process.cpuUsage();
  const ns = timed();
  const spent = process.cpuUsage(cpu);
  return { ns, cpu_ns: (spent.user + spent.system) * 1000 };
};

const commands = {
  load: (command) => load(command.path, command.spans),
  check,
  prepare,
  reveal,
  sift,
  hold,
  sample,
};

const answer = async (line) => {
  const command = JSON.parse(line);
  if (command.do === "exit") process.exit(0);
  try {
    const work = commands[command.do];
    if (!work) throw new TypeError(`the runner knows no command "${command.do}"`);
    say({ ok: true, ...(await work(command)) });
  } catch (error) {
    if (error instanceof RunnerError) say({ ok: false, error: error.message, by: "runner" });
    else say({ ok: false, error: told(error) });
  }
};

// Returns the version of the package that the adapter finds under this name.
const versionOf = (name) => {
  const find = createRequire(path.resolve(process.argv[2]));
  const places = find.resolve.paths(name).map((folder) => path.join(folder, name, "package.json"));
  const place = places.find((one) => fs.existsSync(one));
  return place ? JSON.parse(fs.readFileSync(place, "utf8")).version : "not known";
};

const runtime = `Node.js ${process.versions.node}`;
try {
  const module = await import(pathToFileURL(process.argv[2]));
  adapter = module.decode || module.decodeStream ? module : module.default;
  say({ ok: true, runtime, version: String(adapter.version(versionOf)), gc: `V8 ${process.versions.v8}` });
} catch (error) {
  const absent = error?.code === "MODULE_NOT_FOUND" || error?.code === "ERR_MODULE_NOT_FOUND";
  const first = String(error?.message ?? error).split("\n")[0];
  say(absent ? { ok: false, missing: first, runtime } : { ok: false, error: told(error), runtime });
  process.exit(0);
}

let rest = "";
process.stdin.setEncoding("utf8");
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) await answer(line);
}
