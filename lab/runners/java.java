// runtime: java
// name: Java
// compiles: yes
// suffix: java
// command: java -Xms128m -cp {built}{separator}{data}/java/* Runner
// environment: CLASSPATH={data}/java/*
// build: javac -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -nowarn -proc:none -encoding UTF-8 -d {built} {runner} {adapter}
// absent: does not exist
// have: javac -version
// have: mvn --version
// debian: default-jdk-headless maven
// step: fetch the jars: mvn -B -q -f {lab}/contenders/java/pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory={data}/java

// Runs one Java contender for `regauge measure`. It is compiled together with the adapter, a class
// `Contender` with static methods, so that calls between them are direct.
//
// Commands arrive on standard input, one JSON object per line; each is answered by one line of JSON
// on the original standard output. docs/measure.md lists the commands. If you add a command, add it
// to the other runners and to the native one too: all answer alike.

import java.io.BufferedReader;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

final class Runner {
    // A library that prints must not break the protocol: answers go to the descriptor itself, and
    // anything printed goes to standard error, which the parent keeps for reports.
    private static final PrintStream ANSWERS =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

    private static final List<GarbageCollectorMXBean> COLLECTORS =
            ManagementFactory.getGarbageCollectorMXBeans();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    // A contender has either these two or decode and encode; a stream is one call, so that the time
    // of the reflection is negligible.
    private static final Method DECODE_STREAM = optional("decodeStream", byte[].class);
    private static final Method ENCODE_STREAM = optional("encodeStream", Iterable.class);
    private static final Method FROM_PLAIN = optional("fromPlain", Object.class);
    private static final Method TO_PLAIN = optional("toPlain", Object.class);

    private static byte[] data = {};
    private static byte[][] documents = {};
    private static Object[] objects = {};

    /** Keeps the results, so that no work is optimised away. */
    static volatile Object kept;

    public static void main(String[] arguments) throws IOException {
        System.setOut(System.err);
        String runtime = "Java " + System.getProperty("java.version");
        try {
            String collectors = COLLECTORS.stream().map(GarbageCollectorMXBean::getName)
                    .collect(Collectors.joining(", "));
            say(Map.of("ok", true, "runtime", runtime, "version",
                    String.valueOf(Contender.version()), "gc", collectors));
        } catch (NoClassDefFoundError error) {
            say(Map.of("ok", false, "missing", "no class " + error.getMessage(), "runtime", runtime));
            return;
        } catch (Throwable error) {
            say(Map.of("ok", false, "error", told(error), "runtime", runtime));
            return;
        }
        BufferedReader commands =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = commands.readLine()) != null; ) {
            Map<String, Object> command = Json.object(Json.read(line));
            if ("exit".equals(command.get("do"))) {
                return;
            }
            Map<String, Object> answer = new LinkedHashMap<>();
            try {
                answer.put("ok", true);
                answer.putAll(answer(command));
            } catch (RunnerError error) {
                answer = Map.of("ok", false, "error", error.getMessage(), "by", "runner");
            } catch (Throwable error) {
                // A stack overflow or an out-of-memory error is also the contender's failure.
                answer = Map.of("ok", false, "error", told(error));
            }
            say(answer);
        }
    }

    private static Map<String, Object> answer(Map<String, Object> command) throws Throwable {
        String name = String.valueOf(command.get("do"));
        switch (name) {
            case "load":
                load(text(command, "path"), text(command, "spans"));
                return Map.of("documents", documents.length);
            case "check":
                return check(text(command, "out"), Boolean.TRUE.equals(command.get("lines")));
            case "prepare":
                return prepare(command);
            case "reveal":
                return reveal(command);
            case "sift":
                return sift(command);
            case "hold":
                objects = all().toArray();
                return Map.of("documents", objects.length);
            case "sample":
                return sample(text(command, "op"), ((Number) command.get("iterations")).longValue());
            default:
                throw new IllegalArgumentException("the runner knows no command \"" + name + "\"");
        }
    }

    private static void load(String path, String spans) throws Exception {
        objects = new Object[0];
        data = Files.readAllBytes(Path.of(path));
        documents = cut(data, spans == null ? new int[] {0, data.length} : spansIn(spans));
    }

    private static byte[][] cut(byte[] bytes, int[] ends) {
        byte[][] pieces = new byte[ends.length / 2][];
        for (int at = 0; at < pieces.length; at++) {
            pieces[at] = Arrays.copyOfRange(bytes, ends[2 * at], ends[2 * at + 1]);
        }
        return pieces;
    }

    private static int[] spansIn(String path) throws IOException {
        List<?> ends = (List<?>) Json.read(Files.readString(Path.of(path)));
        return ends.stream().mapToInt(end -> ((Number) end).intValue()).toArray();
    }

    private static List<Object> all() throws Throwable {
        List<Object> list = new ArrayList<>();
        if (DECODE_STREAM != null) {
            stream(data).forEach(list::add);
        } else {
            for (byte[] document : documents) {
                list.add(Contender.decode(document));
            }
        }
        return list;
    }

    private static Iterable<?> stream(byte[] bytes) throws Throwable {
        return (Iterable<?>) call(DECODE_STREAM, bytes);
    }

    /** Decodes the reference and writes the contender's result, one object at a time. */
    private static Map<String, Object> check(String out, boolean lines) throws Throwable {
        long began = System.nanoTime();
        long decodeNs = 0;
        int count = 0;
        try (Output output = new Output(out)) {
            if (DECODE_STREAM != null) {
                List<Object> list = all();
                decodeNs = System.nanoTime() - began;
                output.add((byte[]) call(ENCODE_STREAM, list), false);
                count = list.size();
            } else {
                for (byte[] document : documents) {
                    long before = System.nanoTime();
                    Object object = Contender.decode(document);
                    decodeNs += System.nanoTime() - before;
                    output.add(Contender.encode(object), lines);
                    count++;
                }
            }
        }
        long whole = System.nanoTime() - began;
        return Map.of("documents", count, "decode_ns", decodeNs, "encode_ns", whole - decodeNs);
    }

    /** An error before the library had the data: it says nothing about the library. */
    private static final class RunnerError extends Exception {
        RunnerError(Throwable cause) {
            super(told(cause), cause);
        }
    }

    /** Returns a document for the contender's library. */
    private static Object plainIn(byte[] document) throws RunnerError {
        try {
            return own(Json.read(new String(document, StandardCharsets.UTF_8)));
        } catch (Exception | StackOverflowError error) {
            throw new RunnerError(error);
        }
    }

    /** Writes reference bytes in the contender's own format, from JSON documents. */
    private static Map<String, Object> prepare(Map<String, Object> command) throws Throwable {
        load(text(command, "path"), text(command, "spans"));
        long bytes;
        try (Output output = new Output(text(command, "out"))) {
            for (byte[] document : documents) {
                output.add(Contender.encode(plainIn(document)), false);
            }
            bytes = output.position;
        }
        return Map.of("documents", documents.length, "bytes", bytes);
    }

    /** Converts bytes in the contender's own format into JSON lines, which regauge can read. */
    private static Map<String, Object> reveal(Map<String, Object> command) throws Throwable {
        load(text(command, "path"), text(command, "spans"));
        int count = 0;
        try (Output output = new Output(text(command, "out"))) {
            for (Object value : all()) {
                output.add(Json.write(plain(value)), true);
                count++;
            }
        }
        return Map.of("documents", count);
    }

    /**
     * Handles each record separately, so that a failing one does not hide the others: it leaves an
     * empty span. A record of a stream gets the bytes before the first and after the last (XML).
     */
    private static Map<String, Object> sift(Map<String, Object> command) throws Throwable {
        byte[] file = Files.readAllBytes(Path.of(text(command, "path")));
        int[] ends = spansIn(text(command, "spans"));
        byte[] head = Arrays.copyOfRange(file, 0, ends[0]);
        byte[] tail = Arrays.copyOfRange(file, ends[ends.length - 1], file.length);
        boolean json = Boolean.TRUE.equals(command.get("json"));
        try (Output output = new Output(text(command, "out"))) {
            for (byte[] piece : cut(file, ends)) {
                byte[] encoded;
                try {
                    encoded = json ? throughJson(piece) : again(head, piece, tail);
                } catch (Exception | StackOverflowError error) {
                    encoded = new byte[0];
                }
                output.add(encoded, false);
            }
        }
        return Map.of("documents", ends.length / 2);
    }

    private static byte[] throughJson(byte[] piece) throws Exception {
        Object plain = Json.read(new String(piece, StandardCharsets.UTF_8));
        return Json.write(plain(Contender.decode(Contender.encode(own(plain)))));
    }

    private static byte[] again(byte[] head, byte[] piece, byte[] tail) throws Exception {
        if (DECODE_STREAM == null) {
            return Contender.encode(Contender.decode(piece));
        }
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        for (byte[] part : List.of(head, piece, tail)) {
            whole.write(part);
        }
        return (byte[]) call(ENCODE_STREAM, call(DECODE_STREAM, whole.toByteArray()));
    }

    /** Times {@code iterations} passes over the loaded data, decoding or encoding. */
    private static Map<String, Object> sample(String op, long iterations) throws Throwable {
        boolean decode = op.equals("decode");
        long collected = collectedNs();
        long collections = collections();
        // Of this thread: that of the process counts in steps of 10 ms, more than a sample takes.
        long cpu = THREADS.getCurrentThreadCpuTime();
        long began = System.nanoTime();
        if (decode) {
            decodeAll(iterations);
        } else {
            encodeAll(iterations);
        }
        long spent = System.nanoTime() - began;
        return Map.of("ns", spent, "cpu_ns", THREADS.getCurrentThreadCpuTime() - cpu,
                "gc_ns", collectedNs() - collected, "gc_count", collections() - collections);
    }

    private static void decodeAll(long times) throws Throwable {
        for (long time = 0; time < times; time++) {
            if (DECODE_STREAM != null) {
                for (Object record : stream(data)) {
                    kept = record;
                }
            } else {
                for (byte[] document : documents) {
                    kept = Contender.decode(document);
                }
            }
        }
    }

    private static void encodeAll(long times) throws Throwable {
        for (long time = 0; time < times; time++) {
            if (ENCODE_STREAM != null) {
                kept = call(ENCODE_STREAM, Arrays.asList(objects));
            } else {
                for (Object object : objects) {
                    kept = Contender.encode(object);
                }
            }
        }
    }

    // The JVM counts milliseconds, and reports -1 if unknown.
    private static long collectedNs() {
        return COLLECTORS.stream().mapToLong(one -> Math.max(0, one.getCollectionTime())).sum()
                * 1_000_000;
    }

    private static long collections() {
        return COLLECTORS.stream().mapToLong(one -> Math.max(0, one.getCollectionCount())).sum();
    }

    private static Object own(Object plain) throws Exception {
        return FROM_PLAIN == null ? plain : call(FROM_PLAIN, plain);
    }

    private static Object plain(Object own) throws Exception {
        return TO_PLAIN == null ? own : call(TO_PLAIN, own);
    }

    /** Returns the version of a library, from the name of its jar; for adapters. */
    static String versionOf(Class<?> one) {
        String jar = one.getProtectionDomain().getCodeSource().getLocation().getPath();
        Matcher version = Pattern.compile("-(\\d[^/]*)\\.jar$").matcher(jar);
        return version.find() ? version.group(1) : "not known";
    }

    private static Method optional(String name, Class<?> takes) {
        try {
            Method method = Contender.class.getDeclaredMethod(name, takes);
            method.setAccessible(true);
            return method;
        } catch (NoSuchMethodException | NoClassDefFoundError error) {
            return null;
        }
    }

    private static Object call(Method method, Object argument) throws Exception {
        try {
            return method.invoke(null, argument);
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw error;
        }
    }

    private static String text(Map<String, Object> command, String key) {
        return (String) command.get(key);
    }

    private static String told(Throwable error) {
        // Some libraries quote the whole document.
        String text = error.getClass().getSimpleName() + ": " + error.getMessage();
        return text.length() > 500 ? text.substring(0, 500) : text;
    }

    private static void say(Map<String, Object> message) {
        ANSWERS.println(new String(Json.write(message), StandardCharsets.UTF_8));
    }

    /** Writes bytes to a file, and the position of each piece next to it. */
    private static final class Output implements AutoCloseable {
        private final String path;
        private final OutputStream file;
        private final StringBuilder spans = new StringBuilder("[");
        private long position;

        Output(String path) throws IOException {
            this.path = path;
            file = new BufferedOutputStream(new FileOutputStream(path), 1 << 16);
        }

        void add(byte[] piece, boolean line) throws IOException {
            file.write(piece);
            spans.append(spans.length() > 1 ? "," : "").append(position);
            position += piece.length;
            spans.append(',').append(position);
            if (line) {
                file.write('\n');
                position++;
            }
        }

        @Override
        public void close() throws IOException {
            file.close();
            Files.writeString(Path.of(path + ".spans"), spans.append(']'));
        }
    }

    /** JSON for the protocol, and for formats that regauge cannot write. Java includes none. */
    static final class Json {
        private final String text;
        private int at;

        private Json(String text) {
            this.text = text;
        }

        /** Returns maps, lists, strings, Boolean, null; Integer, Long, BigInteger and Double. */
        static Object read(String text) {
            Json json = new Json(text);
            Object value = json.value();
            json.space();
            if (json.at < text.length()) {
                throw new IllegalArgumentException("JSON ends at " + json.at + ", and goes on");
            }
            return value;
        }

        @SuppressWarnings("unchecked")
        static Map<String, Object> object(Object value) {
            return (Map<String, Object>) value;
        }

        private void space() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
        }

        private boolean skip(char one) {
            space();
            if (at < text.length() && text.charAt(at) == one) {
                at++;
                return true;
            }
            return false;
        }

        private void expect(char one) {
            if (!skip(one)) {
                throw new IllegalArgumentException("expected " + one + " in JSON at " + at);
            }
        }

        private Object value() {
            if (skip('{')) {
                Map<String, Object> map = new LinkedHashMap<>();
                if (!skip('}')) {
                    do {
                        expect('"');
                        String key = string();
                        expect(':');
                        map.put(key, value());
                    } while (skip(','));
                    expect('}');
                }
                return map;
            }
            if (skip('[')) {
                List<Object> list = new ArrayList<>();
                if (!skip(']')) {
                    do {
                        list.add(value());
                    } while (skip(','));
                    expect(']');
                }
                return list;
            }
            if (skip('"')) {
                return string();
            }
            int start = at;
            while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
                at++;
            }
            String word = text.substring(start, at);
            switch (word) {
                case "true":
                    return true;
                case "false":
                    return false;
                case "null":
                    return null;
                default:
                    return number(word);
            }
        }

        private static Object number(String word) {
            if (word.matches("-?\\d+")) {
                BigInteger number = new BigInteger(word);
                if (number.bitLength() < 32) {
                    return number.intValue();
                }
                return number.bitLength() < 64 ? (Object) number.longValue() : number;
            }
            return Double.valueOf(word);
        }

        private String string() {
            StringBuilder made = new StringBuilder();
            while (true) {
                char one = text.charAt(at++);
                if (one == '"') {
                    return made.toString();
                }
                if (one != '\\') {
                    made.append(one);
                    continue;
                }
                one = text.charAt(at++);
                int plain = "bfnrt".indexOf(one);
                if (plain >= 0) {
                    made.append("\b\f\n\r\t".charAt(plain));
                } else if (one == 'u') {
                    made.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                } else {
                    made.append(one);
                }
            }
        }

        /** Formats as UTF-8 what {@link #read} returns, and what libraries return for the same. */
        static byte[] write(Object value) {
            StringBuilder made = new StringBuilder();
            write(value, made);
            return made.toString().getBytes(StandardCharsets.UTF_8);
        }

        private static void write(Object value, StringBuilder made) {
            if (value instanceof Map<?, ?> map) {
                String comma = "{";
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    made.append(comma);
                    write(String.valueOf(entry.getKey()), made);
                    made.append(':');
                    write(entry.getValue(), made);
                    comma = ",";
                }
                made.append(map.isEmpty() ? "{}" : "}");
            } else if (value instanceof Iterable<?> list) {
                made.append('[');
                String comma = "";
                for (Object one : list) {
                    made.append(comma);
                    write(one, made);
                    comma = ",";
                }
                made.append(']');
            } else if (value == null || value instanceof Boolean || value instanceof BigInteger
                    || value instanceof BigDecimal) {
                made.append(value);
            } else if (value instanceof Number number) {
                boolean finite = Double.isFinite(number.doubleValue());
                made.append(finite ? String.valueOf(value) : "null");
            } else {
                string(String.valueOf(value), made);
            }
        }

        private static void string(String text, StringBuilder made) {
            made.append('"');
            for (int index = 0; index < text.length(); index++) {
                char one = text.charAt(index);
                if (one == '"' || one == '\\') {
                    made.append('\\').append(one);
                } else if (one < ' ') {
                    made.append(String.format("\\u%04x", (int) one));
                } else {
                    made.append(one);
                }
            }
            made.append('"');
        }
    }
}
