using System;
using System.Collections.Generic;
using System.Text;

namespace Rossum.Oz
{
    /// <summary>The messages to the robot, as bytes. All numbers are big-endian.</summary>
    internal static class Requests
    {
        internal static readonly UTF8Encoding Utf8 = new UTF8Encoding(false, true);

        internal static byte[] Empty(Message message) => Join(Word((uint)message));

        internal static byte[] Word(Message message, uint value) => Join(Word((uint)message), Word(value));

        /// <summary>A message with one of a list.</summary>
        internal static byte[] Choice(Message message, Enum value)
        {
            Check(value);
            return Word(message, (uint)Convert.ToInt32(value));
        }

        internal static byte[] Number(Message message, double value)
        {
            return Join(Word((uint)message), Finite(message.ToString(), value));
        }

        internal static byte[] Servo(Servo servo, double position)
        {
            Check(servo);
            return Join(Word((uint)Message.Servo), Word((uint)servo), Finite("Position", position));
        }

        internal static byte[] Servos(IReadOnlyList<double> positions)
        {
            if (positions.Count != Protocol.MaxServos)
            {
                var count = $"{positions.Count} positions; a robot has {Protocol.MaxServos} servos";
                throw new OzException(OzError.OutOfRange, count);
            }
            var parts = new List<byte[]> { Word((uint)Message.AllServos) };
            foreach (var position in positions)
            {
                parts.Add(Finite("Position", position));
            }
            return Join(parts.ToArray());
        }

        internal static byte[] Text(Message message, string text)
        {
            var encoded = Utf8.GetBytes(text);
            if (encoded.Length > Protocol.MaxText)
            {
                var limit = $"the text has {encoded.Length} bytes; at most {Protocol.MaxText} can be sent";
                throw new OzException(OzError.TextTooLong, limit);
            }
            var length = new[] { (byte)(encoded.Length >> 8), (byte)encoded.Length };
            return Join(Word((uint)message), length, encoded);
        }

        /// <summary>Refuses a value that its enumeration does not have.</summary>
        internal static void Check(Enum value)
        {
            var kind = value.GetType();
            if (!Enum.IsDefined(kind, value))
            {
                var range = $"{kind.Name} {value:D} is out of range 0 to {Enum.GetValues(kind).Length - 1}";
                throw new OzException(OzError.OutOfRange, range);
            }
        }

        private static byte[] Finite(string what, double value)
        {
            var sent = (float)value;
            if (float.IsNaN(sent) || float.IsInfinity(sent))
            {
                throw new OzException(OzError.NotFinite, $"{what} {value} is not a finite 32-bit number");
            }
            return BigEndian(BitConverter.GetBytes(sent));
        }

        private static byte[] Word(uint value) => BigEndian(BitConverter.GetBytes(value));

        internal static byte[] BigEndian(byte[] bytes)
        {
            if (BitConverter.IsLittleEndian)
            {
                Array.Reverse(bytes);
            }
            return bytes;
        }

        private static byte[] Join(params byte[][] parts)
        {
            var request = new List<byte>();
            foreach (var part in parts)
            {
                request.AddRange(part);
            }
            return request.ToArray();
        }
    }
}
