// contender: java serialization
// library: java.io
// usual: yes
// format: java-serialization
// made from: json
// gives: data
// install: comes with Java
// untrusted: runs code: never read bytes that you did not write
// ObjectOutputStream and ObjectInputStream, without a filter, which is the default.
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;

final class Contender {
    static Object decode(byte[] bytes) throws Exception {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return in.readObject();
        }
    }

    static byte[] encode(Object value) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(value);
        }
        return bytes.toByteArray();
    }

    static String version() {
        return "of Java " + System.getProperty("java.version");
    }
}
