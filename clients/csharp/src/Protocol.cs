using System;

namespace Rossum.Oz
{
    /// <summary>Numbers of the protocol's header file.</summary>
    public static class Protocol
    {
        /// <summary>The port that a robot listens on, unless it is configured otherwise.</summary>
        public const int Port = 7331;

        /// <summary>Protocol 1.0.</summary>
        public const uint Version = 0x01000000;

        /// <summary>The longest text, in bytes of UTF-8.</summary>
        public const int MaxText = 65535;

        /// <summary>The number of servos.</summary>
        public static readonly int MaxServos = Enum.GetValues(typeof(Servo)).Length;

        /// <summary>The number of gestures that every robot has.</summary>
        public static readonly int MaxGestures = Enum.GetValues(typeof(Gesture)).Length;
    }
}
