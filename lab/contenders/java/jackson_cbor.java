// contender: jackson (cbor)
// library: jackson-dataformat-cbor
// usual: yes
// format: cbor
// gives: data
// install: regauge measure --setup java
// needs: {data}/java/jackson-dataformat-cbor-*.jar
// untrusted: safe
// One mapper for all calls, with its defaults.
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;

final class Contender {
    private static final ObjectMapper MAPPER = new CBORMapper();

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
