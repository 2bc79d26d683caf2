package gilscope.echo;

/** What was told is wrong: the message has what, the value seen, and what is accepted. */
final class BadInput extends Exception {
  private static final long serialVersionUID = 1L;

  BadInput(String name, String seen, String accepted) {
    super(name + " is " + seen + "; it must be " + accepted + ".");
  }
}
