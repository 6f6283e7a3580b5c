using System;
using System.Collections.Generic;
using System.Linq;

namespace Rossum.Oz
{
    /// <summary>
    /// What a client sets. A property sends a message when it is set, and has the value that this client has set last, or the
    /// default: the protocol has no queries, and what others have set is not known. Numbers that are merely out of range are sent,
    /// and the robot decides what they mean. An <see cref="OzException"/> tells that the client is not connected, or that a value means
    /// nothing.
    /// </summary>
    public abstract class Settings
    {
        private readonly Dictionary<Message, double> numbers = new Dictionary<Message, double>();
        private readonly double?[] positions = new double?[Protocol.MaxServos];
        private VoiceGenderLanguage voice;
        private Expression expression;
        private LookAt lookAt;

        internal Settings()
        {
            RestoreDefaults();
        }

        /// <summary>Guards the state of the client.</summary>
        internal object Gate { get; } = new object();

        /// <summary>The voice; one that the protocol does not have is left to the robot.</summary>
        public VoiceGenderLanguage VoiceGenderLanguage
        {
            get => Locked(() => voice);
            set => Request(Requests.Word(Message.VoiceGenderLanguage, (uint)value), () => voice = value);
        }

        /// <summary>The volume, 0 to 1. Default: 1.</summary>
        public double VoiceVolume
        {
            get => Get(Message.VoiceVolume);
            set => Set(Message.VoiceVolume, value);
        }

        /// <summary>The pitch, 0.5 to 2. Default: 1.</summary>
        public double VoicePitch
        {
            get => Get(Message.VoicePitch);
            set => Set(Message.VoicePitch, value);
        }

        /// <summary>The weight of gestures, 0 to 1. Default: 1.</summary>
        public double GestureWeight
        {
            get => Get(Message.GestureWeight);
            set => Set(Message.GestureWeight, value);
        }

        /// <summary>The facial expression.</summary>
        public Expression Expression
        {
            get => Locked(() => expression);
            set => Request(Requests.Choice(Message.Expression, value), () => expression = value);
        }

        /// <summary>The weight of the facial expression, 0 to 1. Default: 1.</summary>
        public double ExpressionWeight
        {
            get => Get(Message.ExpressionWeight);
            set => Set(Message.ExpressionWeight, value);
        }

        /// <summary>The blinks per second, 0 to 10. Default: 2.</summary>
        public double AutoBlinkSpeed
        {
            get => Get(Message.AutoBlinkSpeed);
            set => Set(Message.AutoBlinkSpeed, value);
        }

        /// <summary>The weight of random head motion, 0 to 1. Default: 0.</summary>
        public double RandomHeadWeight
        {
            get => Get(Message.RandomHeadWeight);
            set => Set(Message.RandomHeadWeight, value);
        }

        /// <summary>The weight of random eye motion, 0 to 1. Default: 0.</summary>
        public double RandomEyesWeight
        {
            get => Get(Message.RandomEyesWeight);
            set => Set(Message.RandomEyesWeight, value);
        }

        /// <summary>The weight of random face motion, 0 to 1. Default: 0.</summary>
        public double RandomFaceWeight
        {
            get => Get(Message.RandomFaceWeight);
            set => Set(Message.RandomFaceWeight, value);
        }

        /// <summary>The weight of direct servo positions, 0 to 1. Default: 0.</summary>
        public double DirectWeight
        {
            get => Get(Message.DirectWeight);
            set => Set(Message.DirectWeight, value);
        }

        /// <summary>What the robot looks at.</summary>
        public LookAt LookAt
        {
            get => Locked(() => lookAt);
            set => Request(Requests.Choice(Message.Lookat, value), () => lookAt = value);
        }

        /// <summary>The weight of looking at something, 0 to 1. Default: 1.</summary>
        public double LookAtWeight
        {
            get => Get(Message.LookatWeight);
            set => Set(Message.LookatWeight, value);
        }

        /// <summary>Restores all defaults of the robot. Speech and gestures stop, and are reported as done.</summary>
        public void Reset() => Request(Requests.Empty(Message.Reset), RestoreDefaults);

        /// <summary>Sets the direct position of a servo. It has no effect unless there is a <see cref="DirectWeight"/>.</summary>
        /// <param name="servo">The servo.</param>
        /// <param name="position">0 to 1 over its travel.</param>
        public void SetServo(Servo servo, double position)
        {
            Request(Requests.Servo(servo, position), () => positions[(int)servo] = position);
        }

        /// <summary>The direct position of a servo.</summary>
        /// <param name="servo">The servo.</param>
        /// <returns>What was set; <c>null</c> if nothing was.</returns>
        public double? GetServo(Servo servo)
        {
            Requests.Check(servo);
            return Locked(() => positions[(int)servo]);
        }

        /// <summary>Sets the direct positions of all servos.</summary>
        /// <param name="all">36 positions, in the order of <see cref="Servo"/>.</param>
        public void SetAllServos(IReadOnlyList<double> all)
        {
            var sent = all.ToArray();
            Request(Requests.Servos(sent), () => sent.Select(position => (double?)position).ToArray().CopyTo(positions, 0));
        }

        /// <summary>The direct positions of all servos.</summary>
        /// <returns>36 positions, in the order of <see cref="Servo"/>; <c>null</c> for those that were never set.</returns>
        public double?[] GetAllServos() => Locked(() => (double?[])positions.Clone());

        /// <summary>Sends a request, and then notes with the gate held what it changes.</summary>
        internal abstract void Request(byte[] request, Action then);

        internal T Locked<T>(Func<T> get)
        {
            lock (Gate)
            {
                return get();
            }
        }

        private void RestoreDefaults()
        {
            voice = VoiceGenderLanguage.Default;
            expression = Expression.Neutral;
            lookAt = LookAt.Forward;
            Array.Clear(positions, 0, positions.Length);
            numbers[Message.VoiceVolume] = 1;
            numbers[Message.VoicePitch] = 1;
            numbers[Message.GestureWeight] = 1;
            numbers[Message.ExpressionWeight] = 1;
            numbers[Message.AutoBlinkSpeed] = 2;
            numbers[Message.RandomHeadWeight] = 0;
            numbers[Message.RandomEyesWeight] = 0;
            numbers[Message.RandomFaceWeight] = 0;
            numbers[Message.DirectWeight] = 0;
            numbers[Message.LookatWeight] = 1;
        }

        private void Set(Message message, double value)
        {
            Request(Requests.Number(message, value), () => numbers[message] = value);
        }

        private double Get(Message message) => Locked(() => numbers[message]);
    }
}
