namespace Rossum.Oz
{
    /// <summary>Gestures that every robot has. A robot may have more, with higher numbers.</summary>
    public enum Gesture : uint
    {
        /// <summary>Long raise of the eyebrows.</summary>
        BrowRaiseLong = 0,

        /// <summary>Short raise of the eyebrows.</summary>
        BrowRaiseShort = 1,

        /// <summary>Long frown of the eyebrows.</summary>
        FrownLong = 2,

        /// <summary>Short frown of the eyebrows.</summary>
        FrownShort = 3,

        /// <summary>Long nod.</summary>
        YesLong = 4,

        /// <summary>Short nod.</summary>
        YesShort = 5,

        /// <summary>Triple long nod.</summary>
        YesLong3x = 6,

        /// <summary>Triple short nod.</summary>
        YesShort3x = 7,

        /// <summary>Long shake of the head.</summary>
        NoLong = 8,

        /// <summary>Short shake of the head.</summary>
        NoShort = 9,

        /// <summary>Triple long shake of the head.</summary>
        NoLong3x = 10,

        /// <summary>Triple short shake of the head.</summary>
        NoShort3x = 11,

        /// <summary>Head wobble.</summary>
        IndianWobble = 12,
    }

    /// <summary>What gestures are called in texts.</summary>
    public static class GestureTags
    {
        private static readonly string[] Tags =
        {
            "[braisel]", "[braises]", "[frownl]", "[frowns]", "[yesl]",
            "[yess]", "[yesl3]", "[yess3]", "[nol]", "[nos]",
            "[nol3]", "[nos3]", "[wob]",
        };

        /// <summary>The tag that starts the gesture in a text, as in <c>Gesture.NoShort.Tag() + "Nope."</c></summary>
        /// <param name="gesture">One that every robot has.</param>
        /// <returns>The tag, with its brackets.</returns>
        /// <exception cref="System.ArgumentOutOfRangeException">The protocol has no tag for it.</exception>
        public static string Tag(this Gesture gesture)
        {
            if ((uint)gesture >= Tags.Length)
            {
                throw new System.ArgumentOutOfRangeException(nameof(gesture), gesture, "the protocol has no tag for it");
            }
            return Tags[(int)gesture];
        }
    }
}
