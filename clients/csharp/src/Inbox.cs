using System;
using System.Collections.Generic;
using System.Threading;

namespace Rossum.Oz
{
    /// <summary>
    /// Events on their way to the program. The queue is bounded: a program that is too slow loses the oldest events, and of images
    /// all but the newest few.
    /// </summary>
    internal sealed class Inbox
    {
        internal const int MaxEvents = 4096;
        internal const int MaxImages = 8;

        private readonly SynchronizationContext context;
        private readonly LinkedList<(Action Raise, bool IsImage)> events = new LinkedList<(Action, bool)>();
        private int images;
        private bool isDelivering;

        /// <summary>Events are raised in a context, or in threads of the pool, one after another.</summary>
        internal Inbox(SynchronizationContext context)
        {
            this.context = context ?? new SynchronizationContext();
        }

        internal void Put(Action raise) => Put(raise, false);

        internal void PutImage(Action raise) => Put(raise, true);

        private void Put(Action raise, bool isImage)
        {
            lock (events)
            {
                if (isImage)
                {
                    if (images == MaxImages)
                    {
                        DropOldestImage();
                    }
                    images++;
                }
                if (events.Count == MaxEvents)
                {
                    Take();
                }
                events.AddLast((raise, isImage));
                if (!isDelivering)
                {
                    isDelivering = true;
                    context.Post(Deliver, null);
                }
            }
        }

        private void DropOldestImage()
        {
            var oldest = events.First;
            while (!oldest.Value.IsImage)
            {
                oldest = oldest.Next;
            }
            events.Remove(oldest);
            images--;
        }

        private Action Take()
        {
            lock (events)
            {
                if (events.Count == 0)
                {
                    return null;
                }
                var (raise, isImage) = events.First.Value;
                events.RemoveFirst();
                images -= isImage ? 1 : 0;
                return raise;
            }
        }

        /// <summary>
        /// Raises one event. The context has its turn before the next one, and is told of mistakes of the program.
        /// </summary>
        private void Deliver(object state)
        {
            try
            {
                Take()?.Invoke();
            }
            finally
            {
                lock (events)
                {
                    isDelivering = events.Count > 0;
                    if (isDelivering)
                    {
                        context.Post(Deliver, null);
                    }
                }
            }
        }
    }
}
