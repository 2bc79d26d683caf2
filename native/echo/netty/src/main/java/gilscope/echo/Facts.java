package gilscope.echo;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** What this program is: what Maven knew when it was built, in build.properties, and the machine that runs it. */
final class Facts {
  private Facts() {}

  /** One `key: value` a line. transport: epoll or nio. */
  static String lines(String transport) throws IOException {
    Properties built = new Properties();
    try (InputStream file = Facts.class.getResourceAsStream("build.properties")) {
      built.load(file);
    }
    return String.join(
        "\n",
        "program: echo-netty",
        "version: " + built.getProperty("version"),
        "compiler: " + built.getProperty("compiler"),
        "java: " + System.getProperty("java.version"),
        "package: netty " + built.getProperty("netty") + " (" + transport + ")");
  }
}
