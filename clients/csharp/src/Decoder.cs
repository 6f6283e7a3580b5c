using System;
using System.Collections.Generic;
using System.IO;
using System.Text;

namespace Rossum.Oz
{
    /// <summary>The answer to the version request.</summary>
    internal sealed class Welcome
    {
        internal Welcome(uint version, string name, string longName)
        {
            Version = version;
            Name = name;
            LongName = longName;
        }

        internal uint Version { get; }

        internal string Name { get; }

        internal string LongName { get; }
    }

    /// <summary>
    /// Takes a robot's stream apart. A message is a 32-bit id followed by its fields; only the answer to the version request has no
    /// id. There is no framing: the end of a message follows from its id and the lengths in it.
    /// </summary>
    internal sealed class Decoder
    {
        // what is read at most; robots send far less
        private const int MaxOptions = 256;
        private const int MaxFaces = 256;
        private const int MaxJpeg = 16 * 1024 * 1024;

        /// <summary>The smallest version; all message ids are smaller.</summary>
        private const uint FirstVersion = 0x01000000;

        private readonly Stream stream;

        /// <summary>A text of the message that is not UTF-8; the rest of the message has to be skipped first.</summary>
        private string badText;

        /// <summary>Reads from a stream, which should be buffered.</summary>
        internal Decoder(Stream stream)
        {
            this.stream = stream;
        }

        /// <summary>Whether a message has been read in part.</summary>
        internal bool IsInMessage { get; private set; }

        /// <summary>Reads the answer to the version request.</summary>
        internal Welcome Welcome()
        {
            var version = Begin();
            if (version < FirstVersion)
            {
                throw Bad($"the robot answered the version request with 0x{version:x}, which is not a version");
            }
            // the rest may look different in another version
            if (version != Protocol.Version)
            {
                var versions = $"the robot uses protocol version 0x{version:x8}, this client 0x{Protocol.Version:x8}";
                throw new OzException(OzError.WrongVersion, versions);
            }
            var welcome = new Welcome(version, Text("name"), Text("long name"));
            IsInMessage = false;
            return badText == null ? welcome : throw InvalidText();
        }

        /// <summary>Reads a message: the arguments of its event, or the error of one with a text that is not UTF-8.</summary>
        internal (Message, EventArgs) Read()
        {
            var message = (Message)Begin();
            var arguments = Arguments(message);
            IsInMessage = false;
            return (message, badText == null ? arguments : new OzErrorEventArgs(InvalidText()));
        }

        private EventArgs Arguments(Message message)
        {
            switch (message)
            {
                case Message.SpeakDone:
                case Message.GestureDone:
                    return EventArgs.Empty;
                case Message.SpeakGesture:
                    return new GestureEventArgs((Gesture)Word());
                case Message.Utterance:
                    return new UtteranceEventArgs(List("options", MaxOptions, () => new UtteranceOption(Number(), Text("text"))));
                case Message.Faces:
                    return new FacesEventArgs(List("faces", MaxFaces, ReadFace));
                case Message.VideoFrame:
                    return new VideoFrameEventArgs(Bytes(Count("bytes of an image", MaxJpeg)));
                default:
                    throw Bad($"the robot sent a message with the unknown id 0x{(uint)message:x2}");
            }
        }

        private Face ReadFace()
        {
            return new Face(Number(), Number(), Number(), Number(), Number(), Text("name"));
        }

        private IReadOnlyList<T> List<T>(string what, int most, Func<T> read)
        {
            var elements = new T[Count(what, most)];
            for (var i = 0; i < elements.Length; i++)
            {
                elements[i] = read();
            }
            return Array.AsReadOnly(elements);
        }

        /// <summary>The first word of a message.</summary>
        private uint Begin()
        {
            badText = null;
            var first = stream.ReadByte();
            if (first < 0)
            {
                throw new EndOfStreamException();
            }
            IsInMessage = true;
            var rest = Bytes(3);
            return (uint)(first << 24 | rest[0] << 16 | rest[1] << 8 | rest[2]);
        }

        private byte[] Bytes(int count)
        {
            var bytes = new byte[count];
            for (var at = 0; at < count;)
            {
                var read = stream.Read(bytes, at, count - at);
                if (read == 0)
                {
                    throw new EndOfStreamException();
                }
                at += read;
            }
            return bytes;
        }

        private uint Word() => BitConverter.ToUInt32(Requests.BigEndian(Bytes(4)), 0);

        private float Number() => BitConverter.ToSingle(Requests.BigEndian(Bytes(4)), 0);

        private string Text(string what)
        {
            var length = Bytes(2);
            var encoded = Bytes(length[0] << 8 | length[1]);
            try
            {
                return Requests.Utf8.GetString(encoded);
            }
            catch (DecoderFallbackException)
            {
                badText = what;
                return "";
            }
        }

        private int Count(string what, int most)
        {
            var count = Word();
            return count <= most ? (int)count : throw Bad($"the robot sent {count} {what}; at most {most} are read");
        }

        private OzException InvalidText() => Bad($"the robot sent a {badText} that is not UTF-8");

        private static OzException Bad(string message) => new OzException(OzError.BadMessage, message);
    }
}
