namespace Rossum.Oz
{
    /// <summary>Facial expressions.</summary>
    public enum Expression : int
    {
        /// <summary>None.</summary>
        Neutral = 0,

        /// <summary>A smile and raised eyebrows.</summary>
        Happy = 1,

        /// <summary>Sad and frowning.</summary>
        Sad = 2,

        /// <summary>A smile and frowning.</summary>
        Evil = 3,

        /// <summary>Sad and raised eyebrows.</summary>
        Afraid = 4,
    }
}
