// contender: wast
// library: wast
// usual: yes
// format: json
// gives: data
// install: regauge measure --setup java
// needs: {data}/java/wast-*.jar
// untrusted: safe
// Its defaults, through a String: `toJsonBytes` of 0.0.28 writes invalid UTF-8 for texts like "é".
import io.github.wycst.wast.json.JSON;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

final class Contender {
    static Object decode(byte[] bytes) {
        return JSON.parse(bytes);
    }

    static byte[] encode(Object value) {
        return JSON.toJsonString(value).getBytes(StandardCharsets.UTF_8);
    }

    static String version() throws Exception {
        Properties of = new Properties();
        try (InputStream in = JSON.class.getResourceAsStream("/META-INF/maven/io.github.wycst/wast/pom.properties")) {
            if (in != null) {
                of.load(in);
            }
        }
        return of.getProperty("version", "");
    }
}
