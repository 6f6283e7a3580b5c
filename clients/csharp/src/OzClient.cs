using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Rossum.Oz
{
    /// <summary>
    /// A client that controls a robot.
    /// <code>
    /// using (var robot = new OzClient("127.0.0.1"))
    /// {
    ///     robot.Utterance += async (sender, e) => await robot.SpeakAsync("You said: " + e.Text);
    ///     await robot.ConnectAsync();
    ///     robot.Expression = Expression.Happy;
    ///     await robot.SpeakAsync("[braisel]Hello, who are you?");
    /// }
    /// </code>
    /// Requests are sent at once, and no method that sends one waits. The client receives in the background, and raises events one
    /// after another in the synchronization context in which it was made: in the user interface's thread, if it was made there, and
    /// otherwise in threads of the pool. All members may be used in any thread.
    /// </summary>
    public sealed class OzClient : Settings, IDisposable
    {
        private readonly string host;
        private readonly int port;
        private readonly Inbox inbox;

        // guarded by the gate
        private Session session;
        private Connection connection;
        private Welcome welcome = new Welcome(0, "", "");
        private readonly Queue<TaskCompletionSource<bool>> texts = new Queue<TaskCompletionSource<bool>>();
        private readonly List<TaskCompletionSource<bool>> gestures = new List<TaskCompletionSource<bool>>();
        private int playing;
        private bool skipsVideo;

        /// <summary>Completed and replaced whenever something changes that a method may wait for.</summary>
        private TaskCompletionSource<bool> change = Session.Completion();

        /// <summary>Prepares a client.</summary>
        /// <param name="host">The name or address of the robot's computer.</param>
        /// <param name="port">The port.</param>
        public OzClient(string host, int port = Protocol.Port)
        {
            if (port < 0 || port > ushort.MaxValue)
            {
                throw new ArgumentOutOfRangeException(nameof(port), port, "no port");
            }
            this.host = host ?? throw new ArgumentNullException(nameof(host));
            this.port = port;
            inbox = new Inbox(SynchronizationContext.Current);
        }

        /// <summary>The robot has answered the version request; also when a lost connection has been made again.</summary>
        public event EventHandler<ConnectedEventArgs> Connected;

        /// <summary>The connection has ended.</summary>
        public event EventHandler<DisconnectedEventArgs> Disconnected;

        /// <summary>An attempt to make a lost connection again has failed; another one follows.</summary>
        public event EventHandler<OzErrorEventArgs> ConnectFailed;

        /// <summary>This client has sent a text, which the robot starts speaking.</summary>
        public event EventHandler<SpeakStartEventArgs> SpeakStart;

        /// <summary>A text of this client has been spoken.</summary>
        public event EventHandler SpeakDone;

        /// <summary>This client has started a gesture.</summary>
        public event EventHandler<GestureEventArgs> GestureStart;

        /// <summary>A gesture of this client has ended; the protocol does not say which.</summary>
        public event EventHandler GestureDone;

        /// <summary>A tag in a text of this client has started a gesture.</summary>
        public event EventHandler<GestureEventArgs> SpeakGesture;

        /// <summary>The robot has recognised speech.</summary>
        public event EventHandler<UtteranceEventArgs> Utterance;

        /// <summary>The robot has looked for faces.</summary>
        public event EventHandler<FacesEventArgs> Faces;

        /// <summary>An image of the robot's camera.</summary>
        public event EventHandler<VideoFrameEventArgs> VideoFrame;

        /// <summary>A message had a text that is not UTF-8. It is lost; the connection goes on.</summary>
        public event EventHandler<OzErrorEventArgs> InvalidMessage;

        /// <summary>
        /// Limits how long connecting takes, except for the resolution of names, and how long the robot may leave requests unread.
        /// It counts from the next <see cref="ConnectAsync"/> on. Default: 10 s.
        /// </summary>
        public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(10);

        /// <summary>
        /// Has a lost connection made again, with this time before each attempt. It counts from the next
        /// <see cref="ConnectAsync"/> on. Default: <c>null</c>, which is never.
        /// </summary>
        public TimeSpan? ReconnectDelay { get; set; }

        /// <summary>Whether images are dropped.</summary>
        public bool SkipVideo
        {
            get => Locked(() => skipsVideo);
            set => Locked(() => skipsVideo = value);
        }

        /// <summary>Whether the client is connected.</summary>
        public bool IsConnected => Locked(() => connection != null);

        /// <summary>The robot's short name; empty before the first connection.</summary>
        public string Name => Locked(() => welcome.Name);

        /// <summary>The robot's long name; empty before the first connection.</summary>
        public string LongName => Locked(() => welcome.LongName);

        /// <summary>The robot's version of the protocol: <see cref="Protocol.Version"/>, or 0 before the first connection.</summary>
        public uint Version => Locked(() => welcome.Version);

        /// <summary>Whether texts of this client have not been spoken yet.</summary>
        public bool IsSpeaking => Locked(() => texts.Count > 0);

        /// <summary>Whether gestures of this client are playing, including those in its texts.</summary>
        public bool IsGesturing => Locked(() => playing > 0);

        /// <summary>Connects, and waits for the robot's answer.</summary>
        /// <param name="cancellation">Gives the attempt up.</param>
        /// <returns>Done when the robot has answered.</returns>
        /// <exception cref="OzException">There is no valid answer.</exception>
        /// <exception cref="InvalidOperationException">The client is connected already.</exception>
        public async Task ConnectAsync(CancellationToken cancellation = default(CancellationToken))
        {
            cancellation.ThrowIfCancellationRequested();
            Session starting;
            lock (Gate)
            {
                if (session != null)
                {
                    throw new InvalidOperationException("the client is connected, or has not finished disconnecting");
                }
                session = starting = new Session(new Owner(this), host, port, Timeout, ReconnectDelay);
            }
            starting.Start();
            using (cancellation.Register(starting.Finish))
            {
                try
                {
                    await starting.Begin.ConfigureAwait(false);
                }
                catch (OzException)
                {
                    cancellation.ThrowIfCancellationRequested();
                    throw;
                }
            }
        }

        /// <summary>
        /// Closes the connection. Settings of the robot stay in effect. Does nothing if the client is not connected.
        /// </summary>
        /// <returns>Done when the connection is closed, within half a second.</returns>
        public Task DisconnectAsync()
        {
            Session ending;
            lock (Gate)
            {
                connection = null;
                Change();
                ending = session;
            }
            ending?.Finish();
            return ending?.End ?? Task.CompletedTask;
        }

        /// <summary>Disconnects, and waits until that is done.</summary>
        public void Dispose() => DisconnectAsync().GetAwaiter().GetResult();

        /// <summary>
        /// Sends a text, which may have gesture tags (<c>"[nos]Nope."</c>). Texts are spoken one after another.
        /// </summary>
        /// <param name="text">The text.</param>
        /// <returns>Done when it has been spoken; fails if the connection ends first. It may be ignored.</returns>
        /// <exception cref="OzException">Nothing was sent; thrown at once.</exception>
        public Task SpeakAsync(string text)
        {
            var end = Session.Completion();
            Request(Requests.Text(Message.Speak, text), () =>
            {
                texts.Enqueue(end);
                var arguments = new SpeakStartEventArgs(text);
                inbox.Put(() => SpeakStart?.Invoke(this, arguments));
            });
            return end.Task;
        }

        /// <summary>Waits until all texts of this client have been spoken.</summary>
        /// <param name="timeout">How long; <c>null</c> is for ever.</param>
        /// <param name="cancellation">Gives it up.</param>
        /// <returns><c>false</c> if it takes longer.</returns>
        /// <exception cref="OzException">The connection has ended.</exception>
        public Task<bool> WaitForSpeakAsync(TimeSpan? timeout = null, CancellationToken cancellation = default(CancellationToken))
        {
            return WaitAsync(() => texts.Count == 0, timeout, cancellation);
        }

        /// <summary>
        /// Starts a gesture, perhaps one that not every robot has. Several gestures can play at once, and the robot does not tell
        /// which one has ended. So all are taken to have ended when none of this client is playing any more.
        /// </summary>
        /// <param name="gesture">The gesture.</param>
        /// <returns>Done when it has ended; fails if the connection ends first. It may be ignored.</returns>
        /// <exception cref="OzException">Nothing was sent; thrown at once.</exception>
        public Task GestureAsync(Gesture gesture)
        {
            var end = Session.Completion();
            Request(Requests.Word(Message.Gesture, (uint)gesture), () =>
            {
                gestures.Add(end);
                playing++;
                inbox.Put(() => GestureStart?.Invoke(this, new GestureEventArgs(gesture)));
            });
            return end.Task;
        }

        /// <summary>Waits until no gesture of this client is playing, including those in its texts.</summary>
        /// <param name="timeout">How long; <c>null</c> is for ever.</param>
        /// <param name="cancellation">Gives it up.</param>
        /// <returns><c>false</c> if it takes longer.</returns>
        /// <exception cref="OzException">The connection has ended.</exception>
        public Task<bool> WaitForGestureAsync(TimeSpan? timeout = null, CancellationToken cancellation = default(CancellationToken))
        {
            return WaitAsync(() => playing == 0, timeout, cancellation);
        }

        internal override void Request(byte[] request, Action then)
        {
            lock (Gate)
            {
                if (connection == null)
                {
                    throw Connection.NotConnected;
                }
                connection.Send(request);
                then();
            }
        }

        private async Task<bool> WaitAsync(Func<bool> isDone, TimeSpan? timeout, CancellationToken cancellation)
        {
            var deadline = timeout is TimeSpan time ? Deadline.After(time) : Deadline.Never;
            var waitingFor = Locked(() => connection) ?? throw Connection.NotConnected;
            while (true)
            {
                Task next;
                lock (Gate)
                {
                    if (connection != waitingFor)
                    {
                        throw new OzException(OzError.Closed, "the connection has ended");
                    }
                    if (isDone())
                    {
                        return true;
                    }
                    next = change.Task;
                }
                if (deadline.IsPast)
                {
                    return false;
                }
                using (var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation))
                {
                    await Task.WhenAny(next, Task.Delay(deadline.ToMilliseconds(), stop.Token)).ConfigureAwait(false);
                    stop.Cancel();
                }
                cancellation.ThrowIfCancellationRequested();
            }
        }

        /// <summary>Wakes the methods that wait.</summary>
        private void Change()
        {
            change.SetResult(true);
            change = Session.Completion();
        }

        /// <summary>Ends all texts and gestures, and tells the reason; <c>null</c> if this program has disconnected.</summary>
        private void End(OzException reason)
        {
            lock (Gate)
            {
                connection = null;
                var arguments = new DisconnectedEventArgs(reason);
                inbox.Put(() => Disconnected?.Invoke(this, arguments));
                var error = reason ?? new OzException(OzError.Closed, "this client has disconnected");
                foreach (var end in texts)
                {
                    Fail(end, error);
                }
                foreach (var end in gestures)
                {
                    Fail(end, error);
                }
                texts.Clear();
                gestures.Clear();
                playing = 0;
                Change();
            }
        }

        private static void Fail(TaskCompletionSource<bool> end, OzException error)
        {
            end.SetException(error);
            // nobody has to await it
            _ = end.Task.Exception;
        }

        /// <summary>Notes and passes on what the robot has sent, as long as that connection is the client's.</summary>
        private void Receive(Connection from, Message message, EventArgs arguments)
        {
            lock (Gate)
            {
                if (connection != from)
                {
                    return;
                }
                if (message == Message.VideoFrame)
                {
                    if (!skipsVideo)
                    {
                        inbox.PutImage(() => VideoFrame?.Invoke(this, (VideoFrameEventArgs)arguments));
                    }
                    return;
                }
                inbox.Put(() => Raise(message, arguments));
                Note(message);
            }
        }

        private void Note(Message message)
        {
            if (message == Message.SpeakDone && texts.Count > 0)
            {
                texts.Dequeue().SetResult(true);
                Change();
            }
            else if (message == Message.SpeakGesture)
            {
                playing++;
            }
            else if (message == Message.GestureDone && playing > 0)
            {
                playing--;
                if (playing == 0)
                {
                    gestures.ForEach(end => end.SetResult(true));
                    gestures.Clear();
                    Change();
                }
            }
        }

        private void Raise(Message message, EventArgs arguments)
        {
            if (arguments is OzErrorEventArgs error)
            {
                InvalidMessage?.Invoke(this, error);
                return;
            }
            switch (message)
            {
                case Message.SpeakDone:
                    SpeakDone?.Invoke(this, arguments);
                    break;
                case Message.GestureDone:
                    GestureDone?.Invoke(this, arguments);
                    break;
                case Message.SpeakGesture:
                    SpeakGesture?.Invoke(this, (GestureEventArgs)arguments);
                    break;
                case Message.Utterance:
                    Utterance?.Invoke(this, (UtteranceEventArgs)arguments);
                    break;
                case Message.Faces:
                    Faces?.Invoke(this, (FacesEventArgs)arguments);
                    break;
            }
        }

        /// <summary>Notes what the session tells.</summary>
        private sealed class Owner : Session.IOwner
        {
            private readonly OzClient client;

            internal Owner(OzClient client)
            {
                this.client = client;
            }

            public Action<Message, EventArgs> Opened(Connection opened, Welcome answer)
            {
                lock (client.Gate)
                {
                    client.connection = opened;
                    client.welcome = answer;
                    var arguments = new ConnectedEventArgs(answer);
                    client.inbox.Put(() => client.Connected?.Invoke(client, arguments));
                }
                return (message, arguments) => client.Receive(opened, message, arguments);
            }

            public void Lost(OzException reason) => client.End(reason);

            public void Failed(OzException error)
            {
                var arguments = new OzErrorEventArgs(error);
                client.inbox.Put(() => client.ConnectFailed?.Invoke(client, arguments));
            }

            public void Over(bool isFinished)
            {
                lock (client.Gate)
                {
                    if (isFinished)
                    {
                        client.End(null);
                    }
                    client.session = null;
                }
            }
        }
    }
}
