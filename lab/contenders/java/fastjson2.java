// contender: fastjson2 (json)
// library: fastjson2
// usual: yes
// format: json
// gives: data
// install: regauge measure --setup java
// needs: {data}/java/fastjson2-*.jar
// untrusted: safe
// Its defaults, except that null members are written, and numbers with a fraction are read as
// Double, like the others', instead of BigDecimal.
import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONReader;
import com.alibaba.fastjson2.JSONWriter;

final class Contender {
    static Object decode(byte[] bytes) {
        return JSON.parse(bytes, JSONReader.Feature.UseDoubleForDecimals);
    }

    static byte[] encode(Object value) {
        return JSON.toJSONBytes(value, JSONWriter.Feature.WriteNulls);
    }

    static String version() {
        return JSON.VERSION;
    }
}
