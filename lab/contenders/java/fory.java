// contender: fory
// library: fory-core
// usual: yes
// format: fory
// made from: json
// gives: data
// install: regauge measure --setup java
// needs: {data}/java/fory-core-*.jar
// untrusted: safe
// Apache Fory for Java only, which its manual calls faster than its cross-language format. Classes
// must be registered, which is its default; those of plain values are.
import org.apache.fory.Fory;

final class Contender {
    private static final Fory FORY = Fory.builder().withXlang(false).requireClassRegistration(true).build();

    static Object decode(byte[] bytes) {
        return FORY.deserialize(bytes);
    }

    static byte[] encode(Object value) {
        return FORY.serialize(value);
    }

    static String version() {
        String version = Fory.class.getPackage().getImplementationVersion();
        return version == null ? "" : version;
    }
}
