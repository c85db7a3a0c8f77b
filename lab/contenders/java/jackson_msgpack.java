// contender: jackson (msgpack)
// library: jackson-dataformat-msgpack
// usual: yes
// format: msgpack
// gives: data
// install: regauge measure --setup java
// needs: {data}/java/jackson-dataformat-msgpack-*.jar
// untrusted: safe
// The msgpack project's own format for Jackson: one mapper for all calls, with its defaults.
import com.fasterxml.jackson.databind.ObjectMapper;
import org.msgpack.jackson.dataformat.MessagePackMapper;

final class Contender {
    private static final ObjectMapper MAPPER = new MessagePackMapper();

    static Object decode(byte[] bytes) throws Exception {
        return MAPPER.readValue(bytes, Object.class);
    }

    static byte[] encode(Object value) throws Exception {
        return MAPPER.writeValueAsBytes(value);
    }

    static String version() {
        return Runner.versionOf(MessagePackMapper.class);
    }
}
