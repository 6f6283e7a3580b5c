using System;

namespace Rossum.Oz
{
    /// <summary>Kinds of errors.</summary>
    public enum OzError
    {
        /// <summary>No connection could be made: the name is unknown, or nobody listens.</summary>
        Unreachable,

        /// <summary>The robot did not answer, or did not read requests, in time.</summary>
        Timeout,

        /// <summary>The robot uses another version of the protocol.</summary>
        WrongVersion,

        /// <summary>The connection is closed.</summary>
        Closed,

        /// <summary>The connection was closed in the middle of a message.</summary>
        Truncated,

        /// <summary>The robot has sent something that is no message, or one with a text that is not UTF-8.</summary>
        BadMessage,

        /// <summary>A number is infinite, NaN or too large to be sent. Nothing was sent.</summary>
        NotFinite,

        /// <summary>The protocol has no such expression, lookat mode or servo. Nothing was sent.</summary>
        OutOfRange,

        /// <summary>A text has more bytes than a message can have. Nothing was sent.</summary>
        TextTooLong,
    }

    /// <summary>What went wrong. The kind tells programs what the message tells people.</summary>
    public sealed class OzException : Exception
    {
        internal OzException(OzError kind, string message, Exception cause = null) : base(message, cause)
        {
            Kind = kind;
        }

        /// <summary>The kind of the error.</summary>
        public OzError Kind { get; }
    }
}
