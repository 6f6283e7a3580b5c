package android.content;

/** A stand-in for Android's class, with as much of it as the client and its tests need. */
public class Context {}
