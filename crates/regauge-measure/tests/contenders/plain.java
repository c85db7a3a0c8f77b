// contender: test plain
// library: plain
// format: json
// gives: data
// install: comes with the runner
// untrusted: safe
// JSON by the runner's own means: what a Java contender is without any library.
import java.nio.charset.StandardCharsets;

final class Contender {
    static Object decode(byte[] bytes) {
        return Runner.Json.read(new String(bytes, StandardCharsets.UTF_8));
    }

    static byte[] encode(Object value) {
        return Runner.Json.write(value);
    }

    static String version() {
        return "1.0";
    }
}
