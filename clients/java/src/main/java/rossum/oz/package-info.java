/**
 * A client for the Oz Robot Puppeteering System, protocol 1.0.
 *
 * <p>{@link rossum.oz.OzClient} connects to a robot and controls it; an {@link rossum.oz.OzListener} is told what the robot hears
 * and sees.
 */
package rossum.oz;
