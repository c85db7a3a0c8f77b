// contender: floor
// library: floor
// format: json
// gives: data
// install: regauge measure --setup java
// untrusted: safe
// floor: yes
// No contender: what building the objects costs with no parsing, and writing with no walk.
//
// Jackson reads each document before the clock starts. Decoding builds what it gave anew: every map
// and list, every text from the bytes that it will hold, every number in its box; names of members
// are shared, as a reader with a table of names has them. Encoding copies the finished bytes once.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

final class Contender {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final List<Object> PLANS = new ArrayList<>();

    /** A text as it lies in memory: a byte or two for each character. */
    private record Text(byte[] bytes, Charset charset) {
        static Text of(String text) {
            boolean narrow = text.chars().allMatch(one -> one < 256);
            Charset charset = narrow ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_16LE;
            return new Text(text.getBytes(charset), charset);
        }
    }

    private record Members(String[] names, Object[] values) {}

    /** The number of the plan, for decode. */
    static byte[] floorPrepare(byte[] document) throws Exception {
        PLANS.add(plan(MAPPER.readValue(document, Object.class)));
        int number = PLANS.size() - 1;
        return new byte[] {(byte) (number >> 24), (byte) (number >> 16), (byte) (number >> 8), (byte) number};
    }

    static byte[] floorEncode(byte[] document) {
        return document.clone();
    }

    private static Object plan(Object value) {
        if (value instanceof String text) {
            return Text.of(text);
        }
        if (value instanceof List<?> list) {
            return list.stream().map(Contender::plan).toArray();
        }
        if (value instanceof Map<?, ?> map) {
            return new Members(map.keySet().toArray(new String[0]),
                    map.values().stream().map(Contender::plan).toArray());
        }
        return value;
    }

    static Object decode(byte[] number) {
        int place = (number[0] & 255) << 24 | (number[1] & 255) << 16 | (number[2] & 255) << 8
                | number[3] & 255;
        return build(PLANS.get(place));
    }

    private static Object build(Object plan) {
        if (plan instanceof Text text) {
            return new String(text.bytes(), text.charset());
        }
        if (plan instanceof Members members) {
            String[] names = members.names();
            Map<String, Object> map = new LinkedHashMap<>();
            for (int place = 0; place < names.length; place++) {
                map.put(names[place], build(members.values()[place]));
            }
            return map;
        }
        if (plan instanceof Object[] values) {
            List<Object> list = new ArrayList<>(values.length);
            for (Object value : values) {
                list.add(build(value));
            }
            return list;
        }
        if (plan instanceof Double number) {
            return Double.valueOf(number.doubleValue());
        }
        if (plan instanceof Long number) {
            return Long.valueOf(number.longValue());
        }
        return plan instanceof Integer number ? Integer.valueOf(number.intValue()) : plan;
    }

    /** For the check alone, which has to see that the objects are right. */
    static byte[] encode(Object value) throws Exception {
        return MAPPER.writeValueAsBytes(value);
    }

    static String version() {
        return "objects of Java " + System.getProperty("java.version");
    }
}
