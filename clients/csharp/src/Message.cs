namespace Rossum.Oz
{
    /// <summary>The ids of messages: up to 0x13 to the robot, from 0x14 on to the client.</summary>
    public enum Message : uint
    {
        /// <summary>Ignored.</summary>
        Nothing = 0,

        /// <summary>Requests the version.</summary>
        RequestVersion = 1,

        /// <summary>Restores the defaults.</summary>
        Reset = 2,

        /// <summary>A text to speak.</summary>
        Speak = 3,

        /// <summary>The voice.</summary>
        VoiceGenderLanguage = 4,

        /// <summary>The volume.</summary>
        VoiceVolume = 5,

        /// <summary>The pitch.</summary>
        VoicePitch = 6,

        /// <summary>Starts a gesture.</summary>
        Gesture = 7,

        /// <summary>The weight of gestures.</summary>
        GestureWeight = 8,

        /// <summary>The facial expression.</summary>
        Expression = 9,

        /// <summary>The weight of the facial expression.</summary>
        ExpressionWeight = 10,

        /// <summary>The blinks per second.</summary>
        AutoBlinkSpeed = 11,

        /// <summary>The weight of random head motion.</summary>
        RandomHeadWeight = 12,

        /// <summary>The weight of random eye motion.</summary>
        RandomEyesWeight = 13,

        /// <summary>The weight of random face motion.</summary>
        RandomFaceWeight = 14,

        /// <summary>The direct position of a servo.</summary>
        Servo = 15,

        /// <summary>The direct positions of all servos.</summary>
        AllServos = 16,

        /// <summary>The weight of direct positions.</summary>
        DirectWeight = 17,

        /// <summary>What to look at.</summary>
        Lookat = 18,

        /// <summary>The weight of looking at something.</summary>
        LookatWeight = 19,

        /// <summary>A text has been spoken.</summary>
        SpeakDone = 20,

        /// <summary>A gesture has ended.</summary>
        GestureDone = 21,

        /// <summary>A tag in a text has started a gesture.</summary>
        SpeakGesture = 22,

        /// <summary>Recognised speech.</summary>
        Utterance = 23,

        /// <summary>The faces in the image.</summary>
        Faces = 24,

        /// <summary>An image.</summary>
        VideoFrame = 25,
    }
}
