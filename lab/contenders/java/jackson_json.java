// contender: jackson (json)
// library: jackson-databind
// usual: yes
// format: json
// gives: data
// install: regauge measure --setup java
// needs: {data}/java/jackson-databind-*.jar
// untrusted: safe
// One ObjectMapper for all calls, with its defaults: maps, lists, Integer, Long, BigInteger, Double.
import com.fasterxml.jackson.databind.ObjectMapper;

final class Contender {
    private static final ObjectMapper MAPPER = new ObjectMapper();

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
