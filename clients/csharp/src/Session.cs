using System;
using System.Threading;
using System.Threading.Tasks;

namespace Rossum.Oz
{
    /// <summary>Connects to a robot, stays connected, and makes a lost connection again if that is wanted.</summary>
    internal sealed class Session
    {
        /// <summary>Is told how the session goes, in its thread.</summary>
        internal interface IOwner
        {
            /// <summary>A connection has been made. Returns what takes its messages.</summary>
            Action<Message, EventArgs> Opened(Connection connection, Welcome welcome);

            /// <summary>A connection that had been made has ended for this reason.</summary>
            void Lost(OzException reason);

            /// <summary>An attempt to make it again has failed.</summary>
            void Failed(OzException error);

            /// <summary>The session is over; finished, if it has ended a connection or the attempts to make it again.</summary>
            void Over(bool isFinished);
        }

        private readonly IOwner owner;
        private readonly string host;
        private readonly int port;
        private readonly TimeSpan timeout;
        private readonly TimeSpan? reconnect;
        private readonly TaskCompletionSource<bool> begin = Completion();
        private readonly TaskCompletionSource<bool> end = Completion();
        private readonly ManualResetEventSlim finishing = new ManualResetEventSlim();
        private readonly object gate = new object();
        private Connection current;

        /// <summary>Whether the last connection has ended by itself.</summary>
        private bool isLost;

        /// <summary>With a time to reconnect, a lost connection is made again, with that time before each attempt.</summary>
        internal Session(IOwner owner, string host, int port, TimeSpan timeout, TimeSpan? reconnect)
        {
            this.owner = owner;
            this.host = host;
            this.port = port;
            this.timeout = timeout;
            this.reconnect = reconnect;
        }

        /// <summary>Done when the robot has answered; fails if it does not.</summary>
        internal Task Begin => begin.Task;

        /// <summary>Done when the session is over.</summary>
        internal Task End => end.Task;

        /// <summary>The source of a task whose continuations may block.</summary>
        internal static TaskCompletionSource<bool> Completion()
        {
            return new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        }

        /// <summary>Starts it in a thread of its own.</summary>
        internal void Start() => new Thread(Run) { IsBackground = true, Name = "oz" }.Start();

        /// <summary>Ends the session; the last request still arrives.</summary>
        internal void Finish()
        {
            lock (gate)
            {
                finishing.Set();
                current?.Finish();
            }
        }

        private void Run()
        {
            var failure = Connect();
            var isFinished = false;
            if (failure == null)
            {
                while (isLost && reconnect is TimeSpan delay && !finishing.Wait(delay))
                {
                    var error = Connect();
                    if (error != null && !finishing.IsSet)
                    {
                        owner.Failed(error);
                    }
                }
                isFinished = !isLost || reconnect != null;
            }
            owner.Over(isFinished);
            end.SetResult(true);
            if (failure != null)
            {
                begin.SetException(failure);
            }
        }

        /// <summary>Makes a connection and receives until it ends. Returns why none could be made.</summary>
        private OzException Connect()
        {
            using (var connection = new Connection(timeout))
            {
                Use(connection);
                try
                {
                    var welcome = connection.Open(host, port);
                    isLost = false;
                    var received = owner.Opened(connection, welcome);
                    begin.TrySetResult(true);
                    var reason = connection.Receive(received);
                    if (!finishing.IsSet)
                    {
                        isLost = true;
                        owner.Lost(reason);
                    }
                    return null;
                }
                catch (OzException error)
                {
                    return error;
                }
                finally
                {
                    Use(null);
                }
            }
        }

        private void Use(Connection connection)
        {
            lock (gate)
            {
                current = connection;
                if (finishing.IsSet)
                {
                    connection?.Finish();
                }
            }
        }
    }
}
