// contender: jackson (smile)
// library: jackson-dataformat-smile
// usual: yes
// format: smile
// made from: json
// gives: data
// install: regauge measure --setup java
// needs: {data}/java/jackson-dataformat-smile-*.jar
// untrusted: safe
// Smile, Jackson's own binary JSON, with its defaults (names are shared, values are not).
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.smile.databind.SmileMapper;

final class Contender {
    private static final ObjectMapper MAPPER = new SmileMapper();

    static Object decode(byte[] bytes) throws Exception {
        return MAPPER.readValue(bytes, Object.class);
    }

    static byte[] encode(Object value) throws Exception {
        return MAPPER.writeValueAsBytes(value);
    }

    static String version() {
        return MAPPER.getFactory().version().toString();
    }
}
