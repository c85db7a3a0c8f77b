// contender: fastjson2 (jsonb)
// library: fastjson2
// usual: yes
// format: fastjson2-jsonb
// made from: json
// gives: data
// install: regauge measure --setup java
// needs: {data}/java/fastjson2-*.jar
// untrusted: safe
// JSONB, fastjson2's own binary JSON (not the database format), with null members.
import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONB;
import com.alibaba.fastjson2.JSONWriter;

final class Contender {
    static Object decode(byte[] bytes) {
        return JSONB.parse(bytes);
    }

    static byte[] encode(Object value) {
        return JSONB.toBytes(value, JSONWriter.Feature.WriteNulls);
    }

    static String version() {
        return JSON.VERSION;
    }
}
