package gilscope.echo;

/** A flag is wrong: the message has the flag, the value seen, and what is accepted. */
final class BadFlag extends Exception {
  private static final long serialVersionUID = 1L;

  BadFlag(String flag, String value, String accepted) {
    super(flag + " is " + value + "; it must be " + accepted + ".");
  }
}
