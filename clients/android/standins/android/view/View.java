package android.view;

/** A stand-in for Android's class, with as much of it as the client and its tests need. */
public class View {}
