package rossum.oz;

/** The answer to the version request. */
final class Welcome {
    final int version;
    final String name;
    final String longName;

    Welcome(int version, String name, String longName) {
        this.version = version;
        this.name = name;
        this.longName = longName;
    }
}
