package gilscope.echo;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** What this program is: what Maven knew when it was built, in build.properties, and the machine that runs it. */
final class Build {
  private Build() {}

  /** For the ready line; transport: epoll or nio. Source: docs/child-contract.md, "A service is ready". */
  static JsonObject facts(String transport) throws IOException {
    Properties built = new Properties();
    try (InputStream file = Build.class.getResourceAsStream("build.properties")) {
      built.load(file);
    }
    JsonObject packages = new JsonObject();
    packages.addProperty("netty", built.getProperty("netty") + " (" + transport + ")");
    packages.addProperty("gson", built.getProperty("gson"));
    JsonObject facts = new JsonObject();
    facts.addProperty("program", "echo-netty");
    facts.addProperty("version", built.getProperty("version"));
    facts.addProperty("compiler", built.getProperty("compiler"));
    facts.addProperty("java", System.getProperty("java.version"));
    facts.add("packages", packages);
    return facts;
  }
}
