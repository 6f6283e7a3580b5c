/** The client of {@link rossum.oz} for Android: it tells the main thread everything, and never blocks it. */
package rossum.oz.android;
