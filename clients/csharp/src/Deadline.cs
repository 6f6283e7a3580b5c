using System;
using System.Diagnostics;

namespace Rossum.Oz
{
    /// <summary>A point in time, which may never come.</summary>
    internal sealed class Deadline
    {
        internal static readonly Deadline Never = new Deadline(TimeSpan.MaxValue);

        private static readonly Stopwatch Clock = Stopwatch.StartNew();

        private readonly TimeSpan time;

        private Deadline(TimeSpan time)
        {
            this.time = time;
        }

        internal bool IsPast => time <= Clock.Elapsed;

        internal static Deadline After(TimeSpan delay)
        {
            var now = Clock.Elapsed;
            return delay < TimeSpan.MaxValue - now ? new Deadline(now + delay) : Never;
        }

        /// <summary>What is left, rounded up, and at least one.</summary>
        internal int ToMilliseconds()
        {
            return (int)Math.Min(Math.Max(Math.Ceiling((time - Clock.Elapsed).TotalMilliseconds), 1), int.MaxValue);
        }
    }
}
