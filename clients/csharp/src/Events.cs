using System;
using System.Collections.Generic;
using System.IO;

namespace Rossum.Oz
{
    /// <summary>The robot has answered the version request.</summary>
    public sealed class ConnectedEventArgs : EventArgs
    {
        internal ConnectedEventArgs(Welcome welcome)
        {
            Name = welcome.Name;
            LongName = welcome.LongName;
        }

        /// <summary>The robot's short name.</summary>
        public string Name { get; }

        /// <summary>The robot's long name.</summary>
        public string LongName { get; }
    }

    /// <summary>The connection has ended.</summary>
    public sealed class DisconnectedEventArgs : EventArgs
    {
        internal DisconnectedEventArgs(OzException reason)
        {
            Reason = reason;
        }

        /// <summary>Why; <c>null</c> if this program has disconnected.</summary>
        public OzException Reason { get; }
    }

    /// <summary>Something has failed, and the client goes on.</summary>
    public sealed class OzErrorEventArgs : EventArgs
    {
        internal OzErrorEventArgs(OzException error)
        {
            Error = error;
        }

        /// <summary>What went wrong.</summary>
        public OzException Error { get; }
    }

    /// <summary>This client has sent a text.</summary>
    public sealed class SpeakStartEventArgs : EventArgs
    {
        internal SpeakStartEventArgs(string text)
        {
            Text = text;
        }

        /// <summary>The text.</summary>
        public string Text { get; }
    }

    /// <summary>A gesture starts.</summary>
    public sealed class GestureEventArgs : EventArgs
    {
        internal GestureEventArgs(Gesture gesture)
        {
            Gesture = gesture;
        }

        /// <summary>The gesture; the robot may have more than the protocol.</summary>
        public Gesture Gesture { get; }
    }

    /// <summary>What the robot may have heard.</summary>
    public sealed class UtteranceOption
    {
        internal UtteranceOption(float confidence, string text)
        {
            Confidence = confidence;
            Text = text;
        }

        /// <summary>How certain the robot is, 0 to 1.</summary>
        public float Confidence { get; }

        /// <summary>The text.</summary>
        public string Text { get; }
    }

    /// <summary>The robot has recognised speech.</summary>
    public sealed class UtteranceEventArgs : EventArgs
    {
        internal UtteranceEventArgs(IReadOnlyList<UtteranceOption> options)
        {
            Options = options;
        }

        /// <summary>What it may have been, the likeliest one first.</summary>
        public IReadOnlyList<UtteranceOption> Options { get; }

        /// <summary>The likeliest text; empty if there are no options.</summary>
        public string Text => Options.Count == 0 ? "" : Options[0].Text;
    }

    /// <summary>A face in the robot's image.</summary>
    public sealed class Face
    {
        internal Face(float confidence, float x, float y, float width, float height, string name)
        {
            Confidence = confidence;
            X = x;
            Y = y;
            Width = width;
            Height = height;
            Name = name;
        }

        /// <summary>How certain the robot is, 0 to 1.</summary>
        public float Confidence { get; }

        /// <summary>The centre: -1 is the left edge of the image, 1 the right one.</summary>
        public float X { get; }

        /// <summary>The centre: -1 is the top edge of the image, 1 the bottom one.</summary>
        public float Y { get; }

        /// <summary>The width, as a fraction of the image's.</summary>
        public float Width { get; }

        /// <summary>The height, as a fraction of the image's.</summary>
        public float Height { get; }

        /// <summary>The person's name; empty if it is not known.</summary>
        public string Name { get; }
    }

    /// <summary>The robot has looked for faces.</summary>
    public sealed class FacesEventArgs : EventArgs
    {
        internal FacesEventArgs(IReadOnlyList<Face> faces)
        {
            Faces = faces;
        }

        /// <summary>The faces that it sees; none when the last one has disappeared.</summary>
        public IReadOnlyList<Face> Faces { get; }
    }

    /// <summary>An image of the robot's camera, as a JPEG file.</summary>
    public sealed class VideoFrameEventArgs : EventArgs
    {
        private readonly byte[] jpeg;

        internal VideoFrameEventArgs(byte[] jpeg)
        {
            this.jpeg = jpeg;
        }

        /// <summary>The size of the file in bytes.</summary>
        public int Length => jpeg.Length;

        /// <summary>The JPEG file, to be read; <c>Image.FromStream</c> of System.Drawing decodes it, for example.</summary>
        /// <returns>A stream of its bytes.</returns>
        public Stream OpenRead() => new MemoryStream(jpeg, false);

        /// <summary>The JPEG file.</summary>
        /// <returns>A copy of its bytes.</returns>
        public byte[] ToArray() => (byte[])jpeg.Clone();
    }
}
