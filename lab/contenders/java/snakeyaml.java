// contender: snakeyaml
// library: snakeyaml
// usual: yes
// format: yaml
// gives: data
// install: regauge measure --setup java
// needs: {data}/java/snakeyaml-*.jar
// untrusted: safe
// yaml: 1.1
// Yaml is not thread-safe and keeps state: its manual creates a new one for each document. Uses the
// safe constructor, with the limit on input size lifted.
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.representer.Representer;

final class Contender {
    private static final LoaderOptions LOADING = new LoaderOptions();
    private static final DumperOptions DUMPING = new DumperOptions();

    static {
        LOADING.setCodePointLimit(Integer.MAX_VALUE);
        DUMPING.setSplitLines(false);
        DUMPING.setAllowUnicode(true);
        DUMPING.setDefaultFlowStyle(DumperOptions.FlowStyle.BLOCK);
    }

    private static Yaml yaml() {
        return new Yaml(new SafeConstructor(LOADING), new Representer(DUMPING), DUMPING, LOADING);
    }

    static Object decode(byte[] bytes) {
        return yaml().load(new ByteArrayInputStream(bytes));
    }

    static byte[] encode(Object value) {
        return yaml().dump(value).getBytes(StandardCharsets.UTF_8);
    }

    static String version() {
        return Runner.versionOf(Yaml.class);
    }
}
