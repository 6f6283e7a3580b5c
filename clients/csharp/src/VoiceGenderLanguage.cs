namespace Rossum.Oz
{
    /// <summary>Voices; there is only one. A robot may have more, with other numbers.</summary>
    public enum VoiceGenderLanguage : uint
    {
        /// <summary>The robot's own voice.</summary>
        Default = 0,
    }
}
